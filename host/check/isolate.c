/* SPDX-License-Identifier: Apache-2.0 */
/* Stages in processes of their own: whether the values between them can cross. */
#include "check/build.h"
#include "types/types.h"

static bool can_cross(const build *b, const plan_source *from) {
    const char *id = from->stage->cls->outputs[from->output].type;
    const mill_type *type = types_find(id);
    if (type == NULL)
        type = modules_type(b->plan->modules, from->stage->cls->module, id);
    return type != NULL && type->save != NULL && type->load != NULL;
}

static void check_source(build *b, const plan_stage *to, size_t port, const plan_source *from) {
    if ((!to->isolate && !from->stage->isolate) || can_cross(b, from))
        return;
    build_error(b, to->at,
                g_strdup_printf("run.isolate = no in [%s] and [%s] keeps them in one process; a "
                                "type crosses if its module gives it `save` and `load`",
                                from->stage->name, to->name),
                "[%s] input \"%s\" takes %s from [%s], which cannot cross between processes",
                to->name, to->cls->inputs[port].name, from->stage->cls->outputs[from->output].type,
                from->stage->name);
}

void build_isolation(build *b) {
    for (guint i = 0; i < b->plan->stages->len; i++) {
        const plan_stage *to = g_ptr_array_index(b->plan->stages, i);
        for (size_t p = 0; p < to->cls->n_inputs; p++)
            for (guint k = 0; k < to->inputs[p].sources->len; k++)
                check_source(b, to, p, &g_array_index(to->inputs[p].sources, plan_source, k));
    }
}
