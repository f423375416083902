/* SPDX-License-Identifier: Apache-2.0 */
/* A rank that trains a mixture-of-experts model: see gen_model.h. */
#include "gen_model.h"
#include "gen_kernels.h"

#include <string.h>

#define START_NS INT64_C(1740461679471346000) /* a wall-clock time, as most profiles have */
#define US INT64_C(1000)
#define PID 1166

typedef struct device {
    unsigned number;
    int64_t cpu;                   /* the time up to which the CPU thread has worked */
    int64_t free[GEN_STREAMS_MAX]; /* the end of what runs on each stream */
    int64_t ready[GEN_ROLES];      /* what the role needs from the slot before is there */
    int64_t end[GEN_ROLES];        /* the end of what the slot gave to the role */
    unsigned next_comm;            /* to take the streams of communication in turn */
} device;

struct gen_model {
    gen_shape shape;
    gen_output *output;
    gen_expect *expect;
    uint64_t random;
    int64_t correlation, op, step, sequence;
    device devices[GEN_DEVICES_MAX];
};

/* A multiple of the unit in [low, high]. */
static int64_t draw(gen_model *m, int64_t low, int64_t high) {
    uint64_t steps = (uint64_t)((high - low) / m->shape.unit_ns) + 1;
    int64_t offset = (int64_t)(gen_random(&m->random) % steps) * m->shape.unit_ns;
    return low / m->shape.unit_ns * m->shape.unit_ns + offset;
}

static int64_t cpu_pid(const device *d) {
    return PID + d->number;
}

/* Names of processes and threads, as in the head of a real file. */
static void write_names(gen_model *m, const device *d) {
    gen_event(m->output, 'M', NULL, "process_name", cpu_pid(d), 0, START_NS);
    gen_arg_text(m->output, "name", "python3");
    gen_event_end(m->output);
    gen_event(m->output, 'M', NULL, "thread_name", cpu_pid(d), cpu_pid(d), START_NS);
    gen_arg_text(m->output, "name", "thread (python3)");
    gen_event_end(m->output);
    gen_event(m->output, 'M', NULL, "process_name", d->number, 0, START_NS);
    gen_arg_text(m->output, "name", "python3");
    gen_event_end(m->output);
}

gen_model *gen_model_create(const gen_shape *shape, gen_output *output, gen_expect *expect) {
    gen_model *m = g_new0(gen_model, 1);
    *m = (gen_model){.shape = *shape, .output = output, .expect = expect};
    m->random = shape->seed ^ (uint64_t)shape->rank * UINT64_C(0x2545f4914f6cdd1d);
    m->correlation = m->op = 4608;
    gen_output_head(output, shape->rank, shape->world, shape->devices);
    for (unsigned i = 0; i < shape->devices; i++) {
        m->devices[i].number = i;
        m->devices[i].cpu = START_NS;
        write_names(m, &m->devices[i]);
    }
    return m;
}

void gen_model_destroy(gen_model *m) {
    g_free(m);
}

/* ---------------------------------------------------------------- the CPU */

static void write_cpu(gen_model *m, const device *d, const char *category, const char *name,
                      int64_t start, int64_t end) {
    gen_event(m->output, 'X', category, name, cpu_pid(d), cpu_pid(d), start);
    gen_event_dur(m->output, end - start);
    gen_arg_int(m->output, "External id", ++m->op);
    gen_event_end(m->output);
}

/* An operator: a few small ones within it, then the call that launches. Returns the launch's end.
 */
static int64_t write_launch(gen_model *m, device *d, const gen_kernel *k) {
    int64_t start = d->cpu, at = start + draw(m, US, 3 * US);
    for (int64_t children = draw(m, 0, 2 * US) / US; children > 0; children--) {
        int64_t end = at + draw(m, US, 4 * US);
        write_cpu(m, d, "cpu_op", "aten::empty", at, end);
        at = end + m->shape.unit_ns;
    }
    int64_t launched = at + draw(m, 3 * US, 7 * US);
    const char *call = k->cls != GEN_MEM           ? "cudaLaunchKernel"
                       : strstr(k->name, "Memset") ? "cudaMemsetAsync"
                                                   : "cudaMemcpyAsync";
    m->correlation++;
    gen_event(m->output, 'X', "cuda_runtime", call, cpu_pid(d), cpu_pid(d), at);
    gen_event_dur(m->output, launched - at);
    gen_arg_int(m->output, "External id", m->op + 1);
    gen_arg_int(m->output, "cbid", 211);
    gen_arg_int(m->output, "correlation", m->correlation);
    gen_event_end(m->output);
    gen_event(m->output, 's', "ac2g", "ac2g", cpu_pid(d), cpu_pid(d), at);
    gen_event_flow(m->output, m->correlation, false);
    gen_event_end(m->output);
    d->cpu = launched + draw(m, US, 3 * US);
    write_cpu(m, d, "cpu_op", k->op, start, d->cpu);
    d->cpu += draw(m, US, 8 * US);
    return launched;
}

/* ---------------------------------------------------------------- the GPU */

static unsigned choose_stream(const gen_model *m, device *d, gen_role role) {
    unsigned n = (unsigned)m->shape.streams;
    if (n == 1 || role == GEN_ROLE_COMPUTE)
        return 0;
    if (role == GEN_ROLE_WGRAD)
        return n > 2 ? 2 : 0;
    unsigned turn = n > 3 ? d->next_comm++ % (n - 2) : 0;
    return turn ? turn + 2 : 1;
}

/* The numbers that streams have in real profiles: computation 7, communication 27, more 23 and up.
 */
static int64_t stream_number(unsigned stream) {
    static const int64_t first[] = {7, 27, 23};
    return stream < G_N_ELEMENTS(first) ? first[stream] : 31 + 4 * ((int64_t)stream - 3);
}

static void write_collective(gen_model *m, const gen_kernel *k) {
    gen_arg_text(m->output, "Collective name", k->collective);
    gen_arg_int(m->output, "In msg nelems", 16777216);
    gen_arg_int(m->output, "Out msg nelems", 16777216);
    gen_arg_int(m->output, "Group size", m->shape.world);
    gen_arg_text(m->output, "dtype", strcmp(k->kind, "all-reduce") ? "BFloat16" : "Float");
    gen_arg_text(m->output, "Process Group Name", "0");
    gen_arg_int(m->output, "Seq", ++m->sequence);
}

static void write_activity(gen_model *m, const device *d, const gen_kernel *k, int64_t stream,
                           int64_t start, int64_t dur) {
    const char *category = k->cls != GEN_MEM           ? "kernel"
                           : strstr(k->name, "Memset") ? "gpu_memset"
                                                       : "gpu_memcpy";
    gen_event(m->output, 'X', category, k->name, d->number, stream, start);
    gen_event_dur(m->output, dur);
    gen_arg_int(m->output, "External id", m->op);
    gen_arg_int(m->output, "device", d->number);
    gen_arg_int(m->output, "context", 1);
    gen_arg_int(m->output, "stream", stream);
    gen_arg_int(m->output, "correlation", m->correlation);
    if (k->cls == GEN_MEM) {
        gen_arg_int(m->output, "bytes", k->grid);
    } else {
        gen_arg_triple(m->output, "grid", k->grid, 1, 1);
        gen_arg_triple(m->output, "block", k->block, 1, 1);
    }
    if (k->collective)
        write_collective(m, k);
    gen_event_end(m->output);
    gen_event(m->output, 'f', "ac2g", "ac2g", d->number, stream, start);
    gen_event_flow(m->output, m->correlation, true);
    gen_event_end(m->output);
    gen_expect_add(m->expect, d->number, stream, k->cls, k->kind, start, start + dur);
}

/* Communication varies more than computation, since it waits for other ranks. Memory operations of
 * 0 µs last 0 or 1 µs. */
static int64_t draw_duration(gen_model *m, const gen_kernel *k, int us) {
    int64_t mean = us * US;
    if (k->cls == GEN_MEM)
        return draw(m, mean, mean + US);
    return k->cls == GEN_COMM ? draw(m, mean * 8 / 10, mean * 12 / 10)
                              : draw(m, mean * 95 / 100, mean * 105 / 100);
}

static void run_kernel(gen_model *m, device *d, gen_role role, const gen_kernel *k, int us) {
    int64_t launched = write_launch(m, d, k);
    unsigned stream = choose_stream(m, d, role);
    int64_t start = MAX(launched + 5 * US, d->ready[role]);
    start = MAX(start, d->free[stream] + draw(m, 0, 3 * US));
    int64_t dur = draw_duration(m, k, us);
    write_activity(m, d, k, stream_number(stream), start, dur);
    d->free[stream] = start + dur;
    d->end[role] = MAX(d->end[role], start + dur);
}

static void run_stage(gen_model *m, device *d, const gen_stage *stage) {
    int64_t start = d->cpu;
    for (const gen_use *use = stage->uses; use->kernel; use++)
        for (int i = 0; i < use->times; i++)
            run_kernel(m, d, stage->role, use->kernel, use->us);
    write_cpu(m, d, "user_annotation", stage->name, start, d->cpu);
    d->cpu += m->shape.unit_ns;
}

/* Each chunk's communication in a slot needs its computation in the slot before, and the other way
 * round. After the last slot all streams wait for each other. */
static void run_slots(gen_model *m, device *d, const gen_slot *slot) {
    int64_t all = 0;
    for (; slot->stages[0]; slot++) {
        for (const gen_stage *const *stage = slot->stages; *stage; stage++)
            run_stage(m, d, *stage);
        int64_t computed = MAX(d->end[GEN_ROLE_COMPUTE], d->end[GEN_ROLE_WGRAD]);
        d->ready[GEN_ROLE_COMPUTE] = d->ready[GEN_ROLE_WGRAD] = d->end[GEN_ROLE_COMM];
        d->ready[GEN_ROLE_COMM] = computed;
        all = MAX(computed, d->end[GEN_ROLE_COMM]);
    }
    for (int role = 0; role < GEN_ROLES; role++)
        d->ready[role] = all;
    gen_expect_settle(m->expect, d->number);
}

void gen_model_step(gen_model *m) {
    m->step++;
    for (device *d = m->devices; d < m->devices + m->shape.devices; d++) {
        int64_t start = d->cpu;
        for (int64_t layer = 0; layer < m->shape.layers; layer++)
            run_slots(m, d, gen_layer_slots);
        run_slots(m, d, gen_step_slots);
        int64_t done = MAX(d->cpu, d->ready[0]) + 10 * US;
        write_cpu(m, d, "cuda_runtime", "cudaDeviceSynchronize", d->cpu, done);
        g_autofree char *name = g_strdup_printf("ProfilerStep#%" G_GINT64_FORMAT, m->step);
        write_cpu(m, d, "user_annotation", name, start, done);
        d->cpu = done + draw(m, 20 * US, 200 * US);
    }
}
