/* SPDX-License-Identifier: Apache-2.0 */
/* A stage class in words, as `inspect`, the manual and the schema have them in common. */
#ifndef HOST_CLI_CLASS_H
#define HOST_CLI_CLASS_H

#include "module/modules.h"

/* "whole number in rows, 1 to 1000, default 10"; the caller frees it. */
char *class_option_words(const mill_option *o);
/* "mill.trace/1, optional"; the caller frees it. */
char *class_port_words(const mill_port *p);

/* What an option's type is called in JSON: "int". */
const char *class_type_id(mill_opt_type type);

/* A section to paste into a pipeline: what must be given with a value to change, what has a default
 * as a comment. The caller frees it. */
char *class_stanza(const stage_class *c);

/* The class as a JSON Schema of its options (draft 2020-12), with all else that there is to say of
 * it under keys that such a schema does not know. */
cJSON *class_schema(const stage_class *c);

#endif
