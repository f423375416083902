/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of bodies that both ends of the wire write and read. */
#include "isolate/parts.h"

void parts_put_causes(GByteArray *to, const causes *why) {
    wire_put_u32(to, why->list->len);
    for (guint i = 0; i < why->list->len; i++) {
        const cause *one = g_ptr_array_index(why->list, i);
        wire_put_u32(to, (uint32_t)one->status);
        wire_put_text(to, one->file);
        wire_put_u32(to, one->line);
        wire_put_text(to, one->text);
    }
}

void parts_get_causes(wire_reader *from, causes *why) {
    for (uint32_t n = wire_get_u32(from); n > 0 && !from->bad; n--) {
        mill_status status = (mill_status)(int32_t)wire_get_u32(from);
        const char *file = wire_get_text(from);
        uint32_t line = wire_get_u32(from);
        const char *text = wire_get_text(from);
        if (text == NULL)
            from->bad = true;
        else if (!from->bad)
            causes_add(why, status, file, line, text);
    }
}
