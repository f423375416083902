/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the values of options of every type: the first byte chooses the option, the rest is its
 * text. What is taken must come back the same from what values_format writes. */
#include <string.h>

#include "config/values.h"
#include "fuzz.h"

typedef union field {
    bool flag;
    int64_t number;
    double ratio;
    const char *text;
    int choice;
    mill_list list;
} field;

static const char *const choices[] = {"mean", "max", "a,b", NULL};

/* One option of type `t`, or a list of such, at the start of a field. */
static mill_option option_of(uint8_t choice) {
    mill_opt_type type = MILL_OPT_BOOL + choice % (MILL_OPT_BYTES - MILL_OPT_BOOL + 1);
    mill_option o = {.name = "k", .type = type, .choices = choices};
    choice /= 9;
    if (choice % 2) {
        o.type = MILL_OPT_LIST;
        o.elem = type;
    }
    if (choice / 2 % 2) {
        o.min = -5;
        o.max = 5e9;
    }
    if (choice / 4 % 2)
        o.flags = MILL_OPT_ITEM;
    return o;
}

/* True if the option takes the text. If not, there must be a message. */
static bool take(const mill_option *o, const char *text, GPtrArray *memory, field *ret) {
    static const char *const args[] = {"f, 1", NULL};
    g_autoptr(problems) p = problems_create();
    g_autoptr(vars) v = vars_create(NULL, "/data", args);
    setting s = {.section = "s", .key = o->name, .value = text, .at = {.file = "f", .line = 1}};
    bool good = values_set(o, &s, v, memory, ret, p);
    g_assert_true(good == (problems_errors(p) == 0));
    g_autofree char *told = problems_format(p, false);
    g_assert_true(g_utf8_validate(told, -1, NULL));
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    const mill_option o = option_of(data[0]);
    g_autofree char *text = g_strndup((const char *)data + 1, size - 1);
    if (!g_utf8_validate(text, -1, NULL)) /* refused before, as a line */
        return 0;
    g_autoptr(GPtrArray) memory = values_memory();
    field first = {0}, second = {0};
    if (!take(&o, text, memory, &first))
        return 0;
    g_autofree char *written = values_format(&o, &first);
    if (!take(&o, written, memory, &second))
        g_error("'%s' was taken, but not '%s'", text, written);
    g_autofree char *again = values_format(&o, &second);
    g_assert_cmpstr(written, ==, again);
    return 0;
}
