/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a loaded file declares, whatever minor ABI version it was built for. */
#ifndef HOST_MODULE_DECLARE_H
#define HOST_MODULE_DECLARE_H

#include "module/module.h"

/* Checks versions and sizes, copies the declarations into `m` in structs of this host's size, and
 * checks them by the rules of validate.h. False: `m` is refused. */
bool declare_module(module *m, const mill_module *exports);

/* Copies an array of structs that ends where an element's first field, a pointer, is NULL. Elements
 * lie `stride` bytes apart in `from` (NULL: no elements) and `size` bytes apart in the copy: the
 * part that the older side does not know is zero, or cut. The copy has one more, zeroed element.
 * NULL if there is no end within DECLARE_MAX_ELEMENTS. */
#define DECLARE_MAX_ELEMENTS 1000
void *declare_copy_array(const void *from, size_t stride, size_t size, size_t *ret_n);

#endif
