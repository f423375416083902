/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that a module's declarations must keep. */
#include "module/validate.h"

#include "config/lines.h"
#include "config/values.h"
#include "module/declare.h"

/* Options and ports are keys in an INI file, ports after "in." */
#define MAX_KEY ((int)(LINES_MAX_NAME - strlen("in.")))
#define MAX_OPTIONS_SIZE (1u << 20)
#define MAX_STATE_SIZE (1u << 28)

#define OPT_FLAGS (MILL_OPT_REQUIRED | MILL_OPT_DEPRECATED | MILL_OPT_GLOB | MILL_OPT_ITEM)
#define INPUT_FLAGS (MILL_PORT_OPTIONAL | MILL_PORT_MANY | MILL_PORT_STREAM)
#define OUTPUT_FLAGS (MILL_PORT_OPTIONAL | MILL_PORT_ITEMS)

/* What stands behind a table without an end is read as one more element. */
#define TABLE_END "; or does the table lack its end, {.name = NULL}?"

/* The field of each option type. */
#define FIELD(KIND)                                                                                \
    [MILL_OPT_##KIND] = {#KIND, sizeof(mill_field_##KIND), _Alignof(mill_field_##KIND)}
static const struct {
    const char *name;
    size_t size, alignment;
} fields[] = {FIELD(BOOL),  FIELD(INT),  FIELD(NUM),      FIELD(STR),   FIELD(PATH),
              FIELD(REGEX), FIELD(ENUM), FIELD(DURATION), FIELD(BYTES), FIELD(LIST)};
#undef FIELD

/* ---------------------------------------------------------------- names */

bool validate_name(const char *name) {
    if (!name || !*name || strnlen(name, VALIDATE_MAX_NAME + 1) > VALIDATE_MAX_NAME)
        return false;
    g_auto(GStrv) parts = g_strsplit(name, ".", -1);
    for (char **part = parts; *part; part++)
        if (!document_is_name(*part))
            return false;
    return true;
}

static bool is_key(const char *name) {
    return strnlen(name, MAX_KEY + 1) <= (size_t)MAX_KEY && document_is_name(name);
}

bool validate_type_id(const char *id) {
    const char *slash = id ? strchr(id, '/') : NULL;
    if (!slash)
        return false;
    g_autofree char *name = g_strndup(id, (size_t)(slash - id));
    size_t digits = strspn(slash + 1, "0123456789");
    return validate_name(name) && digits > 0 && digits < 10 && slash[1 + digits] == '\0';
}

static bool is_text(const char *text) {
    return !text || g_utf8_validate(text, -1, NULL);
}

/* ---------------------------------------------------------------- options */

typedef struct checked {
    module *m;
    const stage_class *c;
    const mill_option *o;
} checked;

static bool refuse_option(const checked *k, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool refuse_option(const checked *k, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    return module_refuse(k->m, "class \"%s\", option \"%s\": %s", k->c->stage.name, k->o->name,
                         text);
}

static bool is_option_type(mill_opt_type type) {
    return (unsigned)type >= MILL_OPT_BOOL && (unsigned)type <= MILL_OPT_LIST;
}

/* The type of the texts that a user writes: of each element for a list. */
static mill_opt_type written_type(const mill_option *o) {
    return o->type == MILL_OPT_LIST ? o->elem : o->type;
}

static bool check_type(const checked *k) {
    const mill_option *o = k->o;
    if (!is_option_type(o->type))
        return refuse_option(k, "its type is %d, which is no MILL_OPT_* type" TABLE_END,
                             (int)o->type);
    if (o->type == MILL_OPT_LIST && (!is_option_type(o->elem) || o->elem == MILL_OPT_LIST))
        return refuse_option(k, "a LIST needs `elem`, any type but LIST, and has %d", (int)o->elem);
    if (o->type != MILL_OPT_LIST && o->elem != 0)
        return refuse_option(k, "`elem` is for a LIST, the type is %s", fields[o->type].name);
    return true;
}

static bool check_field(const checked *k) {
    const mill_option *o = k->o;
    size_t size = fields[o->type].size, room = k->c->stage.options_size;
    if (o->offset > room || room - o->offset < size)
        return refuse_option(k,
                             "its field, %zu bytes at offset %zu, lies outside the %zu bytes of "
                             "options_size: set that to the size of the options struct",
                             size, o->offset, room);
    if (o->offset % fields[o->type].alignment != 0)
        return refuse_option(k, "offset %zu is not one a %s can have: use MILL_OPT_OFF", o->offset,
                             fields[o->type].name);
    return true;
}

/* Two options in one field would overwrite each other. A deprecated one may stand for another. */
static bool check_shared(const checked *k, const mill_option *other) {
    const mill_option *o = k->o;
    size_t end = o->offset + fields[o->type].size,
           other_end = other->offset + fields[other->type].size;
    if (o->offset >= other_end || other->offset >= end)
        return true;
    if (o->offset == other->offset && o->type == other->type &&
        (o->flags | other->flags) & MILL_OPT_DEPRECATED)
        return true;
    return refuse_option(k,
                         "its field, %zu bytes at offset %zu, is also that of \"%s\": name its own "
                         "in MILL_OPT_OFF",
                         fields[o->type].size, o->offset, other->name);
}

static bool check_flags(const checked *k) {
    const mill_option *o = k->o;
    if (o->flags & ~OPT_FLAGS || o->reserved != 0)
        return refuse_option(k,
                             "it has flags 0x%x and reserved 0x%x, of which ABI %u.%u knows "
                             "0x%x and 0",
                             o->flags, o->reserved, MILL_ABI_MAJOR, MILL_ABI_MINOR, OPT_FLAGS);
    if (o->flags & MILL_OPT_GLOB && o->type != MILL_OPT_PATH)
        return refuse_option(k, "GLOB needs the type PATH, it has %s", fields[o->type].name);
    if (o->flags & MILL_OPT_ITEM && o->type != MILL_OPT_STR && o->type != MILL_OPT_PATH)
        return refuse_option(k, "ITEM needs the type STR or PATH, it has %s", fields[o->type].name);
    if (o->flags & MILL_OPT_REQUIRED && o->def)
        return refuse_option(k, "it is REQUIRED and has a default: drop one of the two");
    return true;
}

static bool check_choices(const checked *k) {
    const char *const *choices = k->o->choices;
    if (written_type(k->o) != MILL_OPT_ENUM)
        return !choices || refuse_option(k, "choices are for an ENUM or a LIST of ENUM");
    if (!choices || !choices[0])
        return refuse_option(k, "an ENUM needs at least one choice");
    for (size_t i = 0; choices[i]; i++) {
        if (i == DECLARE_MAX_ELEMENTS)
            return refuse_option(k, "it has more than %d choices: end them with NULL",
                                 DECLARE_MAX_ELEMENTS);
        if (choices[i][0] == '\0' || !is_text(choices[i]))
            return refuse_option(k, "choice %zu is empty or not UTF-8 text", i + 1);
        for (size_t j = 0; j < i; j++)
            if (strcmp(choices[i], choices[j]) == 0)
                return refuse_option(k, "it has the choice \"%s\" twice", choices[i]);
    }
    return true;
}

static bool check_bounds(const checked *k) {
    const mill_option *o = k->o;
    if (!(o->min <= o->max)) /* also true of a NaN */
        return refuse_option(k, "its minimum %g is over its maximum %g", o->min, o->max);
    return true;
}

/* Reads the default as if the user had written it. */
static bool check_default(const checked *k) {
    if (!k->o->def)
        return true;
    setting s = {.section = k->c->stage.name,
                 .key = k->o->name,
                 .value = k->o->def,
                 .at = {.text = "default"}};
    g_autoptr(vars) v = vars_create(NULL, "/", NULL);
    g_autoptr(problems) p = problems_create();
    g_autoptr(GPtrArray) memory = values_memory();
    g_autofree void *opts = g_malloc0(k->c->stage.options_size);
    return values_set(k->o, &s, v, memory, opts, p) ||
           refuse_option(k, "its default is wrong: %s", problems_get(p, 0)->text);
}

static bool check_option(const checked *k) {
    if (!is_text(k->o->unit) || !is_text(k->o->help) || !is_text(k->o->def))
        return refuse_option(k, "its unit, help or default is not UTF-8 text");
    return check_type(k) && check_field(k) && check_flags(k) && check_choices(k) &&
           check_bounds(k) && check_default(k);
}

static bool check_options(module *m, const stage_class *c) {
    const mill_option *glob = NULL;
    for (size_t i = 0; i < c->n_options; i++) {
        const mill_option *o = &c->options[i];
        checked k = {m, c, o};
        if (!is_key(o->name))
            return refuse_option(
                &k, "the name is not [a-z][a-z0-9-]* of at most %d bytes" TABLE_END, MAX_KEY);
        if (strcmp(o->name, "use") == 0 || strcmp(o->name, "in") == 0)
            return refuse_option(&k, "the host keeps this name for itself: choose another");
        for (size_t j = 0; j < i; j++)
            if (strcmp(c->options[j].name, o->name) == 0)
                return refuse_option(&k, "it is declared twice: rename one");
        if (!check_option(&k))
            return false;
        if (glob && o->flags & MILL_OPT_GLOB)
            return refuse_option(&k, "\"%s\" is a GLOB already, and a class may have one",
                                 glob->name);
        if (o->flags & MILL_OPT_GLOB)
            glob = o;
        for (size_t j = 0; j < i; j++)
            if (!check_shared(&k, &c->options[j]))
                return false;
    }
    return true;
}

/* ---------------------------------------------------------------- ports */

static bool has_glob(const stage_class *c) {
    for (size_t i = 0; i < c->n_options; i++)
        if (c->options[i].flags & MILL_OPT_GLOB)
            return true;
    return false;
}

static bool check_port_flags(module *m, const stage_class *c, const mill_port *p, bool is_input) {
    const char *where = is_input ? "input" : "output", *cls = c->stage.name;
    uint32_t known = is_input ? INPUT_FLAGS : OUTPUT_FLAGS;
    if (!is_input && p->flags & (MILL_PORT_MANY | MILL_PORT_STREAM))
        return module_refuse(m, "class \"%s\", output \"%s\": MANY and STREAM are for inputs", cls,
                             p->name);
    if (is_input && p->flags & MILL_PORT_ITEMS)
        return module_refuse(m, "class \"%s\", input \"%s\": ITEMS is for outputs", cls, p->name);
    if (p->flags & ~known || p->reserved != 0)
        return module_refuse(m,
                             "class \"%s\", %s \"%s\": it has flags 0x%x and reserved 0x%x, of "
                             "which ABI %u.%u knows 0x%x and 0",
                             cls, where, p->name, p->flags, p->reserved, MILL_ABI_MAJOR,
                             MILL_ABI_MINOR, known);
    if (p->flags & MILL_PORT_STREAM && p->flags & MILL_PORT_MANY)
        return module_refuse(m, "class \"%s\", input \"%s\": it is either MANY or STREAM", cls,
                             p->name);
    if (p->flags & MILL_PORT_STREAM && !(c->stage.flags & MILL_STAGE_SINGLE))
        return module_refuse(m,
                             "class \"%s\", input \"%s\": STREAM needs a class with the flag "
                             "SINGLE",
                             cls, p->name);
    if (p->flags & MILL_PORT_STREAM && has_glob(c))
        return module_refuse(
            m,
            "class \"%s\", input \"%s\": a class takes a STREAM or files by a GLOB "
            "option, not both",
            cls, p->name);
    return true;
}

static bool check_ports(module *m, const stage_class *c, bool is_input) {
    const char *where = is_input ? "input" : "output", *cls = c->stage.name;
    const mill_port *ports = is_input ? c->inputs : c->outputs;
    size_t n = is_input ? c->n_inputs : c->n_outputs;
    for (size_t i = 0; i < n; i++) {
        const mill_port *p = &ports[i];
        if (!is_key(p->name))
            return module_refuse(m,
                                 "class \"%s\", %s \"%s\": the name is not [a-z][a-z0-9-]* of at "
                                 "most %d bytes" TABLE_END,
                                 cls, where, p->name, MAX_KEY);
        for (size_t j = 0; j < i; j++)
            if (strcmp(ports[j].name, p->name) == 0)
                return module_refuse(m, "class \"%s\", %s \"%s\": it is declared twice: rename one",
                                     cls, where, p->name);
        if (!validate_type_id(p->type))
            return module_refuse(m,
                                 "class \"%s\", %s \"%s\": its type is %s, not an id such as "
                                 "mill.trace/1" TABLE_END,
                                 cls, where, p->name, p->type ? p->type : "NULL");
        if (!is_text(p->help))
            return module_refuse(m, "class \"%s\", %s \"%s\": its help is not UTF-8 text", cls,
                                 where, p->name);
        if (!check_port_flags(m, c, p, is_input))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- classes, types */

bool validate_class(module *m, const stage_class *c) {
    const mill_stage *s = &c->stage;
    if (!s->run)
        return module_refuse(m, "class \"%s\" has no `run`, which every class needs", s->name);
    if (s->flags & ~MILL_STAGE_SINGLE)
        return module_refuse(m, "class \"%s\" has flags 0x%x, of which ABI %u.%u knows 0x%x",
                             s->name, s->flags, MILL_ABI_MAJOR, MILL_ABI_MINOR, MILL_STAGE_SINGLE);
    if (!is_text(s->summary) || !is_text(s->help))
        return module_refuse(m, "class \"%s\": its summary or help is not UTF-8 text", s->name);
    if (s->options_size > MAX_OPTIONS_SIZE || s->state_size > MAX_STATE_SIZE)
        return module_refuse(m,
                             "class \"%s\" asks for %zu bytes of options and %zu of state, over "
                             "the limits %u and %u: allocate large memory in `open`",
                             s->name, s->options_size, s->state_size, MAX_OPTIONS_SIZE,
                             MAX_STATE_SIZE);
    return check_ports(m, c, /* is_input= */ true) && check_ports(m, c, /* is_input= */ false) &&
           check_options(m, c);
}

bool validate_type(module *m, const mill_type *t) {
    if (!validate_type_id(t->id))
        return module_refuse(m, "type %u has %s as its id, not one such as org.acme.fit/1",
                             m->types->len, t->id ? t->id : "NULL");
    if (g_str_has_prefix(t->id, "mill."))
        return module_refuse(m,
                             "it declares type \"%s\", but mill.* types are the host's: choose a "
                             "name of your own",
                             t->id);
    if (!is_text(t->help) || t->reserved != 0)
        return module_refuse(m, "type \"%s\": its help is not UTF-8 text, or `reserved` is not 0",
                             t->id);
    if (!t->save != !t->load)
        return module_refuse(m, "type \"%s\" has `%s` without `%s`: give both or none", t->id,
                             t->save ? "save" : "load", t->save ? "load" : "save");
    return true;
}
