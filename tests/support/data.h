/* SPDX-License-Identifier: Apache-2.0 */
/* Real profiles, and right values computed by other means, for the tests of the suite "data". */
#ifndef TRACEMILL_TESTS_DATA_H
#define TRACEMILL_TESTS_DATA_H

#include "bench_host.h"

#include <cjson/cJSON.h>

/* The folder of both, or NULL: the test is then marked as skipped. */
const char *data_folder(void);

/* A file of that folder. */
cJSON *data_json(const char *folder, const char *name);

/* What an object must have. cJSON's numbers are doubles, which hold integers exactly below 2^53. */
const cJSON *data_field(const cJSON *object, const char *name);
int64_t data_integer(const cJSON *object, const char *name);

/* Reads a profile by the bundled rules for kernels' names alone, since that is what the right
 * values rest on. It is the output `trace` of the bench, which the caller destroys. */
bench *data_read(const char *path);

/* What a class says of a profile, with the attribution of its activities. */
typedef struct data_report {
    bench *reader, *attribution, *analyzer;
    const mill_report *report;
} data_report;

/* module: "gaps"; settings: options of the class, NULL-terminated. The class has the inputs `trace`
 * and `attribution`. */
void data_report_init(data_report *r, const char *path, const char *module, const char *class,
                      const char *const *settings);
void data_report_finish(data_report *r);

#endif
