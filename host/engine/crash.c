/* SPDX-License-Identifier: Apache-2.0 */
/* What the program says when a plugin brings it down: the stage, the module and its path. */
#include "engine/crash.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/sink.h"

#define STACK_BYTES ((size_t)64 * 1024)

static _Thread_local const char *volatile note;
static _Thread_local void *stack;
static bool armed; /* a run is under way; atomic */

static const struct {
    int number;
    const char *name;
} fatal[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"},
    {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"}, /* GLib's, when memory runs out */
};

/* fini and threads of a plugin's own have no note. */
static const char *culprit(void) {
    return note != NULL ? note : "the program, or a plugin outside of its stages,";
}

static void say(const char *text) {
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

/* Only async-signal-safe calls from here on: memory may be in any state. */
static void on_fatal(int number) {
    const char *name = "a fatal signal";
    for (size_t i = 0; i < G_N_ELEMENTS(fatal); i++)
        if (fatal[i].number == number)
            name = fatal[i].name;
    say("tracemill: error: ");
    say(culprit());
    say(" died of ");
    say(name);
    say("\n");
    sink_unlink_all();
    _exit(70);
}

/* A plugin that calls exit() would end the run as if all were well. */
static void on_exit_inside(void) {
    if (!__atomic_load_n(&armed, __ATOMIC_ACQUIRE))
        return;
    say("tracemill: error: ");
    say(culprit());
    say(" ended the program with exit()\n");
    sink_unlink_all();
    _exit(70);
}

static void on_limit(int number) {
    (void)number;
    say("tracemill: error: ");
    say(culprit());
    say(" did not end `check` within its time limit\n");
    sink_unlink_all();
    _exit(75);
}

void crash_limit(unsigned seconds) {
    struct sigaction action = {.sa_handler = seconds > 0 ? on_limit : SIG_DFL};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    alarm(seconds);
}

void crash_disarm(void) {
    __atomic_store_n(&armed, false, __ATOMIC_RELEASE);
}

void crash_install(void) {
    static bool registered;
    if (!registered)
        registered = atexit(on_exit_inside) == 0;
    __atomic_store_n(&armed, true, __ATOMIC_RELEASE);
    struct sigaction action = {.sa_handler = on_fatal, .sa_flags = SA_ONSTACK | SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < G_N_ELEMENTS(fatal); i++)
        sigaction(fatal[i].number, &action, NULL);
    crash_thread_begin();
}

void crash_thread_begin(void) {
    if (stack != NULL)
        return;
    void *memory =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return; /* the handler then runs on the thread's own stack */
    stack = memory;
    sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = STACK_BYTES}, NULL);
}

void crash_thread_end(void) {
    if (stack == NULL)
        return;
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    munmap(stack, STACK_BYTES);
    stack = NULL;
}

/* Where the notes of one thread can be read from outside, once this process is dead. */
static struct {
    char *to;
    size_t size;
    pthread_t thread;
} mirror;

void crash_mirror(char *to, size_t size) {
    mirror.to = to;
    mirror.size = size;
    mirror.thread = pthread_self();
}

const char *crash_note(const char *text) {
    const char *before = note;
    note = text;
    if (mirror.to != NULL && text != NULL && pthread_equal(mirror.thread, pthread_self())) {
        strncpy(mirror.to, text, mirror.size - 1);
        mirror.to[mirror.size - 1] = '\0';
    }
    return before;
}
