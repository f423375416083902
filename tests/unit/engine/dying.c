/* SPDX-License-Identifier: Apache-2.0 */
/* A module whose stage ends its process, or forges what the process says to the host, at one key.
 */
#include "flow.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <tracemill/tracemill.h>
#include <unistd.h>

#include "isolate/wire.h"

typedef struct options {
    const char *how, *at, *path;
    int64_t seed;
} options;

#define OPTION(NAME, FIELD, KIND, ...)                                                             \
    {                                                                                              \
        .name = NAME, .type = MILL_OPT_##KIND, .offset = MILL_OPT_OFF(options, FIELD, KIND),       \
        .help = "for tests", __VA_ARGS__                                                           \
    }
static const mill_option all_options[] = {
    OPTION("how", how, STR, .def = "not"),
    OPTION("at", at, STR, .def = ""),
    OPTION("path", path, PATH, .def = "-", .flags = MILL_OPT_ITEM),
    OPTION("seed", seed, INT, .def = "1"),
    {0}};

static mill_status print(mill_run *run, const char *path, const char *text) {
    mill_sink *sink;
    mill_status status = run->host->sink_open(run, path, &sink);
    return status == MILL_OK ? sink->write(sink, text, strlen(text)) : status;
}

/* ---------------------------------------------------------------- forging */

/* The process's end of the wire: the only socket that it has. -1: there is none. */
static int find_wire(void) {
    for (int fd = 3; fd < 256; fd++) {
        int domain;
        socklen_t size = sizeof domain;
        if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX)
            return fd;
    }
    return -1;
}

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void put_random(GByteArray *body, char field, uint64_t *state) {
    static const char *const texts[] = {NULL, "", "2", "3", "2:x", "\xff\n"};
    if (field == 't')
        wire_put_text(body, texts[next(state) % G_N_ELEMENTS(texts)]);
    else if (field == 'L')
        wire_put_u64(body, next(state));
    else
        wire_put_u32(body, (uint32_t)(next(state) % 4 ? next(state) % 3 : next(state) * 3));
}

/* A frame with the fields of its kind, at times one too many or too few, and perhaps a descriptor
 * that is no value. */
static void send_random(int wire, int64_t seed) {
    static const struct {
        wire_kind kind;
        const char *fields;
    } kinds[] = {{WIRE_LOG, "uutt"},        {WIRE_SINK, "t"},
                 {WIRE_PARALLEL, ""},       {WIRE_OUTPUT, "ut"},
                 {WIRE_READY, "t"},         {WIRE_PARALLEL_END, ""},
                 {WIRE_CALL, "uuu"},        {WIRE_BYE, ""},
                 {WIRE_RETURN, "uuLuu"},    {WIRE_RETURN, "uuLuutuuu"},
                 {WIRE_RETURN, "uuLuututu"}};
    uint64_t state = (uint64_t)seed * 77;
    for (uint64_t n = 1 + next(&state) % 3; n > 0; n--) {
        size_t which = next(&state) % G_N_ELEMENTS(kinds);
        GByteArray *body = wire_body();
        size_t skipped = next(&state) % 40, more = next(&state) % 8;
        for (size_t i = 0; kinds[which].fields[i] != '\0'; i++)
            if (i != skipped)
                put_random(body, kinds[which].fields[i], &state);
        if (more == 0)
            put_random(body, 'u', &state);
        int fd = next(&state) % 4 == 0 ? open("/dev/zero", O_RDONLY) : -1;
        wire_send(wire, kinds[which].kind, body, fd);
        if (fd >= 0)
            close(fd);
    }
}

/* The value of an output, right but for its memory, which stays writable. */
static void send_unsealed(int wire) {
    GByteArray *body = wire_body();
    wire_put_u32(body, 0);
    wire_put_text(body, "2");
    wire_send(wire, WIRE_OUTPUT, body, memfd_create("forged", MFD_ALLOW_SEALING));
}

/* An item of another run. */
static void send_other_key(int wire) {
    GByteArray *body = wire_body();
    wire_put_u32(body, 0);
    wire_put_text(body, "1");
    int fd = memfd_create("forged", MFD_ALLOW_SEALING);
    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW);
    wire_send(wire, WIRE_OUTPUT, body, fd);
}

static bool forge(const options *o) {
    int wire = find_wire();
    if (wire < 0)
        return false;
    if (strcmp(o->how, "noise") == 0)
        send(wire, "this is no frame, and long enough for one", 41, MSG_NOSIGNAL);
    else if (strcmp(o->how, "cut") == 0)
        send(wire, "lmrt\x0c", 5, MSG_NOSIGNAL);
    else if (strcmp(o->how, "random") == 0)
        send_random(wire, o->seed);
    else if (strcmp(o->how, "unsealed") == 0)
        send_unsealed(wire);
    else if (strcmp(o->how, "other-key") == 0)
        send_other_key(wire);
    else if (strcmp(o->how, "shut") == 0)
        shutdown(wire, SHUT_RDWR);
    else if (strcmp(o->how, "close") == 0)
        close(wire);
    return true;
}

/* ---------------------------------------------------------------- dying */

/* Kept where the compiler must believe that somebody reads it. */
static char *volatile last;

static void use_memory(void) {
    for (int i = 0; i < 1 << 16; i++) {
        last = malloc(1 << 20);
        if (last == NULL)
            abort();
        memset(last, 1, 1 << 20);
    }
}

/* Leaves a process behind that holds all descriptors open; not for ever. */
static void leave_child(void) {
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        for (;;)
            pause();
    }
    FILE *f = fopen("left.pid", "w");
    if (child < 0 || f == NULL)
        exit(4);
    fprintf(f, "%d", (int)child);
    fclose(f);
}

static void die(const options *o) {
    static int *volatile nowhere;
    if (strcmp(o->how, "crash") == 0)
        *nowhere = 1;
    if (strcmp(o->how, "abort") == 0)
        abort();
    if (strcmp(o->how, "exit") == 0)
        exit(3);
    if (strcmp(o->how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(o->how, "memory") == 0)
        use_memory();
    if (strcmp(o->how, "fork") == 0) {
        leave_child();
        abort();
    }
    if (strcmp(o->how, "last-words") == 0) {
        static const char words[] = "first line\nall is lost: \x1b[31m7 of 9\n";
        ssize_t ignored = write(STDERR_FILENO, words, sizeof words - 1);
        (void)ignored;
        abort();
    }
}

static mill_status sleep_long(void) {
    FILE *f = fopen("stage.pid", "w");
    if (f == NULL)
        abort();
    fprintf(f, "%d", (int)getpid());
    fclose(f);
    close(open("started", O_CREAT | O_WRONLY, 0600));
    for (;;)
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
}

/* Writes first, so that a file that is begun is there. */
static mill_status run_die(mill_run *run, const void *opts, void *state) {
    const options *o = opts;
    int *runs = state;
    (*runs)++;
    const flow_item *item = mill_input(run, 0, 0);
    mill_status status = print(run, o->path, item->text);
    if (status != MILL_OK || strcmp(mill_item_key(run), o->at) != 0)
        return status;
    die(o);
    if (strcmp(o->how, "sleep") == 0)
        return sleep_long();
    return forge(o) ? MILL_OK : mill_fail(run, MILL_E_DATA, "there is no wire to the host");
}

/* Says which process it was, and passes on what it got. */
static mill_status run_pass(mill_run *run, const void *opts, void *state) {
    const options *o = opts;
    (void)state;
    const flow_item *item = mill_input(run, 0, 0);
    flow_item *made = mill_value_alloc(run, NULL, sizeof *made);
    made->size = sizeof *made;
    made->text = mill_value_alloc(run, made, strlen(item->text) + 32);
    snprintf(made->text, strlen(item->text) + 32, "%s", item->text);
    if (strcmp(mill_item_key(run), o->at) == 0) {
        die(o);
        if (!forge(o))
            return mill_fail(run, MILL_E_DATA, "there is no wire to the host");
        if (strcmp(o->how, "unsealed") == 0 || strcmp(o->how, "other-key") == 0)
            return MILL_OK; /* what was sent shall stand for the output */
    }
    return mill_output(run, 0, made);
}

static const mill_port in[] = {{.name = "in", .type = FLOW_ITEM, .help = "for tests"}, {0}};
static const mill_port in_stream[] = {
    {.name = "in", .type = FLOW_ITEM, .help = "for tests", .flags = MILL_PORT_STREAM}, {0}};
static const mill_port out[] = {{.name = "out", .type = FLOW_ITEM, .help = "for tests"}, {0}};

#define CLASS(ID, NAME, FLAGS, IN, OUT, RUN)                                                       \
    static const mill_stage ID = {MILL_STAGE_HEAD,                                                 \
                                  FLAGS,                                                           \
                                  .name = NAME,                                                    \
                                  .summary = "for tests",                                          \
                                  .inputs = IN,                                                    \
                                  .outputs = OUT,                                                  \
                                  .options = all_options,                                          \
                                  .options_size = sizeof(options),                                 \
                                  .state_size = sizeof(int),                                       \
                                  .run = RUN}
CLASS(c_write, "dying.write", 0, in, NULL, run_die);
CLASS(c_stream, "dying.stream", MILL_STAGE_SINGLE, in_stream, NULL, run_die);
CLASS(c_pass, "dying.pass", 0, in, out, run_pass);
static const mill_stage *const classes[] = {&c_write, &c_stream, &c_pass, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {MILL_MODULE_HEAD,
                                                .id = "test.dying",
                                                .version = "1.0.0",
                                                .license = "Apache-2.0",
                                                .author = "Tracemill's tests",
                                                .summary = "ends its process",
                                                .built_with = MILL_BUILT_WITH,
                                                .stages = classes};
