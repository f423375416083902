/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the loading of saves of the mill.* types; the head of a save says of which. What is loaded
 * can be saved, loaded again, and is then the same. */
#include "crossing.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "types/types.h"
#include "types/writing.h"

/* NULL: no such type, which would be refused at once. */
static const mill_type *type_of(const uint8_t *data, size_t size) {
    save_head head;
    if (size < sizeof head)
        return NULL;
    memcpy(&head, data, sizeof head);
    head.type[sizeof head.type - 1] = '\0';
    return types_find(head.type);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const mill_type *type = type_of(data, size);
    if (!type)
        return 0;
    g_autoptr(crossing) c = crossing_load(type, data, size, size % 3 * 4);
    if (!c->data)
        return 0;
    g_autoptr(GByteArray) bytes = crossing_save(type, c->data);
    g_autoptr(crossing) again = crossing_load(type, bytes->data, bytes->len, 0);
    g_assert_cmpstr(again->cause, ==, NULL);
    g_autoptr(GByteArray) twice = crossing_save(type, again->data);
    g_assert_cmpmem(bytes->data, bytes->len, twice->data, twice->len);
    return 0;
}
