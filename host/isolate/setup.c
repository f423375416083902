/* SPDX-License-Identifier: Apache-2.0 */
/* Sets up the process of a stage: its memory limit, its module, its options. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/crash.h"
#include "isolate/page.h"
#include "isolate/served.h"
#include "module/load.h"
#include "types/types.h"

#define BROKEN "the host's first frame makes no sense: it is another build of the program"

/* ---------------------------------------------------------------- memory */

/* Bytes of this process that count towards RLIMIT_DATA. */
static uint64_t data_bytes(void) {
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f == NULL)
        return 0;
    if (fscanf(f, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
        pages = 0;
    fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What the stage allocates counts, not what is there before it, nor inputs, which are shared. Of
 * the limits of Linux RLIMIT_DATA does that; RLIMIT_AS counts what is mapped too, and what threads
 * only reserve. */
static char *limit_memory(uint64_t bytes) {
    if (bytes == 0)
        return NULL;
    rlim_t most = data_bytes() + bytes;
    struct rlimit limit = {most, most};
    if (setrlimit(RLIMIT_DATA, &limit) != 0)
        return g_strdup_printf("run.memory can't be set: %s", g_strerror(errno));
    return NULL;
}

/* ---------------------------------------------------------------- modules */

/* NULL: *ret_why is set. */
static module *load(served *s, const char *file, char **ret_why) {
    for (guint i = 0; i < s->modules->len; i++)
        if (strcmp(((module *)g_ptr_array_index(s->modules, i))->path, file) == 0)
            return g_ptr_array_index(s->modules, i);
    module *m = module_create(file);
    g_ptr_array_add(s->modules, m);
    g_autofree char *note = g_strdup_printf("module %s", file);
    const char *before = crash_note(note);
    bool ok = load_module(m) && load_init(m, &engine_host);
    crash_note(before);
    if (ok)
        return m;
    *ret_why = g_strdup(m->why);
    return NULL;
}

const mill_type *served_type(served *s, const char *id, const char *file) {
    g_autofree char *why = NULL;
    if (file == NULL)
        return types_find(id);
    const module *m = load(s, file, &why);
    for (guint i = 0; m != NULL && i < m->types->len; i++) {
        const mill_type *type = g_ptr_array_index(m->types, i);
        if (strcmp(type->id, id) == 0)
            return type;
    }
    return NULL;
}

static const stage_class *find_class(const module *m, const char *name) {
    for (guint i = 0; i < m->classes->len; i++) {
        const stage_class *c = g_ptr_array_index(m->classes, i);
        if (strcmp(c->stage.name, name) == 0)
            return c;
    }
    return NULL;
}

/* ---------------------------------------------------------------- the stage */

/* The texts are what values_format made of the host's own values. */
static char *set_options(served *s, wire_reader *body) {
    plan_stage *p = &s->stage;
    g_autoptr(problems) wrong = problems_create();
    g_autoptr(vars) none = vars_create(NULL, NULL, NULL);
    for (size_t i = 0; i < p->cls->n_options; i++) {
        const mill_option *o = &p->cls->options[i];
        p->given[i] = wire_get_u32(body) != 0;
        const char *text = wire_get_text(body);
        setting set = {.section = p->name, .key = o->name, .value = text};
        if (body->bad)
            return g_strdup(BROKEN);
        if (text != NULL && !values_set(o, &set, none, p->memory, p->opts, wrong))
            return problems_format(wrong, false);
        if (o->flags & MILL_OPT_GLOB && text != NULL)
            p->glob = (int)i;
    }
    return NULL;
}

static void make_stage(served *s, const stage_class *cls, const char *name) {
    plan_stage *p = &s->stage;
    p->name = g_strdup(name);
    p->cls = cls;
    p->memory = values_memory();
    p->opts = g_malloc0(cls->stage.options_size + 1);
    p->given = g_new0(bool, cls->n_options + 1);
    p->glob = -1;
    p->files = g_ptr_array_new();
    g_ptr_array_add(p->files, &s->file);
    for (size_t i = 0; i < cls->n_inputs; i++)
        p->stream |= (cls->inputs[i].flags & MILL_PORT_STREAM) != 0;
    s->wanted = g_new0(bool, cls->n_outputs + 1);
    s->sent = g_new0(guint, cls->n_outputs + 1);
    s->plan.name = (char *)"";
    s->plan.path = (char *)"";
    s->plan.stages = g_ptr_array_new();
    g_ptr_array_add(s->plan.stages, p);
}

static void make_engine(served *s, const engine_options *options) {
    const stage_class *cls = s->stage.cls;
    engine_init(&s->engine, &s->plan, options);
    s->engine.served = s;
    s->estage.engine = &s->engine;
    s->estage.plan = &s->stage;
    s->estage.cls = &cls->stage;
    s->estage.output_types = g_new0(const mill_type *, cls->n_outputs + 1);
    s->estage.gone = g_new0(GArray *, cls->n_inputs + 1);
    s->estage.outcome = &s->engine.outcome->stages[0];
    s->instance.stage = &s->estage;
    s->cell.stage = &s->estage;
}

static void get_outputs(served *s, wire_reader *body) {
    const stage_class *cls = s->stage.cls;
    for (size_t i = 0; i < cls->n_outputs; i++) {
        s->wanted[i] = wire_get_u32(body) != 0;
        s->estage.output_types[i] = served_type(s, cls->outputs[i].type, wire_get_text(body));
    }
}

char *served_setup(served *s, wire_frame *hello) {
    void *memory = mmap(NULL, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED, hello->fd, 0);
    if (hello->kind != WIRE_HELLO || memory == MAP_FAILED)
        return g_strdup(BROKEN);
    s->page = memory;
    crash_mirror(s->page->doing, PAGE_DOING);
    wire_reader body = wire_read(hello->body);
    const char *file = wire_get_text(&body), *class_name = wire_get_text(&body);
    const char *name = wire_get_text(&body);
    engine_options options = {.log_level = (mill_level)wire_get_u32(&body)};
    options.jobs = wire_get_u32(&body);
    console_divert(options.log_level, served_log, s);
    s->stage.keyed = wire_get_u32(&body) != 0;
    bool has_file = wire_get_u32(&body) != 0;
    uint64_t most = wire_get_u64(&body);
    if (body.bad || file == NULL || class_name == NULL || name == NULL)
        return g_strdup(BROKEN);
    if (most > 0 && options.jobs > 1) /* their stacks are not the stage's */
        served_start_helpers(s, options.jobs - 1);
    char *why = limit_memory(most);
    const module *m = why == NULL ? load(s, file, &why) : NULL;
    if (m == NULL)
        return why;
    const stage_class *cls = find_class(m, class_name);
    if (cls == NULL)
        return g_strdup("the file has changed since the run began");
    make_stage(s, cls, name);
    make_engine(s, &options);
    why = set_options(s, &body);
    if (!has_file)
        s->stage.glob = -1;
    if (why == NULL)
        get_outputs(s, &body);
    return why == NULL && !wire_done(&body) ? g_strdup(BROKEN) : why;
}
