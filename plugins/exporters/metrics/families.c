/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of reports as metric families: see families.h.
 *
 * The text is OpenMetrics 1.0 (prometheus/OpenMetrics, specification/OpenMetrics.md) and at the
 * same time the older format of Prometheus (text 0.0.4), which is what node_exporter's textfile
 * collector parses: gauges only, and no quotes in a HELP, which the two escape differently.
 */
#include "families.h"
#include "units.h"

#include <inttypes.h>

/* Why a figure is no sample. */
typedef enum reason { SAMPLED, UNKNOWN, TEXT, REPEATED, REASONS } reason;

static const char *const reasons[] = {
    [UNKNOWN] = "unknown", [TEXT] = "text", [REPEATED] = "repeated"};

typedef struct family {
    char *name, *help;
    const char *unit; /* or NULL */
    GString *samples;
} family;

struct metrics_set {
    GPtrArray *families; /* in order: family * */
    GHashTable *by_name; /* name to family; the family owns both */
    GHashTable *begun;   /* "name{labels}" of the samples: set of char * */
    char *item;          /* or NULL */
    uint64_t reports, left_out[REASONS];
};

static void family_free(void *data) {
    family *f = data;
    g_free(f->name);
    g_free(f->help);
    g_string_free(f->samples, TRUE);
    g_free(f);
}

metrics_set *metrics_set_create(const char *item) {
    metrics_set *set = g_new0(metrics_set, 1);
    set->item = g_strdup(item);
    set->families = g_ptr_array_new_with_free_func(family_free);
    set->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    set->begun = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return set;
}

void metrics_set_destroy(metrics_set *set) {
    g_hash_table_unref(set->begun);
    g_hash_table_unref(set->by_name);
    g_ptr_array_unref(set->families);
    g_free(set->item);
    g_free(set);
}

const char *metrics_set_item(const metrics_set *set) {
    return set->item;
}

/* ---------------------------------------------------------------- names and texts */

/* tracemill_<report>_<figure>_<unit>; the unit only once. */
static char *name_of(const mill_report *r, const mill_figure *f, const char *unit) {
    g_autofree char *plain = g_strdup_printf("tracemill_%s_%s", r->id, f->id);
    g_autofree char *ending = g_strconcat("_", unit, NULL);
    char *name = unit && !g_str_has_suffix(plain, ending) ? g_strconcat(plain, ending, NULL)
                                                          : g_steal_pointer(&plain);
    return g_strcanon(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_", '_');
}

static char *help_of(const mill_figure *f) {
    g_autofree char *text = g_strdup_printf("%s%s%s", f->label ? f->label : f->id,
                                            f->help ? ": " : "", f->help ? f->help : "");
    GString *help = g_string_new(NULL);
    for (const char *p = text; *p; p++) {
        if (*p == '\\')
            g_string_append(help, "\\\\");
        else if (*p == '\n')
            g_string_append(help, "\\n");
        else
            g_string_append_c(help, *p == '"' ? '\'' : *p);
    }
    g_autofree char *raw = g_string_free(help, FALSE);
    return g_utf8_make_valid(raw, -1);
}

/* A label with an empty value is the same as none. */
static void append_label(GString *labels, const char *name, const char *value) {
    if (!value || !*value)
        return;
    g_autofree char *valid = g_utf8_make_valid(value, -1);
    g_string_append_printf(labels, "%s%s=\"", labels->len ? "," : "", name);
    for (const char *p = valid; *p; p++) {
        if (*p == '\\' || *p == '"')
            g_string_append_c(labels, '\\');
        if (*p == '\n')
            g_string_append(labels, "\\n");
        else
            g_string_append_c(labels, *p);
    }
    g_string_append_c(labels, '"');
}

/* ---------------------------------------------------------------- samples */

static family *family_of(metrics_set *set, const mill_report *r, const mill_figure *f) {
    const char *unit = metrics_unit(f->kind, f->unit);
    g_autofree char *name = name_of(r, f, unit);
    family *found = g_hash_table_lookup(set->by_name, name);
    if (found)
        return found;
    family *new = g_new0(family, 1);
    *new = (family){g_steal_pointer(&name), help_of(f), unit, g_string_new(NULL)};
    g_ptr_array_add(set->families, new);
    g_hash_table_insert(set->by_name, new->name, new);
    return new;
}

static reason add_figure(metrics_set *set, const mill_report *r, const mill_figure *f,
                         const char *stage, const char *key) {
    char value[KIT_NUMBER_MAX];
    if (f->kind == MILL_KIND_TEXT)
        return TEXT;
    if (!metrics_value(value, f->kind, f->unit, f->value))
        return UNKNOWN;
    family *of = family_of(set, r, f);
    g_autoptr(GString) labels = g_string_new(NULL);
    append_label(labels, "report", r->id);
    append_label(labels, "scope", f->scope);
    append_label(labels, "item", key);
    append_label(labels, "source", stage);
    g_autofree char *sample = g_strdup_printf("%s{%s}", of->name, labels->str);
    if (g_hash_table_contains(set->begun, sample))
        return REPEATED;
    g_string_append_printf(of->samples, "%s %s\n", sample, value);
    g_hash_table_add(set->begun, g_steal_pointer(&sample));
    return SAMPLED;
}

void metrics_set_add(metrics_set *set, const mill_report *report, const char *stage,
                     const char *key) {
    set->reports++;
    for (uint64_t i = 0; i < report->n_figures; i++)
        set->left_out[add_figure(set, report, report->figures[i], stage, key)]++;
}

/* ---------------------------------------------------------------- the file */

static void write_head(kit_export *out, const char *name, const char *help, const char *unit) {
    g_autofree char *head = g_strdup_printf("# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
    kit_export_text(out, head);
    g_autofree char *line = g_strdup_printf("# UNIT %s %s\n", name, unit);
    if (unit)
        kit_export_text(out, line);
}

/* Files of several items may lie in one folder, so each says whose its numbers are. */
static void write_own(const metrics_set *set, kit_export *out, const char *name, const char *why,
                      uint64_t value) {
    g_autoptr(GString) labels = g_string_new(NULL);
    append_label(labels, "reason", why);
    append_label(labels, "item", set->item);
    g_autofree char *braced = labels->len ? g_strdup_printf("{%s}", labels->str) : g_strdup("");
    g_autofree char *sample = g_strdup_printf("%s%s %" PRIu64 "\n", name, braced, value);
    kit_export_text(out, sample);
}

void metrics_set_write(const metrics_set *set, uint64_t missing, kit_export *out) {
    for (guint i = 0; i < set->families->len; i++) {
        const family *f = set->families->pdata[i];
        write_head(out, f->name, f->help, f->unit);
        kit_export_bytes(out, f->samples->str, f->samples->len);
    }
    write_head(out, "tracemill_reports", "reports in this file", NULL);
    write_own(set, out, "tracemill_reports", NULL, set->reports);
    write_head(out, "tracemill_reports_missing",
               "reports that are not there because what makes them failed", NULL);
    write_own(set, out, "tracemill_reports_missing", NULL, missing);
    write_head(out, "tracemill_figures_left_out",
               "figures that are no samples here: not known, a text, or there already", NULL);
    for (int why = UNKNOWN; why < REASONS; why++)
        write_own(set, out, "tracemill_figures_left_out", reasons[why], set->left_out[why]);
    kit_export_text(out, "# EOF\n");
}
