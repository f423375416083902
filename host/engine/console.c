/* SPDX-License-Identifier: Apache-2.0 */
/* What a run says on standard error while it is under way: log lines and progress. */
#include "engine/state.h"

#include <stdio.h>
#include <unistd.h>

#include "config/visible.h"
#include "isolate/peer.h"

#define LINE_EVERY_NS (10 * (int64_t)1000000000)
#define REDRAW_EVERY_NS (100 * (int64_t)1000000)
#define LINE_WIDTH 79

static struct {
    pthread_mutex_t lock;
    mill_level level;
    bool colour, terminal, drawn;
    int64_t began_ns, last_ns;
    console_fn divert; /* NULL: lines go to standard error */
    void *divert_arg;
} console = {.lock = PTHREAD_MUTEX_INITIALIZER, .level = MILL_INFO};

void console_init(const engine_options *options) {
    console.level = options->log_level;
    console.colour = options->colour;
    console.terminal = isatty(STDERR_FILENO) && g_strcmp0(g_getenv("TERM"), "dumb") != 0;
    console.began_ns = now_ns();
    console.last_ns = console.began_ns;
}

static void wipe(void) {
    if (console.drawn)
        fputs("\r\033[K", stderr);
    console.drawn = false;
}

void console_clear(void) {
    pthread_mutex_lock(&console.lock);
    wipe();
    pthread_mutex_unlock(&console.lock);
}

void console_log(const char *stage, const char *key, mill_level level, const char *text) {
    static const char *const names[] = {"error", "warning", "info", "debug"};
    static const char *const colours[] = {"\033[1;31m", "\033[1;33m", "", "\033[2m"};
    if (level > console.level || level > MILL_DEBUG)
        return;
    if (console.divert != NULL) {
        console.divert(console.divert_arg, stage, key, level, text);
        return;
    }
    /* Text from plugins and names of files go to a terminal. */
    g_autofree char *shown = visible(text), *shown_key = key != NULL ? visible(key) : NULL;
    pthread_mutex_lock(&console.lock);
    wipe();
    fprintf(stderr, "tracemill: %s%s%s: ", console.colour ? colours[level] : "", names[level],
            console.colour && *colours[level] != '\0' ? "\033[0m" : "");
    if (stage != NULL)
        fprintf(stderr, "[%s] ", stage);
    if (key != NULL && *key != '\0')
        fprintf(stderr, "%s: ", shown_key);
    fprintf(stderr, "%s\n", shown);
    pthread_mutex_unlock(&console.lock);
}

void console_divert(mill_level level, console_fn fn, void *arg) {
    console.level = level;
    console.divert = fn;
    console.divert_arg = arg;
}

void console_pass_on(const char *bytes, size_t n) {
    pthread_mutex_lock(&console.lock);
    wipe();
    fwrite(bytes, 1, n, stderr);
    pthread_mutex_unlock(&console.lock);
}

/* How far a run is, wherever it runs. */
static void add_progress(const run *r, uint64_t *done, uint64_t *total) {
    uint64_t more_done = __atomic_load_n(&r->done, __ATOMIC_RELAXED);
    uint64_t more_total = __atomic_load_n(&r->total, __ATOMIC_RELAXED);
    if (r->peer != NULL)
        peer_progress(r->peer, &more_done, &more_total);
    *done += more_done;
    *total += more_total;
}

/* "trace 3/16 (45 %), overlap 2/16" */
static void describe(const engine *e, GString *line) {
    for (unsigned i = 0; i < e->n_stages; i++) {
        const estage *s = &e->stages[i];
        uint64_t done = 0, total = 0;
        unsigned active = 0;
        for (guint k = 0; k < e->running->len; k++) {
            run *r = g_ptr_array_index(e->running, k);
            if (r->stage != s)
                continue;
            active++;
            add_progress(r, &done, &total);
        }
        if (active == 0)
            continue;
        g_string_append_printf(line, "%s%s", line->len > 0 ? ", " : "", s->plan->name);
        if (s->cells->len > 1)
            g_string_append_printf(line, " %u/%u", s->cells->len - s->cells_left, s->cells->len);
        if (total > 0)
            g_string_append_printf(line, " (%d %%)",
                                   (int)MIN(100, 100.0 * (double)done / (double)total));
    }
}

void console_progress(engine *e) {
    int64_t now = now_ns();
    int64_t every = console.terminal ? REDRAW_EVERY_NS : LINE_EVERY_NS;
    if (console.level < MILL_INFO || now - console.last_ns < every)
        return;
    console.last_ns = now;
    g_autoptr(GString) line = g_string_new(NULL);
    describe(e, line);
    int seconds = (int)((now - console.began_ns) / 1000000000);
    pthread_mutex_lock(&console.lock);
    if (console.terminal) {
        fprintf(stderr, "\r\033[K%.*s", LINE_WIDTH, line->str);
        fflush(stderr);
        console.drawn = true;
    } else if (line->len > 0) {
        fprintf(stderr, "tracemill: %d s: %s\n", seconds, line->str);
    }
    pthread_mutex_unlock(&console.lock);
}
