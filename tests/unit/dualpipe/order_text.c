/* SPDX-License-Identifier: Apache-2.0 */
/* Writes orders as text. */
#include "order_text.h"

#include <glib.h>

char *order_text(mill_run *run, const pp_plan *plan, uint32_t rank) {
    static const char *const kinds[] = {"?", "F", "B", "Bi", "W", "FB"};
    GString *text = g_string_new(NULL);
    pp_cursor *c = pp_cursor_at(run, plan, rank);
    for (pp_item item; pp_next(c, &item);) {
        g_string_append_printf(text, "%s%s%u.%u", text->len ? " " : "", kinds[item.op.kind],
                               item.op.chunk, item.mb);
        if (item.op.kind == MILL_OP_PAIR)
            g_string_append_printf(text, "/%u.%u", item.op.chunk2, item.mb2);
    }
    return g_string_free(text, FALSE);
}

void order_check(mill_run *run, const pp_plan *plan, uint32_t rank, const char *right) {
    g_autofree char *text = order_text(run, plan, rank);
    g_assert_cmpstr(text, ==, right);
}
