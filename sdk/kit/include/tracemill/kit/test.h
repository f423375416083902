/* SPDX-License-Identifier: Apache-2.0 */
/* The test harness: runs one stage class alone, with given inputs and options, and holds it to the
 * contract of the ABI.
 *
 *     kit_test *t = kit_test_open("build/acme-busy.so", "acme.busy");
 *     kit_test_option(t, "top = 5");
 *     kit_test_input(t, "trace", MILL_TYPE_TRACE, make_trace(kit_test_maker(t)));
 *     KIT_EXPECT_OK(t);
 *     const mill_report *report = kit_test_report(t, "report", 0);
 *     KIT_EXPECT_INT(kit_test_cell(report, "devices", 0, "busy").i, 35500);
 *     kit_test_destroy(t);
 *     return kit_test_result();
 *
 * Link it with the pkg-config module tracemill-test. A mistake of the test itself (no such class,
 * option or port) ends the program with a message and exit code 99, which meson shows as an error.
 * Not for use by several threads at a time.
 *
 * One kit_test_run is many lives of the class: as asked, once more, the items in the reverse order
 * and each alone, with more threads, cancelled at each of its questions, with a disk that becomes
 * full, and a few times to see whether something is left. Whatever a plugin may not do is a breach,
 * told in a sentence, and makes the status MILL_E_PLUGIN.
 */
#ifndef TRACEMILL_KIT_TEST_H
#define TRACEMILL_KIT_TEST_H

#include <tracemill/report.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kit_test kit_test;

/* ---------------------------------------------------------------- a class to test */

/* A module that is linked into the test program: `&mill_module_v1`. */
kit_test *kit_test_create(const mill_module *module, const char *stage);
/* A module by the path of its file, loaded as the host does. It stays loaded. */
kit_test *kit_test_open(const char *path, const char *stage);
/* Ends all values that were made or posted. NULL is allowed. */
void kit_test_destroy(kit_test *t);

/* ---------------------------------------------------------------- what it is given */

/* Sets an option as in an INI file: "top = 5"; several lines for a list. What a user could not
 * write either makes kit_test_run return MILL_E_CONFIG, with a cause. There are no variables but
 * ${env:X}, ${tracemill:data}, and ${item} where the option may hold it. */
void kit_test_option(kit_test *t, const char *setting);
/* What ${tracemill:data} stands for, which many defaults hold; else it is the installed folder. */
void kit_test_data(kit_test *t, const char *folder);

/* A run to build values with (the kit's builders, mill_value_alloc). They live until
 * kit_test_destroy, and are watched: a stage that writes to them, or uses them when it may no more,
 * is found. */
mill_run *kit_test_maker(kit_test *t);

/* Adds a value to an input port of the item at hand. A value of one's own making or another test's
 * output is as good as one of the maker's; it must outlive the test. A port of mill.report/1 takes
 * any type of the module that has to_report, as in the host. */
void kit_test_input(kit_test *t, const char *port, const char *type, const void *data);
/* The same with the stage that posted it, and its key, as a MANY or STREAM port is told them. */
void kit_test_input_from(kit_test *t, const char *port, const char *type, const void *data,
                         const char *stage, const char *key);
/* A value that a MANY or STREAM port will not get, since what makes it failed. */
void kit_test_missing(kit_test *t, const char *port, const char *stage, const char *key);

/* Begins one more item: what follows is given to its run only. What came before the first item is
 * given to every run. Without items there is one run, with the key "". The class's STREAM port
 * takes one value an item. */
void kit_test_item(kit_test *t, const char *key);
/* The same with the file that the option with the flag GLOB holds in this run. */
void kit_test_file(kit_test *t, const char *key, const char *path);

/* Checks that kit_test_run leaves out. */
#define KIT_TEST_AGAIN 1u   /* a second life gives the same */
#define KIT_TEST_ORDER 2u   /* items in the reverse order, and alone, give the same */
#define KIT_TEST_THREADS 4u /* more threads give the same */
#define KIT_TEST_CANCEL 8u  /* it ends when it is cancelled */
#define KIT_TEST_DISK 16u   /* it fails when nothing more can be written */
#define KIT_TEST_LEAKS 32u  /* it leaves no memory and no open file */
#define KIT_TEST_TYPES 64u  /* values of its own types can be shown, saved and loaded */
#define KIT_TEST_ALL 127u
void kit_test_without(kit_test *t, uint32_t checks);

/* ---------------------------------------------------------------- the run */

/* MILL_OK; or MILL_E_PLUGIN if there were breaches; or what the class failed with. */
mill_status kit_test_run(kit_test *t);

/* The chain of causes, outermost first, in lines; "" if there is none. All texts below live until
 * the next run. */
const char *kit_test_causes(const kit_test *t);
/* Breaches of the contract, one a line; "" if there are none. */
const char *kit_test_breaches(const kit_test *t);
/* What was logged: "warning: …", in lines. */
const char *kit_test_log(const kit_test *t);

/* What was posted on an output port: value i, in the order of posting; NULL: there is none. The key
 * is that of the host: the item's, with the sub-key of an emitted one. */
size_t kit_test_count(const kit_test *t, const char *port);
const void *kit_test_output(const kit_test *t, const char *port, size_t i);
const char *kit_test_key(const kit_test *t, const char *port, size_t i);
/* The same as a report: the value itself, or what to_report of its type makes of it. */
const mill_report *kit_test_report(kit_test *t, const char *port, size_t i);

/* Bytes that were written to a path and kept ("-": standard output), with a NUL behind them, or
 * NULL: not opened, or dropped because of a failure. No file is made. */
const char *kit_test_written(kit_test *t, const char *path, size_t *ret_length);

/* ---------------------------------------------------------------- reports */

/* What is not in the report is counted as a failed check, and gives unknown: NULL, MILL_UNKNOWN or
 * NaN. scope NULL: the figure that has none. */
mill_datum kit_test_figure(const mill_report *report, const char *id, const char *scope);
mill_datum kit_test_cell(const mill_report *report, const char *table, uint64_t row,
                         const char *column);
/* NULL: it has no such table, note or finding. */
const mill_table *kit_test_table(const mill_report *report, const char *id);
const mill_note *kit_test_note(const mill_report *report, const char *id);
const mill_finding *kit_test_finding(const mill_report *report, const char *id);
/* The whole report in lines, for a comparison with a stored text. The caller frees it. */
char *kit_test_dump(const mill_report *report);

/* ---------------------------------------------------------------- expectations */

/* Each counts as a check, and prints what was expected to standard error if it fails. */
#define KIT_EXPECT(condition) kit_test_expect((condition), #condition, __FILE__, __LINE__)
#define KIT_EXPECT_INT(value, expected)                                                            \
    kit_test_expect_int((value), (expected), #value, __FILE__, __LINE__)
#define KIT_EXPECT_REAL(value, expected, tolerance)                                                \
    kit_test_expect_real((value), (expected), (tolerance), #value, __FILE__, __LINE__)
#define KIT_EXPECT_TEXT(value, expected)                                                           \
    kit_test_expect_text((value), (expected), #value, __FILE__, __LINE__)
/* Runs the test: it ends well. */
#define KIT_EXPECT_OK(t) kit_test_expect_run((t), MILL_OK, "", __FILE__, __LINE__)
/* Runs the test: it ends with this status, without a breach, and the outermost cause holds the
 * text. */
#define KIT_EXPECT_FAILURE(t, status, text)                                                        \
    kit_test_expect_run((t), (status), (text), __FILE__, __LINE__)

bool kit_test_expect(bool good, const char *what, const char *file, int line);
bool kit_test_expect_int(int64_t value, int64_t expected, const char *what, const char *file,
                         int line);
bool kit_test_expect_real(double value, double expected, double tolerance, const char *what,
                          const char *file, int line);
bool kit_test_expect_text(const char *value, const char *expected, const char *what,
                          const char *file, int line);
bool kit_test_expect_run(kit_test *t, mill_status status, const char *cause, const char *file,
                         int line);

/* Prints how many checks passed, and returns what main returns: 0, or 1 if one failed or there was
 * none. */
int kit_test_result(void);

#ifdef __cplusplus
}
#endif
#endif
