/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels' names as C++ wrote them, undone. */
#ifndef KINETO_DEMANGLE_H
#define KINETO_DEMANGLE_H

/* To be freed. NULL: not mangled, or what it stands for is too long to be read. */
char *demangle(const char *mangled);

#endif
