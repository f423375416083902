/* SPDX-License-Identifier: Apache-2.0 */
/* mill.trace/1: one rank's profile in columns.
 *
 * A value of this type is a `const mill_trace *`. Everything in it hangs together by byte offsets
 * from the start of that struct (mill_off), never by pointers, so that it can be saved and mapped
 * in place. Columns lie in segments of 2^seg_shift rows; read one row with mill_i64 and friends, or
 * a segment at a time with mill_segment.
 *
 * Times are int64 nanoseconds as parsed from the decimal text of the file, without base_ns added.
 * Intervals are half-open: [start, start + dur). What is not known is MILL_UNKNOWN, never 0.
 * Readers: any number of threads at once; the value is constant. Errors: none, accessors can't
 * fail.
 */
#ifndef TRACEMILL_TRACE_H
#define TRACEMILL_TRACE_H

#include "tracemill.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MILL_TYPE_TRACE "mill.trace/1"

#ifndef MILL_UNKNOWN
#define MILL_UNKNOWN INT64_MIN /* of int64 values */
#endif
#define MILL_NONE UINT32_MAX /* no row: of uint32 references to another table */

typedef int64_t mill_off; /* bytes from the start of the mill_trace; 0: nothing there */

/* A column of n rows (n stands in its table). Segment s holds rows [s << seg_shift, …).
 *
 * Columns of whole numbers are as narrow as their values allow: a column declared int64 below has
 * 8, 4, 2 or 1 bytes a row, one declared uint32 has 4, 2 or 1, and one in which nothing is known
 * has none. MILL_UNKNOWN and MILL_NONE are then the smallest and the largest value of that width.
 * So read them with mill_i64 and mill_u32, which know; columns of other types always have their own
 * width. */
typedef struct mill_column {
    mill_off segments;  /* of mill_off[]: where each segment lies */
    uint32_t width;     /* bytes of one row; 0: no row has a value */
    uint32_t seg_shift; /* rows of a segment, as a power of two */
} mill_column;

/* What a kernel's name says it does. The rules are in a file (etc/rules/kernels.ini), not in code.
 */
typedef enum mill_class {
    MILL_CLASS_NONE = 0, /* the name of something that is no GPU activity */
    MILL_CLASS_COMPUTATION = 1,
    MILL_CLASS_COMMUNICATION = 2,
    MILL_CLASS_MEMORY = 3, /* copies and sets that are not communication */
    MILL_CLASS_OTHER = 4,  /* device work that counts for none of the three */
} mill_class;

/* What sort of activity a `gpu` row is: the category it was written with. */
typedef enum mill_gpu_cat {
    MILL_GPU_KERNEL = 1,
    MILL_GPU_MEMCPY = 2,
    MILL_GPU_MEMSET = 3
} mill_gpu_cat;

typedef enum mill_cpu_kind {
    MILL_CPU_OP = 1,         /* an operator: cpu_op */
    MILL_CPU_RUNTIME = 2,    /* a call of the runtime API: cuda_runtime, hip */
    MILL_CPU_DRIVER = 3,     /* of the driver API: cuda_driver */
    MILL_CPU_ANNOTATION = 4, /* user_annotation, ProfilerStep#N */
    MILL_CPU_PYTHON = 5,     /* python_function */
    MILL_CPU_MEMORY = 6,     /* [memory]: without length */
    MILL_CPU_OTHER = 7,      /* written as begin and end, of no category of these */
} mill_cpu_kind;

/* Texts: text i is the NUL-terminated string at `bytes` + start[i], of length[i] bytes, as the file
 * has it after JSON unescaping (not always valid UTF-8). */
typedef struct mill_texts {
    uint64_t n;
    mill_column text;   /* mill_off: where the text lies */
    mill_column length; /* uint32 bytes, without the NUL */
} mill_texts;

/* Distinct names. The same text under two GPU categories, or on planes of two classes, is two
 * names, since its class may differ.
 */
typedef struct mill_names {
    mill_texts texts;
    mill_column cls;  /* uint8 mill_class */
    mill_column kind; /* uint16 row of `kinds`, or UINT16_MAX: the class has no kinds */
    mill_column rule; /* uint16 row of `rules`: the rule that decided, or UINT16_MAX: none did */
} mill_names;

typedef struct mill_devices {
    uint64_t n;
    mill_column id;   /* int64: the number in the file (deviceProperties id, args.device) */
    mill_column name; /* uint32 row of `strings`, or MILL_NONE: "NVIDIA H800" */
    mill_column sms;  /* int64 streaming multiprocessors, or MILL_UNKNOWN */
    mill_column rows; /* uint64 GPU activities on it; 0 for devices that are only described */
} mill_devices;

typedef struct mill_streams {
    uint64_t n;
    mill_column device; /* uint32 row of `devices` */
    mill_column id;     /* int64: the number in the file */
    mill_column label;  /* uint32 row of `strings`, or MILL_NONE: its own word for it */
} mill_streams;

typedef struct mill_threads {
    uint64_t n;
    mill_column pid;     /* int64, or MILL_UNKNOWN where the file has a word (see process) */
    mill_column tid;     /* int64, or MILL_UNKNOWN */
    mill_column process; /* uint32 row of `strings`, or MILL_NONE: process_name, or the word */
    mill_column name;    /* uint32 row of `strings`, or MILL_NONE: thread_name, or the word */
} mill_threads;

/* GPU activities, sorted by (start, end, device, stream, correlation), duplicates removed. */
typedef struct mill_gpu {
    uint64_t n;
    mill_column start;        /* int64 ns, always 8 bytes a row */
    mill_column dur;          /* int64 ns, >= 0 */
    mill_column name;         /* uint32 row of `names` */
    mill_column stream;       /* uint32 row of `streams` */
    mill_column cat;          /* uint8 mill_gpu_cat */
    mill_column correlation;  /* int64, or MILL_UNKNOWN; ids above 2^63 wrap */
    mill_column external_id;  /* int64, or MILL_UNKNOWN */
    mill_column launch;       /* uint32 row of `cpu`: the call that launched it, or MILL_NONE */
    mill_column grid;         /* int64 blocks (x*y*z), or MILL_UNKNOWN */
    mill_column block;        /* int64 threads of a block (x*y*z), or MILL_UNKNOWN */
    mill_column bytes;        /* int64 bytes moved or set, or MILL_UNKNOWN */
    mill_column collective;   /* uint32 row of `collectives`, or MILL_NONE */
    mill_column waited_event; /* int64 correlation of the cudaEventRecord it waited for, if the file
                                 says so of the activity itself; else MILL_UNKNOWN. Kineto says it
                                 of the waits instead: see mill_syncs */
} mill_gpu;

/* CPU slices, sorted by (start, longest first, thread), so that a parent comes before its children.
 */
typedef struct mill_cpu {
    uint64_t n;
    mill_column start;       /* int64 ns, always 8 bytes a row */
    mill_column dur;         /* int64 ns, >= 0 */
    mill_column name;        /* uint32 row of `names` */
    mill_column thread;      /* uint32 row of `threads` */
    mill_column kind;        /* uint8 mill_cpu_kind */
    mill_column correlation; /* int64, or MILL_UNKNOWN */
    mill_column external_id; /* int64, or MILL_UNKNOWN */
    mill_column
        parent; /* uint32 row of `cpu`: the innermost slice of its thread around it, or MILL_NONE */
} mill_cpu;

/* Arrows between slices, as written: not needed to join launches (use gpu.launch). */
typedef struct mill_flows {
    uint64_t n;
    mill_column id;     /* int64 */
    mill_column time;   /* int64 ns */
    mill_column thread; /* uint32 row of `threads` */
    mill_column end;    /* uint8: 0 start, 1 step, 2 end */
    mill_column name;   /* uint32 row of `names` */
} mill_flows;

/* What the file says of a collective operation beside its kernel's name. One row for each GPU
 * activity that comes with it, in the order of the activities. */
typedef struct mill_collectives {
    uint64_t n;
    mill_column operation;  /* uint32 row of `strings`: "_allgather_base" */
    mill_column in_elems;   /* int64 elements, or MILL_UNKNOWN */
    mill_column out_elems;  /* int64 elements, or MILL_UNKNOWN */
    mill_column dtype;      /* uint32 row of `strings`, or MILL_NONE */
    mill_column elem_bytes; /* int64 bytes of one element, or MILL_UNKNOWN */
    mill_column group;      /* uint32 row of `strings`: the process group's name (else its
                               description, else its number), or MILL_NONE */
    mill_column group_size; /* int64 ranks, or MILL_UNKNOWN */
    mill_column ranks;      /* uint32 row of `strings`: the list as written, or MILL_NONE */
    mill_column sequence;   /* int64, or MILL_UNKNOWN */
    mill_column peer;       /* int64 rank sent to or received from, or MILL_UNKNOWN */
    mill_column kind; /* uint16 row of `kinds`, or UINT16_MAX: the operation is none we know */
} mill_collectives;

typedef struct mill_counters {
    uint64_t n;
    mill_column time;   /* int64 ns */
    mill_column name;   /* uint32 row of `names` */
    mill_column thread; /* uint32 row of `threads` */
    mill_column value;  /* double */
} mill_counters;

/* What a wait waits for, and who waits. */
typedef enum mill_sync_kind {
    MILL_SYNC_OTHER = 0,
    MILL_SYNC_EVENT = 1,       /* the CPU, for an event: cudaEventSynchronize, cudaEventQuery */
    MILL_SYNC_STREAM_WAIT = 2, /* a stream, for an event: cudaStreamWaitEvent */
    MILL_SYNC_STREAM = 3,      /* the CPU, for a stream: cudaStreamSynchronize */
    MILL_SYNC_CONTEXT = 4,     /* the CPU, for all streams: cudaDeviceSynchronize */
} mill_sync_kind;

/* Waits that the file records (Kineto's category cuda_sync), sorted by (start, correlation). They
 * are no GPU activities: times are those of the CPU's call. A stream that waits for an event runs
 * nothing launched after `launch` before all is done that was launched on `waited_stream` before
 * `record`. */
typedef struct mill_syncs {
    uint64_t n;
    mill_column start;         /* int64 ns, always 8 bytes a row */
    mill_column dur;           /* int64 ns, >= 0, or MILL_UNKNOWN */
    mill_column kind;          /* uint8 mill_sync_kind */
    mill_column name;          /* uint32 row of `names`: "Stream Wait Event" */
    mill_column stream;        /* uint32 row of `streams`: of STREAM_WAIT the one that waits, of
                                  STREAM the one waited for; or MILL_NONE */
    mill_column correlation;   /* int64, or MILL_UNKNOWN */
    mill_column waited_stream; /* uint32 row of `streams`, of the same device: where the event was
                                  recorded; or MILL_NONE */
    mill_column waited_event;  /* int64 correlation of the cudaEventRecord, or MILL_UNKNOWN */
    mill_column launch;        /* uint32 row of `cpu`: the call that waits, or that makes the stream
                                  wait; or MILL_NONE */
    mill_column record;        /* uint32 row of `cpu`: the cudaEventRecord, or MILL_NONE */
} mill_syncs;

/* Operations of pipeline-parallel training that the training program timed itself, as MegaScale's
 * step timelines have them: no activities and no slices, and one file holds those of many ranks.
 * Sorted by (start, thread), then as the file has them. */
typedef struct mill_timers {
    uint64_t n;
    mill_column start;       /* int64 ns, always 8 bytes a row */
    mill_column dur;         /* int64 ns, >= 0 */
    mill_column name;        /* uint32 row of `names`: "forward-compute" */
    mill_column thread;      /* uint32 row of `threads`: tells the rank */
    mill_column step;        /* int64 number of the training step, or MILL_UNKNOWN */
    mill_column chunk;       /* int64, of the rank's model chunks, or MILL_UNKNOWN */
    mill_column micro_batch; /* int64, or MILL_UNKNOWN */
    mill_column sequence;    /* int64: counts a rank's operations of one name in a step; or
                                MILL_UNKNOWN */
} mill_timers;

/* What the reader mended or skipped. One row a kind. */
typedef struct mill_diagnostics {
    uint64_t n;
    mill_column kind;  /* uint32 row of `strings`: "negative-duration" */
    mill_column text;  /* uint32 row of `strings`: what it means and what was done, one sentence */
    mill_column count; /* uint64 */
    mill_column
        first_byte;   /* int64 offset in the (inflated) text of the first one, or MILL_UNKNOWN */
    mill_column lost; /* uint8: 1 if data the file holds is not in the columns, 0 if mended */
} mill_diagnostics;

typedef struct mill_trace {
    uint32_t size;
    uint32_t reserved;

    /* Facts. */
    mill_off path;      /* text: the file as it was named */
    mill_off writer;    /* text, or 0: what wrote the file, as far as it says */
    mill_off backend;   /* text, or 0: distributedInfo.backend */
    int64_t rank;       /* distributedInfo.rank, or MILL_UNKNOWN */
    int64_t world_size; /* ranks, or MILL_UNKNOWN */
    int64_t base_ns; /* baseTimeNanoseconds: add it to a time for the wall clock; MILL_UNKNOWN: not
                        given */
    uint64_t events; /* elements of the event array, all phases */
    uint64_t bytes;  /* bytes of JSON text read, inflated */
    uint8_t
        complete; /* 1: the file ends where it should; 0: it was cut, and this is what was whole */
    uint8_t reserved2[7];

    mill_texts strings; /* labels: of devices, threads, groups, diagnostics */
    mill_texts kinds; /* of communication and the like: "all-reduce", as the rules name them and in
                         their order, whether the trace has any or not */
    mill_texts rules; /* the names of the rules, in order */
    mill_names names;
    mill_devices devices;
    mill_streams streams;
    mill_threads threads;
    mill_gpu gpu;
    mill_cpu cpu;
    mill_flows flows;
    mill_collectives collectives;
    mill_counters counters;
    mill_diagnostics diagnostics;
    mill_syncs syncs;   /* mill_sync_count first: older readers lack it */
    mill_timers timers; /* mill_timer_count first, likewise */
} mill_trace;

/* ---------------------------------------------------------------- accessors */

/* What lies at an offset; NULL for 0. */
static inline const void *mill_at(const mill_trace *t, mill_off off) {
    return off ? (const void *)((uintptr_t)t + (uintptr_t)off) : NULL;
}

/* Segment s of a column: its first row. Rows [s << seg_shift, …) of the table follow in it. */
static inline const void *mill_segment(const mill_trace *t, const mill_column *c, uint64_t s) {
    return mill_at(t, ((const mill_off *)mill_at(t, c->segments))[s]);
}

/* How many rows segment s of a column holds, in a table of n rows. */
static inline uint64_t mill_segment_rows(const mill_column *c, uint64_t n, uint64_t s) {
    uint64_t first = s << c->seg_shift, full = (uint64_t)1 << c->seg_shift;
    return first >= n ? 0 : n - first < full ? n - first : full;
}

/* Where one row of a column lies. The column must have a width, row be below its table's n. */
static inline const void *mill_cell(const mill_trace *t, const mill_column *c, uint64_t row) {
    uint64_t in_segment = row & (((uint64_t)1 << c->seg_shift) - 1);
    return (const char *)mill_segment(t, c, row >> c->seg_shift) + in_segment * c->width;
}

/* One row of a column declared int64, however wide it is. */
static inline int64_t mill_i64(const mill_trace *t, const mill_column *c, uint64_t row) {
    switch (c->width) {
    case 8:
        return *(const int64_t *)mill_cell(t, c, row);
    case 4: {
        int32_t v = *(const int32_t *)mill_cell(t, c, row);
        return v == INT32_MIN ? MILL_UNKNOWN : v;
    }
    case 2: {
        int16_t v = *(const int16_t *)mill_cell(t, c, row);
        return v == INT16_MIN ? MILL_UNKNOWN : v;
    }
    case 1: {
        int8_t v = *(const int8_t *)mill_cell(t, c, row);
        return v == INT8_MIN ? MILL_UNKNOWN : v;
    }
    default:
        return MILL_UNKNOWN;
    }
}

/* One row of a column declared uint32, however wide it is. */
static inline uint32_t mill_u32(const mill_trace *t, const mill_column *c, uint64_t row) {
    switch (c->width) {
    case 4:
        return *(const uint32_t *)mill_cell(t, c, row);
    case 2: {
        uint16_t v = *(const uint16_t *)mill_cell(t, c, row);
        return v == UINT16_MAX ? MILL_NONE : v;
    }
    case 1: {
        uint8_t v = *(const uint8_t *)mill_cell(t, c, row);
        return v == UINT8_MAX ? MILL_NONE : v;
    }
    default:
        return MILL_NONE;
    }
}

/* One row of a column of that type; it must be there. */
static inline uint64_t mill_u64(const mill_trace *t, const mill_column *c, uint64_t row) {
    return *(const uint64_t *)mill_cell(t, c, row);
}
static inline uint16_t mill_u16(const mill_trace *t, const mill_column *c, uint64_t row) {
    return *(const uint16_t *)mill_cell(t, c, row);
}
static inline uint8_t mill_u8(const mill_trace *t, const mill_column *c, uint64_t row) {
    return *(const uint8_t *)mill_cell(t, c, row);
}
static inline double mill_f64(const mill_trace *t, const mill_column *c, uint64_t row) {
    return *(const double *)mill_cell(t, c, row);
}

/* Text `row` of a table of texts; NULL for MILL_NONE. */
static inline const char *mill_text(const mill_trace *t, const mill_texts *texts, uint32_t row) {
    return row >= texts->n ? NULL : (const char *)mill_at(t, mill_i64(t, &texts->text, row));
}
/* Name of a row of gpu, cpu, flows, or counters. */
static inline const char *mill_name(const mill_trace *t, uint32_t name) {
    return mill_text(t, &t->names.texts, name);
}
static inline const char *mill_string(const mill_trace *t, uint32_t string) {
    return mill_text(t, &t->strings, string);
}
static inline mill_class mill_name_class(const mill_trace *t, uint32_t name) {
    return (mill_class)mill_u8(t, &t->names.cls, name);
}
/* The kind of a name's class ("dispatch"), or NULL where it has none. */
static inline const char *mill_name_kind(const mill_trace *t, uint32_t name) {
    uint16_t kind = mill_u16(t, &t->names.kind, name);
    return kind == UINT16_MAX ? NULL : mill_text(t, &t->kinds, kind);
}

/* How many rows `syncs` has. */
static inline uint64_t mill_sync_count(const mill_trace *t) {
    return MILL_HAS(t, syncs) ? t->syncs.n : 0;
}

/* How many rows `timers` has. */
static inline uint64_t mill_timer_count(const mill_trace *t) {
    return MILL_HAS(t, timers) ? t->timers.n : 0;
}

/* The kind of a GPU activity, as a row of `kinds` or UINT16_MAX: of communication, that of the
 * operation the file tells, which beats the name (NCCL may run any operation under any name); else
 * that of its name. */
static inline uint16_t mill_gpu_kind_row(const mill_trace *t, uint64_t row) {
    uint32_t name = mill_u32(t, &t->gpu.name, row);
    uint32_t collective = mill_u32(t, &t->gpu.collective, row);
    if (collective != MILL_NONE && mill_name_class(t, name) == MILL_CLASS_COMMUNICATION) {
        uint16_t kind = mill_u16(t, &t->collectives.kind, collective);
        if (kind != UINT16_MAX)
            return kind;
    }
    return mill_u16(t, &t->names.kind, name);
}
/* The same as text, or NULL where it has none. */
static inline const char *mill_gpu_kind(const mill_trace *t, uint64_t row) {
    uint16_t kind = mill_gpu_kind_row(t, row);
    return kind == UINT16_MAX ? NULL : mill_text(t, &t->kinds, kind);
}

#if UINTPTR_MAX == UINT64_MAX
MILL_STATIC_ASSERT(sizeof(mill_column) == 16, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_texts) == 40, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_names) == 88, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_devices) == 72, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_streams) == 56, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_threads) == 72, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_gpu) == 216, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_cpu) == 136, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_flows) == 88, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_collectives) == 184, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_counters) == 72, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_diagnostics) == 88, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_syncs) == 168, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_timers) == 136, "mill.trace/1");
MILL_STATIC_ASSERT(sizeof(mill_trace) == 1576, "mill.trace/1");
#endif

#ifdef __cplusplus
}
#endif
#endif
