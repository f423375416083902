/* SPDX-License-Identifier: Apache-2.0 */
/* kineto-gen: writes a trace as Kineto would, of any size and shape, and its right values. */
#include "gen_model.h"

#include <string.h>

typedef struct gen_options {
    const char *path, *expect, *size, *form, *times, *style;
    gint64 seed, steps, events;
    gboolean gzip, shuffle;
    gen_shape shape;
} gen_options;

static gboolean parse_options(gen_options *o, int *argc, char ***argv, GError **error) {
    const GOptionEntry entries[] = {
        {"seed", 0, 0, G_OPTION_ARG_INT64, &o->seed, "Same seed, same trace (1)", "N"},
        {"steps", 0, 0, G_OPTION_ARG_INT64, &o->steps, "Training steps (2)", "N"},
        {"events", 0, 0, G_OPTION_ARG_INT64, &o->events, "Steps until there are N events", "N"},
        {"size", 0, 0, G_OPTION_ARG_STRING, &o->size, "Steps until the text has this size",
         "64MiB"},
        {"layers", 0, 0, G_OPTION_ARG_INT64, &o->shape.layers, "Layers of a step (4)", "N"},
        {"streams", 0, 0, G_OPTION_ARG_INT64, &o->shape.streams, "Streams of a device (3)", "N"},
        {"devices", 0, 0, G_OPTION_ARG_INT64, &o->shape.devices, "Devices in the trace (1)", "N"},
        {"rank", 0, 0, G_OPTION_ARG_INT64, &o->shape.rank, "Rank of the trace (0)", "N"},
        {"world", 0, 0, G_OPTION_ARG_INT64, &o->shape.world, "Ranks of the run (64)", "N"},
        {"form", 0, 0, G_OPTION_ARG_STRING, &o->form, "object or array", "FORM"},
        {"ts", 0, 0, G_OPTION_ARG_STRING, &o->times, "Times: integer, decimal or string", "KIND"},
        {"style", 0, 0, G_OPTION_ARG_STRING, &o->style, "Layout: compact or kineto", "STYLE"},
        {"gzip", 0, 0, G_OPTION_ARG_NONE, &o->gzip, "Pack the trace", NULL},
        {"shuffle", 0, 0, G_OPTION_ARG_NONE, &o->shuffle, "Events in random order", NULL},
        {"expect", 0, 0, G_OPTION_ARG_FILENAME, &o->expect, "Write the right values here", "FILE"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o->path, "The trace (standard output)", "FILE"},
        {NULL}};
    g_autoptr(GOptionContext) context =
        g_option_context_new("- write a trace of any size with known right values");
    g_option_context_add_main_entries(context, entries, NULL);
    return g_option_context_parse(context, argc, argv, error);
}

static bool refuse(GError **error, const char *text) {
    g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, text);
    return false;
}

/* The index of a word in a list, or -1. */
static int find_word(const char *word, const char *const *list) {
    for (int i = 0; list[i]; i++)
        if (strcmp(word, list[i]) == 0)
            return i;
    return -1;
}

/* "64MiB", "1GiB", "4096": bytes. */
static bool parse_size(const char *text, uint64_t *ret_bytes) {
    static const char *const units[] = {"", "KiB", "MiB", "GiB", NULL};
    char *end;
    guint64 number = g_ascii_strtoull(text, &end, 10);
    int unit = find_word(end, units);
    if (end == text || unit < 0 || number == 0 || number > (UINT64_C(1) << 62) >> 10 * unit)
        return false;
    *ret_bytes = number << 10 * unit;
    return true;
}

static bool check_options(gen_options *o, gen_form *form, uint64_t *ret_bytes, GError **error) {
    static const char *const forms[] = {"object", "array", NULL};
    static const char *const times[] = {"integer", "decimal", "string", NULL};
    static const char *const styles[] = {"compact", "kineto", NULL};
    int form_at = find_word(o->form, forms), times_at = find_word(o->times, times);
    int style_at = find_word(o->style, styles);
    gen_shape *s = &o->shape;
    if (form_at < 0 || times_at < 0 || style_at < 0)
        return refuse(error, "--form is object or array; --ts is integer, decimal or string; "
                             "--style is compact or kineto");
    if (s->devices < 1 || s->devices > GEN_DEVICES_MAX || s->streams < 1 ||
        s->streams > GEN_STREAMS_MAX)
        return refuse(error, "--devices and --streams are from 1 to 64");
    if (s->layers < 1 || s->layers > 1000 || o->steps < 1 || o->events < 0)
        return refuse(error, "--layers is from 1 to 1000, --steps from 1, --events from 0");
    if (s->rank < 0 || s->rank >= s->world)
        return refuse(error, "--rank is from 0 to --world - 1");
    if (o->size && !parse_size(o->size, ret_bytes))
        return refuse(error, "--size is a whole number with KiB, MiB, GiB or none: 64MiB");
    *form = (gen_form){form_at == 1, style_at == 1, o->gzip, o->shuffle, (gen_times)times_at};
    s->seed = (uint64_t)o->seed;
    s->unit_ns = form->times == GEN_TIMES_INTEGER ? 1000 : 1;
    return true;
}

/* Writes whole steps until what was asked for is reached. */
static void write_steps(const gen_options *o, uint64_t bytes, gen_model *model,
                        const gen_output *output) {
    int64_t step = 0;
    bool more;
    do {
        gen_model_step(model);
        step++;
        if (bytes)
            more = gen_output_bytes(output) < bytes;
        else if (o->events)
            more = gen_output_events(output) < (uint64_t)o->events;
        else
            more = step < o->steps;
    } while (more);
}

static bool generate(const gen_options *o, const gen_form *form, uint64_t bytes, GError **error) {
    gen_output *output = gen_output_create(o->path, form, o->shape.seed, error);
    if (!output)
        return false;
    gen_expect *expect = gen_expect_create((unsigned)o->shape.devices);
    gen_model *model = gen_model_create(&o->shape, output, expect);
    write_steps(o, bytes, model, output);
    g_autoptr(GString) json = gen_expect_json(expect, gen_output_events(output));
    gen_model_destroy(model);
    gen_expect_destroy(expect);
    if (!gen_output_close(output, error))
        return false;
    return !o->expect || g_file_set_contents(o->expect, json->str, (gssize)json->len, error);
}

int main(int argc, char **argv) {
    /* Static, so that the texts that GLib allocates for it stay reachable: they live until the
     * exit.
     */
    static gen_options o = {.path = "-",
                            .form = "object",
                            .times = "integer",
                            .style = "compact",
                            .seed = 1,
                            .steps = 2,
                            .shape = {.devices = 1, .streams = 3, .layers = 4, .world = 64}};
    gen_form form;
    uint64_t bytes = 0;
    g_autoptr(GError) error = NULL;
    if (!parse_options(&o, &argc, &argv, &error) || !check_options(&o, &form, &bytes, &error)) {
        g_printerr("kineto-gen: %s\n", error->message);
        return 64;
    }
    if (!generate(&o, &form, bytes, &error)) {
        g_printerr("kineto-gen: %s\n", error->message);
        return 74;
    }
    return 0;
}
