/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that harm the process that loads them; HARM is what they do. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((unused)) static void die(void) {
    fprintf(stderr, "loading\nno GPU here\n");
    abort();
}

__attribute__((unused)) static void leave(void) {
    exit(3);
}

__attribute__((unused)) static void hang(void) {
    for (;;)
        pause();
}

__attribute__((constructor)) static void harm(void) {
    HARM();
}
