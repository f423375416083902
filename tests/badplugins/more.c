/* SPDX-License-Identifier: Apache-2.0 */
/* A library that needs another one, libacme. */
#include <stddef.h>

int acme_start(const void *host);
__attribute__((visibility("default"))) int acme_more(void);

int acme_more(void) {
    return acme_start(NULL);
}
