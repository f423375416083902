/* SPDX-License-Identifier: Apache-2.0 */
/* Output: files that appear whole or not at all, and standard output in its order. */
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rig.h"

#define READ "[r]\nuse = flow.read\npath = r*\n"
#define WRITE(PATH) READ "[w]\nuse = flow.write\nin = r\npath = " PATH "\n"

static void set_up(void) {
    rig_clean();
    rig_files("r%d", 1, 3);
}

static void check_file(const char *name, const char *content) {
    g_autofree char *found = rig_read(name);
    g_assert_cmpstr(found, ==, content);
}

/* Nothing but these: no temporary file is left. */
static void check_names(const char *names) {
    g_autofree char *found = rig_names();
    g_assert_cmpstr(found, ==, names);
}

static void test_files(void) {
    set_up();
    rig_prints(WRITE("out-${item}.txt"), 0, "");
    check_file("out-1.txt", "write(1)\n");
    check_file("out-3.txt", "write(3)\n");
    check_names("out-1.txt out-2.txt out-3.txt r1 r2 r3 test.ini ");
}

static void test_folders(void) {
    set_up();
    rig_prints(WRITE("a/${item}/b/out"), 0, "");
    check_file("a/2/b/out", "write(2)\n");
}

/* One file of a stage that goes on in it with each run. */
static void test_one_file(void) {
    set_up();
    rig_prints(READ "[s]\nuse = flow.sink\nin = r\npath = out\n", 0, "");
    check_file("out", "sink(r:1=1)\nsink(r:2=2)\nsink(r:3=3)\nend of 3\n");
}

static void test_failed_run(void) {
    set_up();
    rig_file("out", "before");
    rig_prints(READ "[s]\nuse = flow.spoil\nin = r\npath = out\n"
                    "[t]\nuse = flow.spoil\nin = r\npath = new\n",
               0, "");
    check_file("out", "sink(r:1=1)\nsink(r:2=2)\nsink(r:3=3)\nend of 0\n");
    rig_file("out", "before");
    g_remove("new");
    /* The keys of a stream's runs are those of its items. */
    rig_prints(READ "[s]\nuse = flow.spoil\nin = r\npath = out\nfail = 2\n"
                    "[t]\nuse = flow.spoil\nin = r\npath = new\nfail = 3\n"
                    "[u]\nuse = flow.spoil\nin = r\nfail = 1\n",
               65, "");
    check_file("out", "before");
    check_names("out r1 r2 r3 test.ini ");
}

static void test_same_path(void) {
    set_up();
    rig_fails(WRITE("out"), MILL_E_CONFIG, "out is written by [w] for the item \"");
    rig_fails(READ "[s]\nuse = flow.sink\nin = r\npath = out\n"
                   "[t]\nuse = flow.list\nin = r\npath = ./x/../out\n",
              MILL_E_CONFIG, "is written by [");
    /* Folders may have several names, also where the file is not there yet. */
    g_assert_cmpint(g_mkdir("real", 0777), ==, 0);
    g_assert_cmpint(symlink("real", "link"), ==, 0);
    rig_fails(READ "[s]\nuse = flow.sink\nin = r\npath = real/new/out\n"
                   "[t]\nuse = flow.list\nin = r\npath = link/new/out\n",
              MILL_E_CONFIG, "is written by [");
}

static void test_symbolic_link(void) {
    set_up();
    g_assert_cmpint(g_mkdir("real", 0755), ==, 0);
    rig_file("real/file", "before");
    g_assert_cmpint(symlink("real/file", "out"), ==, 0);
    rig_prints(READ "[s]\nuse = flow.list\nin = r\npath = out\n", 0, "");
    g_assert_true(g_file_test("out", G_FILE_TEST_IS_SYMLINK));
    check_file("real/file", "sink(r:1=1;r:2=2;r:3=3)\n");
}

static void test_unwritable(void) {
    set_up();
    rig_fails(READ "[s]\nuse = flow.sink\nin = r\npath = .\n", MILL_E_IO,
              "cannot write .: Is a dir");
    rig_fails(READ "[s]\nuse = flow.sink\nin = r\npath = r1/out\n", MILL_E_IO,
              "cannot write r1/out: ");
    rig_fails(READ "[s]\nuse = flow.sink\nin = r\npath = /dev/full\n", MILL_E_IO,
              "cannot write /dev/full: No space left on device");
    check_names("r1 r2 r3 test.ini ");
}

/* Written as it is, by as many as like. */
static void test_device(void) {
    set_up();
    rig_prints(WRITE("/dev/null") "[s]\nuse = flow.sink\nin = r\npath = /dev/null\n", 0, "");
    struct stat status;
    g_assert_cmpint(stat("/dev/null", &status), ==, 0);
    g_assert_true(S_ISCHR(status.st_mode));
}

static gpointer read_pipe(gpointer name) {
    return rig_read(name);
}

static void test_pipe(void) {
    set_up();
    g_assert_cmpint(mkfifo("pipe", 0600), ==, 0);
    GThread *reader = g_thread_new("reader", read_pipe, (gpointer) "pipe");
    g_auto(rig_result) r = rig_run(READ "[s]\nuse = flow.list\nin = r\npath = pipe\n", 2);
    g_autofree char *got = g_thread_join(reader);
    g_assert_cmpint(r.exit_code, ==, 0);
    g_assert_cmpstr(got, ==, "sink(r:1=1;r:2=2;r:3=3)\n");
    struct stat status;
    g_assert_cmpint(stat("pipe", &status), ==, 0);
    g_assert_true(S_ISFIFO(status.st_mode));
}

/* Opened once, written to in every run; a failure is of the run that met it. */
static void test_kept_open(void) {
    set_up();
    rig_prints(READ "[k]\nuse = works.kept\nin = r\npath = out\n", 0, "");
    check_file("out", "123");
    rig_fails(READ "[k]\nuse = works.kept\nin = r\npath = /dev/full\nonly = 2\n", MILL_E_IO,
              "[k] 2 E_IO: cannot write /dev/full: No space left on device");
}

/* What `finish` writes would depend on the number of instances. */
static void test_outside_of_run(void) {
    set_up();
    rig_fails(READ "[s]\nuse = works.stray\nin = r\npath = out\n", MILL_E_PLUGIN,
              "opened a file outside of `run`, though its runs are shared out among instances");
}

/* ---------------------------------------------------------------- standard output */

/* By stage in the order of the file, then by key, whatever ends first. */
/* More files of one instance than a process may have open. */
static void test_many_files(void) {
    struct rlimit before, few = {.rlim_cur = 64, .rlim_max = 64};
    rig_clean();
    rig_files("r%d", 1, 200);
    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
    few.rlim_max = before.rlim_max;
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
    g_auto(rig_result) r = rig_run(READ "[s]\nuse = flow.sink\nin = r\npath = out-${item}\n", 2);
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
    g_assert_cmpstr(r.failures, ==, "");
    check_file("out-1", "sink(r:1=1)\n");
    check_file("out-199", "sink(r:199=199)\n");
}

/* What is read can't be written, whatever it is called. */
static void test_output_is_input(void) {
    set_up();
    rig_file("r2", "precious");
    g_assert_cmpint(link("r2", "other-name"), ==, 0);
    rig_fails(READ "[s]\nuse = flow.sink\nin = r\npath = other-name\n", MILL_E_CONFIG,
              "other-name is read by this pipeline");
    check_file("r2", "precious");
    rig_fails(READ "[s]\nuse = flow.sink\nin = r\npath = ./test.ini\n", MILL_E_CONFIG,
              "./test.ini is read by this pipeline");
    rig_file("site.ini", "[vars]\nx = 1\n");
    rig_fails("[pipeline]\ninclude = site.ini\n" READ
              "[s]\nuse = flow.sink\nin = r\npath = site.ini\n",
              MILL_E_CONFIG, "site.ini is read by this pipeline");
    rig_file("rules.txt", "[a]\nb = 1\n");
    rig_fails("[w]\nuse = works.absent\nonly = ini\npath = rules.txt\n" READ
              "[s]\nuse = flow.sink\nin = r\npath = ./rules.txt\n",
              MILL_E_CONFIG, "rules.txt is read by this pipeline");
}

static void test_order(void) {
    set_up();
    rig_prints(READ
               "[late]\nuse = flow.map\nin = r\nnap = 8ms\n"
               "[w]\nuse = flow.write\nin = late\ntag = w\n"
               "[s]\nuse = flow.sink\nin = r\ntag = s\n[x]\nuse = flow.write\nin = r\ntag = x\n",
               0,
               "w(map(1))\nw(map(2))\nw(map(3))\ns(r:1=1)\ns(r:2=2)\ns(r:3=3)\nend of 3\n"
               "x(1)\nx(2)\nx(3)\n");
}

/* More than is kept in memory. */
static void test_much(void) {
    set_up();
    const char *ini = READ "[s]\nuse = works.kept\nin = r\nonly = 1\n"
                           "[t]\nuse = works.kept\nin = r\nonly = 3\n";
    g_auto(rig_process) p = rig_program(ini, "--jobs 2", 0, 0);
    g_assert_cmpint(p.exit_code, ==, 0);
    g_assert_cmpuint(strspn(p.out, "x"), ==, 10 << 20);
    const char *second = p.out + (10 << 20);
    g_assert_true(g_str_has_prefix(second, "2312xx"));
    g_assert_cmpuint(strlen(second), ==, 4 + (10 << 20));
}

static void test_full(void) {
    set_up();
    g_auto(rig_process) p = rig_program(WRITE("-"), ">/dev/full", 0, 0);
    g_assert_cmpint(p.exit_code, ==, 74);
    g_assert_nonnull(strstr(p.err, "cannot write standard output: No space left on device"));
}

static void test_json(void) {
    set_up();
    g_auto(rig_process) p =
        rig_program(READ "[m]\nuse = flow.map\nin = r\nfail = 2\n[w]\nuse = flow.write\nin = m\n",
                    "--json", 0, 0);
    g_assert_cmpint(p.exit_code, ==, 65);
    cJSON *json = cJSON_Parse(p.out);
    g_assert_nonnull(json);
    const cJSON *output = cJSON_GetObjectItem(json, "output");
    g_assert_cmpint(cJSON_GetArraySize(output), ==, 2);
    const cJSON *second = cJSON_GetArrayItem(output, 1);
    g_assert_cmpstr(cJSON_GetStringValue(cJSON_GetObjectItem(second, "item")), ==, "3");
    g_assert_cmpstr(cJSON_GetStringValue(cJSON_GetObjectItem(second, "text")), ==,
                    "write(map(3))\n");
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "failures"), 0);
    g_assert_cmpstr(cJSON_GetStringValue(cJSON_GetObjectItem(first, "status")), ==, "E_DATA");
    g_assert_cmpint(cJSON_GetNumberValue(cJSON_GetObjectItem(json, "exit")), ==, 65);
    cJSON_Delete(json);
}

int main(int argc, char **argv) {
    rig_init(&argc, &argv);
    g_test_add_func("/files/committed", test_files);
    g_test_add_func("/files/folders", test_folders);
    g_test_add_func("/files/one", test_one_file);
    g_test_add_func("/files/failed-run", test_failed_run);
    g_test_add_func("/files/same-path", test_same_path);
    g_test_add_func("/files/symbolic-link", test_symbolic_link);
    g_test_add_func("/files/unwritable", test_unwritable);
    g_test_add_func("/files/device", test_device);
    g_test_add_func("/files/pipe", test_pipe);
    g_test_add_func("/files/kept-open", test_kept_open);
    g_test_add_func("/files/outside-of-run", test_outside_of_run);
    g_test_add_func("/files/many", test_many_files);
    g_test_add_func("/files/output-is-input", test_output_is_input);
    g_test_add_func("/stdout/order", test_order);
    g_test_add_func("/stdout/much", test_much);
    g_test_add_func("/stdout/full", test_full);
    g_test_add_func("/stdout/json", test_json);
    return rig_finish();
}
