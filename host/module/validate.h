/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that a module's declarations must keep (sdk/include/tracemill/tracemill.h). */
#ifndef HOST_MODULE_VALIDATE_H
#define HOST_MODULE_VALIDATE_H

#include "module/module.h"

/* [a-z][a-z0-9-]* parts joined by dots, within VALIDATE_MAX_NAME bytes. NULL is none. */
#define VALIDATE_MAX_NAME 100
bool validate_name(const char *name);
/* NAME/REVISION, the name as above, the revision a number of at most nine digits. NULL is none. */
bool validate_type_id(const char *id);

/* A class whose name is valid. False: `m` is refused with a sentence that names class and field. */
bool validate_class(module *m, const stage_class *c);
bool validate_type(module *m, const mill_type *t);

#endif
