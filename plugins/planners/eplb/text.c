/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences in a run's scratch memory. */
#include "text.h"

const char *ep_text(mill_run *run, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = mill_scratch(run, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
