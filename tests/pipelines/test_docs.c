/* SPDX-License-Identifier: Apache-2.0 */
/* What the READMEs show works: pipelines in ```ini blocks are checked, command lines in ```sh
 * blocks are run, both with the bundled sample in place of the files that they name. And they tell
 * all there is: the options of each class. */
#include "program.h"

#include <cjson/cJSON.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <string.h>

#define FENCE "```"
#define FROM_TREE "^tracemill (?!.*--plugin-path)" /* what needs nothing but this tree */

/* Where the commands of a page run. */
static char *folder;

/* ---------------------------------------------------------------- blocks of a page */

typedef struct block {
    char *kind; /* what follows the opening fence */
    GString *text;
    unsigned line;
} block;

static void block_free(gpointer data) {
    block *b = data;
    g_free(b->kind);
    g_string_free(b->text, TRUE);
    g_free(b);
}

static GPtrArray *blocks_of(const char *page) {
    g_autofree char *path = program_source(page), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    GPtrArray *blocks = g_ptr_array_new_with_free_func(block_free);
    block *open = NULL;
    for (unsigned i = 0; lines[i] != NULL; i++) {
        bool fence = g_str_has_prefix(lines[i], FENCE);
        if (fence && open == NULL) {
            open = g_new0(block, 1);
            *open = (block){g_strdup(lines[i] + strlen(FENCE)), g_string_new(NULL), i + 1};
            g_strstrip(open->kind);
            g_ptr_array_add(blocks, open);
        } else if (fence) {
            open = NULL;
        } else if (open != NULL) {
            g_string_append_printf(open->text, "%s\n", lines[i]);
        }
    }
    if (open != NULL)
        g_error("%s:%u: the block is not closed", page, open->line);
    return blocks;
}

static bool matches(const char *text, const char *pattern) {
    return g_regex_match_simple(pattern, text, G_REGEX_MULTILINE, 0);
}

static bool is_pipeline(const block *b) {
    return strcmp(b->kind, "ini") == 0 && matches(b->text->str, "^\\[.+\\]") &&
           matches(b->text->str, "^use *=");
}

/* ---------------------------------------------------------------- the files that a page names */

static char *in_folder(const char *name) {
    return g_build_filename(folder, name, NULL);
}

/* What readers read in the place of a user's files. */
static const struct {
    const char *class, *name, *source;
} samples[] = {
    {"kineto\\.read", "sample.json.gz", "tests/data/sample.json.gz"},
    {"loads\\.read", "sample.csv", "etc/loads/history.csv"},
    {"balancedness\\.read", "sample.log", "tests/data/loads/serve.log"},
};

static void put_file(const char *name, const char *source) {
    g_autofree char *sample = program_source(source), *data = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(sample, &data, &size, NULL));
    g_autofree char *path = in_folder(name), *parent = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0755), ==, 0);
    g_assert_true(g_file_set_contents(path, data, (gssize)size, NULL));
}

static void put_sample(const char *name) {
    put_file(name, samples[0].source);
}

/* Puts the sample under the name of each profile that the command reads; "*" stands for 0. */
static void put_profiles(const char *line) {
    g_autoptr(GRegex) regex = g_regex_new("[\\w./*-]+\\.json\\.gz", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    for (g_regex_match(regex, line, 0, &match); g_match_info_matches(match);
         g_match_info_next(match, NULL)) {
        g_autofree char *name = g_match_info_fetch(match, 0);
        put_sample(g_strdelimit(name, "*", '0'));
    }
}

/* Sections whose class is a reader read its sample, unless they take the files of the command
 * line. */
static char *read_sample(const char *pipeline) {
    GString *over = g_string_new("[pipeline]\ninclude = block.ini\n");
    g_auto(GStrv) lines = g_strsplit(pipeline, "\n", -1);
    const char *section = NULL;
    for (char **line = lines; *line != NULL; line++) {
        if (**line == '[')
            section = *line;
        for (size_t i = 0; i < G_N_ELEMENTS(samples) && section != NULL; i++) {
            g_autofree char *use = g_strdup_printf("^use *= *%s\\b", samples[i].class);
            if (matches(*line, use) && strstr(pipeline, "${args}") == NULL)
                g_string_append_printf(over, "%s\npath = %s\n", section, samples[i].name);
        }
    }
    return g_string_free(over, FALSE);
}

static void put_pipeline(const block *b, const char *name) {
    for (size_t i = 0; i < G_N_ELEMENTS(samples); i++)
        put_file(samples[i].name, samples[i].source);
    g_autofree char *over = read_sample(b->text->str);
    g_autofree char *path = in_folder(name), *included = in_folder("block.ini");
    g_assert_true(g_file_set_contents(included, b->text->str, -1, NULL));
    g_assert_true(g_file_set_contents(path, over, -1, NULL));
}

/* The pipeline that a command of block i means: the one above, or else the first below. */
static const block *pipeline_for(const GPtrArray *blocks, guint i) {
    for (guint k = i; k-- > 0;)
        if (is_pipeline(blocks->pdata[k]))
            return blocks->pdata[k];
    for (guint k = i; k < blocks->len; k++)
        if (is_pipeline(blocks->pdata[k]))
            return blocks->pdata[k];
    return NULL;
}

static void put_pipelines(const GPtrArray *blocks, guint i, const char *line) {
    g_autoptr(GRegex) regex = g_regex_new("[\\w-]+\\.ini", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    if (!g_regex_match(regex, line, 0, &match))
        return;
    g_autofree char *name = g_match_info_fetch(match, 0);
    const block *b = pipeline_for(blocks, i);
    g_assert_nonnull(b);
    put_pipeline(b, name);
}

/* ---------------------------------------------------------------- checking */

/* What may be told of a pipeline that a page shows: warnings (a stanza to paste has no exporter),
 * and that a class is not there which is of acme, whoever writes plugins outside this tree. A
 * stanza, in which no reader is, may name stages that the page does not show. */
static bool may_be(const cJSON *problem, bool whole) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(problem, "text"));
    const char *level = cJSON_GetStringValue(cJSON_GetObjectItem(problem, "level"));
    return strcmp(level, "warning") == 0 || strstr(text, "use = \"acme.") != NULL ||
           (!whole && g_str_has_suffix(text, ": no such stage"));
}

static void check_pipeline(const char *page, const block *b) {
    put_pipeline(b, "page.ini");
    const char *words[] = {"tracemill", "check", "--json", "page.ini", NULL, NULL};
    if (strstr(b->text->str, "${args}") != NULL)
        words[4] = "sample.json.gz";
    g_auto(outcome) o = program_run(folder, words, NULL);
    cJSON *json = cJSON_Parse(o.out);
    if (json == NULL)
        g_error("%s:%u: check says: %s", page, b->line, o.err);
    bool whole = matches(b->text->str, "^use *= *\\S+\\.read\\b");
    const cJSON *one;
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(json, "problems")) {
        if (!may_be(one, whole))
            g_error("%s:%u: the pipeline there is wrong: %s", page, b->line,
                    cJSON_GetStringValue(cJSON_GetObjectItem(one, "text")));
    }
    cJSON_Delete(json);
}

static void run_line(const char *page, const GPtrArray *blocks, guint i, const char *line) {
    const block *b = blocks->pdata[i];
    put_profiles(line);
    put_pipelines(blocks, i, line);
    g_auto(GStrv) env = program_environment();
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)line, NULL};
    g_auto(outcome) o = program_spawn(folder, env, argv);
    if (o.exit_code != 0)
        g_error("%s:%u: \"%s\" ends with %d: %s", page, b->line, line, o.exit_code, o.err);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st, (void)kind, (void)at;
    return g_remove(path);
}

static void test_page(gconstpointer data) {
    const char *page = data;
    folder = g_dir_make_tmp("tracemill-docs-XXXXXX", NULL);
    g_autoptr(GPtrArray) blocks = blocks_of(page);
    for (guint i = 0; i < blocks->len; i++) {
        const block *b = blocks->pdata[i];
        if (is_pipeline(b))
            check_pipeline(page, b);
        g_auto(GStrv) lines = g_strsplit(b->text->str, "\n", -1);
        for (char **line = lines; strcmp(b->kind, "sh") == 0 && *line != NULL; line++)
            if (matches(*line, FROM_TREE))
                run_line(page, blocks, i, *line);
    }
    g_assert_cmpint(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), ==, 0);
    g_clear_pointer(&folder, g_free);
}

/* ---------------------------------------------------------------- ready pipelines */

static void set(GPtrArray *words, const char *variable, const char *value) {
    g_ptr_array_add(words, g_strdup("--set"));
    g_ptr_array_add(words, g_strdup_printf("vars.%s=%s", variable, value));
}

/* A page tells which files its pipeline writes, in lines such as "; run.sqlite   profiles, …". */
static void check_written(const char *text) {
    g_autoptr(GRegex) regex =
        g_regex_new("^; ([\\w.]+(?:/|\\.\\w+))  +\\w", G_REGEX_MULTILINE, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    int n = 0;
    for (g_regex_match(regex, text, 0, &match); g_match_info_matches(match);
         g_match_info_next(match, NULL), n++) {
        g_autofree char *told = g_match_info_fetch(match, 1);
        g_auto(GStrv) parts = g_strsplit(told, "ITEM", -1);
        g_autofree char *name = g_strjoinv("sample.json.gz", parts);
        g_autofree char *path = in_folder(name);
        if (!g_file_test(path, G_FILE_TEST_EXISTS))
            g_error("the pipeline writes no %s, but says so", name);
    }
    g_assert_cmpint(n, >, 0);
}

/* Each can be used as it is, with nothing but a file; one that compares needs another beside it,
 * one of experts brings an example. */
static void test_ready(gconstpointer data) {
    g_autofree char *name = g_strndup(data, strlen(data) - strlen(".ini"));
    g_autofree char *here = program_source("tests/data");
    g_autofree char *file = g_build_filename("etc/pipelines", data, NULL);
    g_autofree char *path = program_source(file), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    for (const char *const *word = (const char *[]){"tracemill", "run", name, NULL}; *word; word++)
        g_ptr_array_add(words, g_strdup(*word));
    folder = g_dir_make_tmp("tracemill-ready-XXXXXX", NULL);
    if (strstr(text, "${args}") != NULL)
        g_ptr_array_add(words, g_strdup("sample.json.gz"));
    if (strstr(text, "${base}") != NULL)
        set(words, "base", "sample.json.gz");
    g_autofree char *page = in_folder("page.html");
    if (strstr(text, "${page}") != NULL)
        set(words, "page", page);
    if (strstr(text, "${out}") != NULL)
        set(words, "out", folder);
    g_ptr_array_add(words, NULL);
    g_auto(outcome) o = program_run(here, (const char *const *)words->pdata, NULL);
    g_assert_cmpstr(o.err, ==, "");
    g_assert_cmpint(o.exit_code, ==, 0);
    g_assert_cmpstr(o.out, !=, "");
    g_assert_true(g_file_test(page, G_FILE_TEST_EXISTS) == (strstr(text, "${page}") != NULL));
    if (strstr(text, "${out}") != NULL)
        check_written(text);
    g_assert_cmpint(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), ==, 0);
    g_clear_pointer(&folder, g_free);
}

/* ---------------------------------------------------------------- options */

static cJSON *told(const char *const *words) {
    g_autofree char *here = program_source("tests/data");
    g_auto(outcome) o = program_run(here, words, NULL);
    cJSON *json = cJSON_Parse(o.out);
    if (json == NULL)
        g_error("tracemill %s says: %s", words[1], o.err);
    return json;
}

static void check_options(const char *page, const char *text, const char *class) {
    const char *words[] = {"tracemill", "inspect", class, "--json", NULL};
    cJSON *json = told(words), *option;
    g_assert_cmpint(cJSON_GetArraySize(cJSON_GetObjectItem(json, "options")), >, 0);
    cJSON_ArrayForEach(option, cJSON_GetObjectItem(json, "options")) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(option, "name"));
        g_autofree char *pattern = g_strdup_printf("`%s(`| = )", name);
        if (!matches(text, pattern))
            g_error("%s does not tell the option \"%s\" of %s", page, name, class);
    }
    cJSON_Delete(json);
}

/* The page beside a module's sources tells all options of the module's classes. */
static void test_options(void) {
    const char *words[] = {"tracemill", "list", "--json", NULL};
    cJSON *json = told(words), *module, *class;
    int n = 0;
    cJSON_ArrayForEach(module, cJSON_GetObjectItem(json, "modules")) {
        const char *path = cJSON_GetStringValue(cJSON_GetObjectItem(module, "path"));
        if (!g_str_has_prefix(path, "BUILD/plugins/"))
            continue; /* of the tests' own */
        g_autofree char *in = g_path_get_dirname(path + strlen("BUILD/")), *text = NULL;
        g_autofree char *page = g_build_filename(in, "README.md", NULL);
        g_autofree char *full = program_source(page);
        g_assert_true(g_file_get_contents(full, &text, NULL, NULL));
        cJSON_ArrayForEach(class, cJSON_GetObjectItem(module, "classes")) {
            check_options(page, text, cJSON_GetStringValue(class));
            n++;
        }
    }
    g_assert_cmpint(n, >, 0);
    cJSON_Delete(json);
}

static void add_pages(GPtrArray *pages, const char *parent, unsigned depth) {
    g_autofree char *path = program_source(parent);
    g_auto(GStrv) names = names_in(path, "");
    for (char **name = names; *name != NULL; name++) {
        g_autofree char *below = g_build_filename(parent, *name, NULL);
        g_autofree char *real = program_source(below);
        if (depth > 0 && g_file_test(real, G_FILE_TEST_IS_DIR))
            add_pages(pages, below, depth - 1);
        else if (strcmp(*name, "README.md") == 0)
            g_ptr_array_add(pages, g_steal_pointer(&below));
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_autoptr(GPtrArray) pages = g_ptr_array_new_with_free_func(g_free);
    add_pages(pages, "", 0);
    add_pages(pages, "plugins", 2);
    add_pages(pages, "sdk", 0);
    for (guint i = 0; i < pages->len; i++) {
        g_autofree char *path = g_strconcat("/docs/", pages->pdata[i], NULL);
        g_test_add_data_func(path, pages->pdata[i], test_page);
    }
    g_test_add_func("/docs/options", test_options);
    g_autofree char *ready = program_source("etc/pipelines");
    g_auto(GStrv) files = names_in(ready, ".ini");
    for (char **file = files; *file != NULL; file++) {
        g_autofree char *path = g_strconcat("/ready/", *file, NULL);
        g_test_add_data_func(path, *file, test_ready);
    }
    return g_test_run();
}
