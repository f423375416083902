/* SPDX-License-Identifier: Apache-2.0 */
/* The probe: both ends of the pipe between the host and the child that loads modules first. */
#include "module/probe.h"

#include "module/load.h"
#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/bytes.h"

#define ANSWER_FD 3
#define MAX_ANSWER (1u << 20) /* bytes; the largest honest answer is a few thousand */
#define MAX_WORDS 4096u       /* bytes kept of what a module prints */

/* ---------------------------------------------------------------- the child */

bool probe_requested(int argc, char **argv) {
    return argc > 1 && strcmp(argv[1], PROBE_ARG) == 0;
}

/* Tells the parent that what is printed from here on belongs to the next module. */
static bool begin_words(void) {
    fflush(NULL);
    return bytes_write(STDERR_FILENO, "", 1);
}

static bool answer(const module *m) {
    cJSON *json = module_to_json(m);
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    bool ok = text && bytes_write(ANSWER_FD, text, strlen(text)) && bytes_write(ANSWER_FD, "\n", 1);
    cJSON_free(text);
    return ok;
}

/* What the child is at. Told before each step but the first, so that the parent knows where a
 * module that ends the process did so. */
static const struct {
    const char *line, *where;
} steps[] = {
    {"!load", "while loading"},
    {"!tables", "as its tables were read: do `stages` and `types` end with NULL, and options and "
                "ports with {.name = NULL}?"},
    {"!init", "in its init"},
};
enum { STEP_LOAD, STEP_TABLES, STEP_INIT, STEPS };

static bool begin_step(int step) {
    const char *line = steps[step].line;
    return bytes_write(ANSWER_FD, line, strlen(line)) && bytes_write(ANSWER_FD, "\n", 1);
}

static bool try_module(module *m, const mill_host *host) {
    const mill_module *exports = load_file(m);
    if (exports && begin_step(STEP_TABLES) && load_tables(m, exports) && host &&
        begin_step(STEP_INIT) && load_init(m, host))
        load_fini(m);
    return answer(m);
}

int probe_child(int argc, char **argv, const mill_host *host) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    for (int i = 2; i < argc; i++) {
        g_autoptr(module) m = module_create(argv[i]);
        if (!begin_words())
            return 70;
        if (!try_module(m, host))
            return 70;
    }
    _exit(0); /* the modules' destructors are no part of the question */
}

/* ---------------------------------------------------------------- the parent */

typedef struct child {
    GPid pid;
    int answers, words; /* read ends; non-blocking */
    GString *answer;    /* read but not yet taken */
    GString *said;      /* the end of what the module in hand has printed */
    int step;           /* at which the module in hand is */
    bool late;          /* did not answer in time */
} child;

static bool child_start(child *c, GPtrArray *modules, guint from, GError **error) {
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, (char *)"/proc/self/exe");
    g_ptr_array_add(argv, (char *)PROBE_ARG);
    for (guint i = from; i < modules->len; i++)
        g_ptr_array_add(argv, ((module *)modules->pdata[i])->path);
    g_ptr_array_add(argv, NULL);

    int answers[2], words[2];
    if (!g_unix_open_pipe(answers, FD_CLOEXEC, error))
        return false;
    if (!g_unix_open_pipe(words, FD_CLOEXEC, error)) {
        close(answers[0]);
        close(answers[1]);
        return false;
    }
    int target = ANSWER_FD;
    bool ok = g_spawn_async_with_pipes_and_fds(
        NULL, (const char *const *)argv->pdata, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, -1,
        words[1], words[1], &answers[1], &target, 1, &c->pid, NULL, NULL, NULL, error);
    close(answers[1]);
    close(words[1]);
    if (!ok) {
        close(answers[0]);
        close(words[0]);
        return false;
    }
    c->answers = answers[0];
    c->words = words[0];
    c->answer = g_string_new(NULL);
    c->said = g_string_new(NULL);
    c->step = STEP_LOAD;
    c->late = false;
    return g_unix_set_fd_nonblocking(c->answers, TRUE, error) &&
           g_unix_set_fd_nonblocking(c->words, TRUE, error);
}

/* Takes what is there of the module's printing. */
static bool read_words(child *c) {
    char buffer[4096];
    ssize_t got = read(c->words, buffer, sizeof buffer);
    if (got <= 0)
        return false;
    const char *begin = memrchr(buffer, '\0', (size_t)got);
    if (begin)
        g_string_truncate(c->said, 0);
    begin = begin ? begin + 1 : buffer;
    g_string_append_len(c->said, begin, got - (begin - buffer));
    if (c->said->len > MAX_WORDS)
        g_string_erase(c->said, 0, (gssize)(c->said->len - MAX_WORDS));
    return true;
}

/* Takes what is there of the answers. False at their end. */
static bool read_answers(child *c) {
    char buffer[4096];
    ssize_t got = read(c->answers, buffer, sizeof buffer);
    if (got > 0)
        g_string_append_len(c->answer, buffer, got);
    return (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) &&
           c->answer->len <= MAX_ANSWER;
}

/* The next line, if it is there. */
static char *take_line(child *c) {
    char *end = memchr(c->answer->str, '\n', c->answer->len);
    if (!end)
        return NULL;
    gsize length = (gsize)(end - c->answer->str);
    char *line = g_strndup(c->answer->str, length);
    g_string_erase(c->answer, 0, (gssize)length + 1);
    return line;
}

/* The next answer, if it is there. Notes the steps up to it. */
static char *take_whole_answer(child *c) {
    for (char *line; (line = take_line(c)); g_free(line)) {
        int step = 0;
        while (step < STEPS && strcmp(line, steps[step].line) != 0)
            step++;
        c->step = step < STEPS ? step : STEP_LOAD; /* of the next module */
        if (step == STEPS)
            return line;
    }
    return NULL;
}

/* The next answer, or NULL if none comes. */
static char *child_answer(child *c, int timeout_ms) {
    gint64 deadline = g_get_monotonic_time() + (gint64)timeout_ms * 1000;
    struct pollfd fds[] = {{c->answers, POLLIN, 0}, {c->words, POLLIN, 0}};
    for (;;) {
        char *line = take_whole_answer(c);
        if (line)
            return line;
        gint64 left = (deadline - g_get_monotonic_time() + 999) / 1000;
        if (left <= 0) {
            c->late = true;
            return NULL;
        }
        if (poll(fds, G_N_ELEMENTS(fds), (int)left) <= 0)
            continue;
        if (fds[1].revents && !read_words(c))
            fds[1].fd = -1; /* closed */
        if (fds[0].revents && !read_answers(c))
            return NULL;
    }
}

/* Ends the child, and says in one sentence what it died of. */
static char *child_end(child *c, int timeout_ms) {
    int status = 0;
    kill(c->pid, SIGKILL); /* changes nothing where it is dead already */
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    while (read_words(c))
        continue;

    g_autofree char *said = g_utf8_make_valid(c->said->str, (gssize)c->said->len);
    const char *last = strrchr(g_strchomp(said), '\n');
    last = last ? last + 1 : said;
    g_autofree char *quoted =
        *last ? g_strdup_printf("; its last words: \"%s\"", last) : g_strdup("");
    char *why;
    if (c->late)
        why = g_strdup_printf("it did not finish loading within %g s%s", timeout_ms / 1e3, quoted);
    else if (WIFSIGNALED(status))
        why = g_strdup_printf("it died of SIG%s (%s) %s%s", sigabbrev_np(WTERMSIG(status)),
                              strsignal(WTERMSIG(status)), steps[c->step].where, quoted);
    else
        why = g_strdup_printf("it ended the process with exit code %d %s%s", WEXITSTATUS(status),
                              steps[c->step].where, quoted);
    close(c->answers);
    close(c->words);
    g_string_free(c->answer, TRUE);
    g_string_free(c->said, TRUE);
    return why;
}

static void take_answer(module *m, const char *line) {
    cJSON *json = cJSON_Parse(line);
    if (!json || !module_from_json(m, json))
        module_refuse(m, "its probe gave an answer that makes no sense, as when a module writes to "
                         "descriptors that are not its own");
    cJSON_Delete(json);
}

void probe_modules(GPtrArray *modules, int timeout_ms) {
    g_autoptr(GPtrArray) pending = g_ptr_array_new();
    for (guint i = 0; i < modules->len; i++)
        if (((module *)modules->pdata[i])->state != MODULE_REFUSED)
            g_ptr_array_add(pending, modules->pdata[i]);

    guint next = 0;
    while (next < pending->len) {
        child c;
        g_autoptr(GError) error = NULL;
        if (!child_start(&c, pending, next, &error)) {
            for (; next < pending->len; next++)
                module_refuse(pending->pdata[next],
                              "the process that tries modules can't start: %s", error->message);
            return;
        }
        g_autofree char *line = NULL;
        while (next < pending->len && (line = child_answer(&c, timeout_ms))) {
            take_answer(pending->pdata[next++], line);
            g_clear_pointer(&line, g_free);
        }
        g_autofree char *why = child_end(&c, timeout_ms);
        if (next < pending->len)
            module_refuse(pending->pdata[next++], "%s", why);
    }
}
