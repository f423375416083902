/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading declarations: structs of other sizes, and every rule that a module can break. */
#include "module/declare.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- a good module to break */

typedef struct options {
    int64_t top;
    const char *path;
    mill_list modes;
    bool fast;
} options;

static const char *const two_modes[] = {"mean", "max", NULL};
static const char *const same_modes[] = {"mean", "max", "mean", NULL};
static const char *const empty_mode[] = {"mean", "", NULL};
static const char *const no_modes[] = {NULL};

enum { TOP, PATH, MODES, FAST, N_OPTIONS };

/* All parts of one module, which a test may change before it is declared. */
typedef struct parts {
    mill_option options[N_OPTIONS + 1];
    mill_port inputs[3], outputs[3];
    mill_stage stage, other;
    const mill_stage *stages[3];
    mill_type type;
    const mill_type *types[3];
    mill_module module;
} parts;

static mill_status run(mill_run *host_run, const void *opts, void *state) {
    (void)host_run;
    (void)opts;
    (void)state;
    return MILL_OK;
}

static void release(void *data) {
    (void)data;
}

static mill_status save(mill_run *host_run, const void *data, mill_sink *sink) {
    (void)host_run;
    (void)data;
    (void)sink;
    return MILL_OK;
}

static const parts good = {
    .options = {{.name = "top",
                 .type = MILL_OPT_INT,
                 .offset = MILL_OPT_OFF(options, top, INT),
                 .def = "10",
                 .min = 1,
                 .max = 1000},
                {.name = "path",
                 .type = MILL_OPT_PATH,
                 .flags = MILL_OPT_GLOB | MILL_OPT_ITEM,
                 .offset = MILL_OPT_OFF(options, path, PATH),
                 .def = "${tracemill:data}/x-*.ini"},
                {.name = "modes",
                 .type = MILL_OPT_LIST,
                 .elem = MILL_OPT_ENUM,
                 .offset = MILL_OPT_OFF(options, modes, LIST),
                 .def = "mean, max",
                 .choices = two_modes},
                {.name = "fast",
                 .type = MILL_OPT_BOOL,
                 .flags = MILL_OPT_REQUIRED,
                 .offset = MILL_OPT_OFF(options, fast, BOOL)}},
    .inputs = {{.name = "trace", .type = "mill.trace/1"},
               {.name = "prior", .type = "org.acme.fit/12", .flags = MILL_PORT_MANY}},
    .outputs = {{.name = "report", .type = "mill.report/1", .flags = MILL_PORT_OPTIONAL}},
    .stage = {MILL_STAGE_HEAD, .flags = MILL_STAGE_SINGLE, .name = "acme.fit-2",
              .options_size = sizeof(options), .run = run},
    .other = {MILL_STAGE_HEAD, .name = "acme.other", .run = run},
    .type = {.size = sizeof(mill_type), .id = "org.acme.fit/1", .free = release},
    .module = {MILL_MODULE_HEAD, .id = "org.acme.fit", .version = "1.0"},
};

static parts p; /* what the running test breaks */

static void reset(void) {
    p = good;
    p.stage.inputs = p.inputs;
    p.stage.outputs = p.outputs;
    p.stage.options = p.options;
    p.stages[0] = &p.stage;
    p.stages[1] = &p.other;
    p.types[0] = &p.type;
    p.module.stages = p.stages;
    p.module.types = p.types;
}

/* Declares `p`, which must be refused with exactly this sentence, and makes it good again. */
static void refuses(const char *sentence) {
    g_autoptr(module) m = module_create("/x/acme.so");
    g_assert_false(declare_module(m, &p.module));
    g_assert_cmpint(m->state, ==, MODULE_REFUSED);
    g_assert_cmpstr(m->why, ==, sentence);
    reset();
}

/* ---------------------------------------------------------------- sizes */

static void test_good(void) {
    reset();
    g_autoptr(module) m = module_create("/x/acme.so");
    if (!declare_module(m, &p.module))
        g_error("%s", m->why);
    g_assert_cmpstr(m->id, ==, "org.acme.fit");
    g_assert_cmpuint(m->classes->len, ==, 2);
    const stage_class *c = m->classes->pdata[0];
    g_assert_true(c->module == m);
    g_assert_cmpuint(c->n_inputs, ==, 2);
    g_assert_cmpuint(c->n_outputs, ==, 1);
    g_assert_cmpuint(c->n_options, ==, N_OPTIONS);
    g_assert_true(c->stage.options == c->options);
    g_assert_null(c->options[N_OPTIONS].name);
    const stage_class *other = m->classes->pdata[1];
    g_assert_cmpuint(other->n_inputs + other->n_outputs + other->n_options, ==, 0);
    const mill_type *t = m->types->pdata[0];
    g_assert_true(t->free == release);
}

/* What an older side wrote: two fields of three; a newer one: four. */
typedef struct older {
    const char *name;
    int64_t a;
} older;
typedef struct ours {
    const char *name;
    int64_t a, b;
} ours;
typedef struct newer {
    const char *name;
    int64_t a, b, c;
} newer;

static void test_copy_older(void) {
    const older from[] = {{"x", 1}, {"y", 2}, {NULL, 3}};
    size_t n;
    g_autofree ours *copy = declare_copy_array(from, sizeof *from, sizeof *copy, &n);
    g_assert_cmpuint(n, ==, 2);
    g_assert_cmpstr(copy[1].name, ==, "y");
    g_assert_cmpint(copy[1].a, ==, 2);
    g_assert_cmpint(copy[1].b, ==, 0);
    g_assert_null(copy[2].name);
}

static void test_copy_newer(void) {
    const newer from[] = {{"x", 1, 2, 3}, {"y", 4, 5, 6}, {0}};
    size_t n;
    g_autofree ours *copy = declare_copy_array(from, sizeof *from, sizeof *copy, &n);
    g_assert_cmpuint(n, ==, 2);
    g_assert_cmpstr(copy[1].name, ==, "y");
    g_assert_cmpint(copy[1].a, ==, 4);
    g_assert_cmpint(copy[1].b, ==, 5);
    g_assert_null(copy[2].name);
    g_assert_cmpint(copy[2].a, ==, 0);
}

static void test_copy_ends(void) {
    size_t n = 7;
    g_autofree ours *none = declare_copy_array(NULL, sizeof *none, sizeof *none, &n);
    g_assert_cmpuint(n, ==, 0);
    g_assert_null(none[0].name);
    g_autofree ours *many = g_new0(ours, DECLARE_MAX_ELEMENTS + 2);
    for (size_t i = 0; i <= DECLARE_MAX_ELEMENTS; i++)
        many[i].name = "x";
    g_assert_null(declare_copy_array(many, sizeof *many, sizeof *many, &n));
    many[DECLARE_MAX_ELEMENTS].name = NULL;
    g_autofree ours *most = declare_copy_array(many, sizeof *many, sizeof *most, &n);
    g_assert_cmpuint(n, ==, DECLARE_MAX_ELEMENTS);
}

static void test_sizes(void) {
    reset();
    p.module.size = 0;
    refuses("its mill_module_v1 gives its size as 0 bytes, not 96 or a little more: begin it with "
            "MILL_MODULE_HEAD");
    p.module.size = UINT32_MAX;
    refuses("its mill_module_v1 gives its size as 4294967295 bytes, not 96 or a little more: begin "
            "it with MILL_MODULE_HEAD");
    p.other.size = 8;
    refuses("class 2 gives its size as 8 bytes, not 120 or a little more: begin it with "
            "MILL_STAGE_HEAD");
    p.stage.option_stride = 0;
    refuses("class \"acme.fit-2\" gives the size of an option as 0 bytes and of a port as 32, not "
            "80 and 32 or a little more: begin it with MILL_STAGE_HEAD");
    p.stage.port_stride = 33; /* no place for pointers */
    refuses("class \"acme.fit-2\" gives the size of an option as 80 bytes and of a port as 33, not "
            "80 and 32 or a little more: begin it with MILL_STAGE_HEAD");
    p.type.size = 4;
    refuses("type 1 gives its size as 4 bytes, not 56 or a little more: begin it with "
            "sizeof(mill_type)");
    p.stage.options_size = SIZE_MAX;
    refuses("class \"acme.fit-2\" asks for 18446744073709551615 bytes of options and 0 of state, "
            "over the limits 1048576 and 268435456: allocate large memory in `open`");
}

/* ---------------------------------------------------------------- module */

static void test_versions(void) {
    reset();
    p.module.magic = 0x4c4c494d;
    refuses("its mill_module_v1 begins with 0x4c4c494d instead of 0x4d494c4c: begin it with "
            "MILL_MODULE_HEAD");
    p.module.abi_minor = MILL_ABI_MINOR + 1;
    refuses("built for ABI 1.1, host speaks 1.0: update tracemill, or build the module with this "
            "host's SDK");
    p.module.abi_major = MILL_ABI_MAJOR + 1;
    p.module.id = (const char *)8; /* what lies there has another meaning: it is not read */
    p.module.size = 0;
    refuses("built for ABI 2.0, host speaks 1.0: update tracemill, or build the module with this "
            "host's SDK");
    p.module.abi_major = MILL_ABI_MAJOR - 1;
    p.module.id = (const char *)8;
    refuses("built for ABI 0.0, host speaks 1.0: build the module again, with this host's SDK");
}

static void test_identity(void) {
    reset();
    p.module.id = NULL;
    refuses("its id is not [a-z][a-z0-9-]* parts joined by dots, such as org.acme.fit");
    p.module.id = "Acme Fit";
    refuses("its id is not [a-z][a-z0-9-]* parts joined by dots, such as org.acme.fit");
    p.module.version = NULL;
    refuses("it has no version: set it, such as \"1.0.0\"");
    p.module.author = "\xff";
    refuses("its author is not UTF-8 text");
    p.module.stages = NULL;
    refuses("it declares no stage class: list at least one in `stages`");
    p.stages[0] = NULL;
    refuses("it declares no stage class: list at least one in `stages`");
}

static void test_class(void) {
    reset();
    p.stage.name = NULL;
    refuses("class 1 has NULL as its name, not [a-z][a-z0-9-]* parts joined by dots");
    p.other.name = "acme..fit";
    refuses("class 2 has \"acme..fit\" as its name, not [a-z][a-z0-9-]* parts joined by dots");
    p.other.name = "";
    refuses("class 2 has \"\" as its name, not [a-z][a-z0-9-]* parts joined by dots");
    p.other.name = "acme.fit-2";
    refuses("it declares class \"acme.fit-2\" twice: rename one");
    p.other.run = NULL;
    refuses("class \"acme.other\" has no `run`, which every class needs");
    p.other.flags = 6;
    refuses("class \"acme.other\" has flags 0x6, of which ABI 1.0 knows 0x1");
    p.other.help = "\xff";
    refuses("class \"acme.other\": its summary or help is not UTF-8 text");
}

static void test_types(void) {
    reset();
    p.type.id = "org.acme.fit";
    refuses("type 1 has org.acme.fit as its id, not one such as org.acme.fit/1");
    p.type.id = NULL;
    refuses("type 1 has NULL as its id, not one such as org.acme.fit/1");
    p.type.id = "mill.trace/1";
    refuses("it declares type \"mill.trace/1\", but mill.* types are the host's: choose a name of "
            "your own");
    p.type.save = save;
    refuses("type \"org.acme.fit/1\" has `save` without `load`: give both or none");
    p.type.reserved = 1;
    refuses("type \"org.acme.fit/1\": its help is not UTF-8 text, or `reserved` is not 0");
    p.types[1] = &p.type;
    refuses("it declares type \"org.acme.fit/1\" twice: remove one");
}

/* ---------------------------------------------------------------- ports */

#define TABLE_END "; or does the table lack its end, {.name = NULL}?"

static void test_ports(void) {
    reset();
    p.inputs[0].name = "a.b";
    refuses("class \"acme.fit-2\", input \"a.b\": the name is not [a-z][a-z0-9-]* of at most 46 "
            "bytes" TABLE_END);
    p.inputs[1].name = "trace";
    refuses("class \"acme.fit-2\", input \"trace\": it is declared twice: rename one");
    p.outputs[0].type = NULL;
    refuses("class \"acme.fit-2\", output \"report\": its type is NULL, not an id such as "
            "mill.trace/1" TABLE_END);
    p.outputs[0].type = "trace";
    refuses("class \"acme.fit-2\", output \"report\": its type is trace, not an id such as "
            "mill.trace/1" TABLE_END);
    p.inputs[0].help = "\xff";
    refuses("class \"acme.fit-2\", input \"trace\": its help is not UTF-8 text");
    p.outputs[0].flags = MILL_PORT_MANY;
    refuses("class \"acme.fit-2\", output \"report\": MANY and STREAM are for inputs");
    p.outputs[0].flags = MILL_PORT_STREAM;
    refuses("class \"acme.fit-2\", output \"report\": MANY and STREAM are for inputs");
    p.inputs[0].flags = MILL_PORT_ITEMS;
    refuses("class \"acme.fit-2\", input \"trace\": ITEMS is for outputs");
    p.inputs[0].flags = MILL_PORT_STREAM;
    p.stage.flags = 0;
    refuses("class \"acme.fit-2\", input \"trace\": STREAM needs a class with the flag SINGLE");
    p.inputs[0].flags = MILL_PORT_STREAM;
    refuses(
        "class \"acme.fit-2\", input \"trace\": a class takes a STREAM or files by a GLOB option, "
        "not both");
    p.inputs[0].flags = MILL_PORT_STREAM | MILL_PORT_MANY;
    refuses("class \"acme.fit-2\", input \"trace\": it is either MANY or STREAM");
    p.inputs[0].flags = 0x10;
    refuses("class \"acme.fit-2\", input \"trace\": it has flags 0x10 and reserved 0x0, of which "
            "ABI 1.0 knows 0x7 and 0");
}

/* ---------------------------------------------------------------- options */

#define OPTION(name) "class \"acme.fit-2\", option \"" name "\": "

static void test_option_name(void) {
    reset();
    p.options[TOP].name = "Top";
    refuses(OPTION("Top") "the name is not [a-z][a-z0-9-]* of at most 46 bytes" TABLE_END);
    p.options[TOP].name = "in";
    refuses(OPTION("in") "the host keeps this name for itself: choose another");
    p.options[FAST].name = "top";
    refuses(OPTION("top") "it is declared twice: rename one");
}

static void test_option_type(void) {
    reset();
    p.options[TOP].type = (mill_opt_type)0;
    refuses(OPTION("top") "its type is 0, which is no MILL_OPT_* type" TABLE_END);
    p.options[TOP].type = (mill_opt_type)11;
    refuses(OPTION("top") "its type is 11, which is no MILL_OPT_* type" TABLE_END);
    p.options[MODES].elem = (mill_opt_type)0;
    refuses(OPTION("modes") "a LIST needs `elem`, any type but LIST, and has 0");
    p.options[MODES].elem = MILL_OPT_LIST;
    refuses(OPTION("modes") "a LIST needs `elem`, any type but LIST, and has 10");
    p.options[TOP].elem = MILL_OPT_INT;
    refuses(OPTION("top") "`elem` is for a LIST, the type is INT");
}

static void test_option_field(void) {
    reset();
    p.options[TOP].offset = sizeof(options);
    refuses(OPTION("top") "its field, 8 bytes at offset 40, lies outside the 40 bytes of "
                          "options_size: set that to the size of the options struct");
    p.options[TOP].offset = SIZE_MAX - 7;
    refuses(OPTION("top") "its field, 8 bytes at offset 18446744073709551608, lies outside the 40 "
                          "bytes of options_size: set that to the size of the options struct");
    p.options[TOP].offset = 4;
    refuses(OPTION("top") "offset 4 is not one a INT can have: use MILL_OPT_OFF");
}

static void test_option_shared(void) {
    reset();
    p.options[PATH].offset = offsetof(options, top);
    refuses(
        OPTION("path") "its field, 8 bytes at offset 0, is also that of \"top\": name its own in "
                       "MILL_OPT_OFF");
    p.options[FAST].offset = offsetof(options, modes) + 15;
    refuses(
        OPTION("fast") "its field, 1 bytes at offset 31, is also that of \"modes\": name its own "
                       "in MILL_OPT_OFF");
    /* An old name for another option. */
    p.options[FAST] = p.options[TOP];
    p.options[FAST].name = "most";
    p.options[FAST].flags = MILL_OPT_DEPRECATED;
    g_autoptr(module) m = module_create("/x/acme.so");
    if (!declare_module(m, &p.module))
        g_error("%s", m->why);
}

static void test_option_flags(void) {
    reset();
    p.options[TOP].flags = MILL_OPT_GLOB;
    refuses(OPTION("top") "GLOB needs the type PATH, it has INT");
    p.options[MODES].flags = MILL_OPT_ITEM;
    refuses(OPTION("modes") "ITEM needs the type STR or PATH, it has LIST");
    p.options[TOP].flags = MILL_OPT_REQUIRED;
    refuses(OPTION("top") "it is REQUIRED and has a default: drop one of the two");
    p.options[TOP].flags = 0x100;
    refuses(OPTION("top") "it has flags 0x100 and reserved 0x0, of which ABI 1.0 knows 0xf and 0");
    p.options[TOP] = good.options[PATH];
    p.options[TOP].name = "other";
    refuses(OPTION("path") "\"other\" is a GLOB already, and a class may have one");
}

static void test_option_values(void) {
    reset();
    p.options[TOP].min = 1001;
    refuses(OPTION("top") "its minimum 1001 is over its maximum 1000");
    p.options[TOP].max = NAN;
    refuses(OPTION("top") "its minimum 1 is over its maximum nan");
    p.options[TOP].choices = two_modes;
    refuses(OPTION("top") "choices are for an ENUM or a LIST of ENUM");
    p.options[MODES].choices = NULL;
    refuses(OPTION("modes") "an ENUM needs at least one choice");
    p.options[MODES].choices = no_modes;
    refuses(OPTION("modes") "an ENUM needs at least one choice");
    p.options[MODES].choices = same_modes;
    refuses(OPTION("modes") "it has the choice \"mean\" twice");
    p.options[MODES].choices = empty_mode;
    refuses(OPTION("modes") "choice 2 is empty or not UTF-8 text");
    p.options[TOP].unit = "\xb5s";
    refuses(OPTION("top") "its unit, help or default is not UTF-8 text");
}

static void test_option_default(void) {
    reset();
    p.options[TOP].def = "many";
    refuses(OPTION("top") "its default is wrong: [acme.fit-2] top = \"many\": not a whole number");
    p.options[TOP].def = "5000";
    refuses(OPTION("top") "its default is wrong: [acme.fit-2] top = 5000 is over the maximum 1000");
    p.options[MODES].def = "mean, avg";
    refuses(OPTION("modes") "its default is wrong: [acme.fit-2] modes = \"avg\": not one of mean, "
                            "max");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/declare/good", test_good);
    g_test_add_func("/declare/copy/older", test_copy_older);
    g_test_add_func("/declare/copy/newer", test_copy_newer);
    g_test_add_func("/declare/copy/ends", test_copy_ends);
    g_test_add_func("/declare/sizes", test_sizes);
    g_test_add_func("/declare/versions", test_versions);
    g_test_add_func("/declare/identity", test_identity);
    g_test_add_func("/declare/class", test_class);
    g_test_add_func("/declare/types", test_types);
    g_test_add_func("/declare/ports", test_ports);
    g_test_add_func("/declare/option/name", test_option_name);
    g_test_add_func("/declare/option/type", test_option_type);
    g_test_add_func("/declare/option/field", test_option_field);
    g_test_add_func("/declare/option/shared", test_option_shared);
    g_test_add_func("/declare/option/flags", test_option_flags);
    g_test_add_func("/declare/option/values", test_option_values);
    g_test_add_func("/declare/option/default", test_option_default);
    return g_test_run();
}
