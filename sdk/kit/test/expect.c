/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: each is counted, and says what it missed. */
#include "private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned passed, failed;

bool kit_test_expect(bool good, const char *what, const char *file, int line) {
    if (good) {
        passed++;
        return true;
    }
    failed++;
    if (file)
        fprintf(stderr, "%s:%d: ", file, line);
    fprintf(stderr, "FAILED: %s\n", what);
    return false;
}

MILL_PRINTF(4, 5)
static bool expect(bool good, const char *file, int line, const char *format, ...) {
    char words[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    return kit_test_expect(good, words, file, line);
}

bool kit_test_expect_int(int64_t value, int64_t expected, const char *what, const char *file,
                         int line) {
    return expect(value == expected, file, line, "%s is %" PRId64 ", expected %" PRId64, what,
                  value, expected);
}

bool kit_test_expect_real(double value, double expected, double tolerance, const char *what,
                          const char *file, int line) {
    bool good = fabs(value - expected) <= tolerance || (isnan(value) && isnan(expected));
    return expect(good, file, line, "%s is %.17g, expected %.17g", what, value, expected);
}

bool kit_test_expect_text(const char *value, const char *expected, const char *what,
                          const char *file, int line) {
    bool good = value && expected ? strcmp(value, expected) == 0 : value == expected;
    return expect(good, file, line, "%s is \"%s\", expected \"%s\"", what, value ? value : "(none)",
                  expected ? expected : "(none)");
}

bool kit_test_expect_run(kit_test *t, mill_status status, const char *cause, const char *file,
                         int line) {
    mill_status is = kit_test_run(t);
    const char *causes = kit_test_causes(t), *found = strstr(causes, cause);
    bool outermost = found && found + strlen(cause) <= causes + strcspn(causes, "\n");
    if (*kit_test_breaches(t))
        return expect(false, file, line, "%s breaks the contract:\n%s", t->stage->name,
                      kit_test_breaches(t));
    if (is != status)
        return expect(false, file, line, "%s ends with %s, expected %s: %s", t->stage->name,
                      kt_status_name(is), kt_status_name(status), causes);
    return expect(outermost, file, line, "the cause is \"%s\", expected one with \"%s\"", causes,
                  cause);
}

int kit_test_result(void) {
    printf("%u checks passed, %u failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
