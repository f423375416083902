/* SPDX-License-Identifier: Apache-2.0 */
/* What a callback prints to standard output, which is for results: it is caught in a file in
 * memory, and printed when the callback has returned. */
#include "private.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int caught = -1, outside = -1;

static void copy(int to) {
    char buffer[4096];
    off_t at = 0;
    ssize_t n;
    while ((n = pread(caught, buffer, sizeof buffer, at)) > 0) {
        if (write(to, buffer, (size_t)n) < 0)
            return;
        at += n;
    }
}

void kt_output_catch(void) {
    fflush(stdout);
    caught = memfd_create("standard output", MFD_CLOEXEC);
    outside = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (caught < 0 || outside < 0 || dup2(caught, STDOUT_FILENO) < 0)
        kt_mistake("standard output can't be put aside");
}

bool kt_output_release(char *ret_words, size_t size) {
    if (caught < 0)
        return false;
    fflush(stdout);
    dup2(outside, STDOUT_FILENO);
    ssize_t n = pread(caught, ret_words, size - 1, 0);
    copy(STDOUT_FILENO);
    close(caught);
    close(outside);
    caught = outside = -1;
    ret_words[n > 0 ? n : 0] = '\0';
    return n > 0;
}

void kt_output_rescue(void) {
    if (caught >= 0)
        copy(STDERR_FILENO);
}
