/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU activities of a trace as analyses want them: device by device, in order, each with its
 * class, its stream and its place, and only those of the window that was asked for.
 *
 * Activities stand in the order (start, end, stream, correlation). A device's window is the span
 * of its activities, or what `clip`, `from` and `to` make of it; then activities are cut to it.
 * No span exceeds 2^62 ns, as kit/measure.h demands. All memory is the run's scratch.
 */
#ifndef TRACEMILL_KIT_ACTIVITIES_H
#define TRACEMILL_KIT_ACTIVITIES_H

#include <tracemill/attribution.h>
#include <tracemill/kit/measure.h>
#include <tracemill/kit/number.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kit_clip { KIT_CLIP_NONE, KIT_CLIP_CPU } kit_clip;

/* Options that all analyses of a trace share; part of each one's own options. */
typedef struct kit_selection {
    mill_list streams;       /* of int64: all that runs on these is communication */
    mill_list communication; /* of texts: the kinds that count as communication; none: all */
    const char *steps;       /* "", "all", "3" or "2-5": step numbers */
    int64_t warm_up;         /* how many first steps are left out */
    bool whole_steps;        /* leave out steps that the profile cuts */
    int clip;                /* kit_clip */
    int64_t from, to;        /* ns from the first activity; to 0: to the end */
} kit_selection;

extern const char *const kit_clips[];

/* Their rows in a stage class's table; `field` is the kit_selection in `owner`. */
#define KIT_SELECTION_OPTIONS(owner, field)                                                        \
    {.name = "streams-as-communication",                                                           \
     .type = MILL_OPT_LIST,                                                                        \
     .elem = MILL_OPT_INT,                                                                         \
     .offset = MILL_OPT_OFF(owner, field.streams, LIST),                                           \
     .help = "Numbers of streams on which every activity is communication, whatever its name "     \
             "says. Elsewhere names still decide."},                                               \
        {.name = "communication",                                                                  \
         .type = MILL_OPT_LIST,                                                                    \
         .elem = MILL_OPT_STR,                                                                     \
         .offset = MILL_OPT_OFF(owner, field.communication, LIST),                                 \
         .help = "Kinds that count as communication (dispatch, combine); what is of another kind " \
                 "counts as computation. Left out: all kinds."},                                   \
        {.name = "steps",                                                                          \
         .type = MILL_OPT_STR,                                                                     \
         .offset = MILL_OPT_OFF(owner, field.steps, STR),                                          \
         .def = "",                                                                                \
         .help = "Only activities launched in these profiler steps: all, a number (3), or a "      \
                 "range (2-5). Empty: activities of no step too. Needs the attribution."},         \
        {.name = "warm-up",                                                                        \
         .type = MILL_OPT_INT,                                                                     \
         .offset = MILL_OPT_OFF(owner, field.warm_up, INT),                                        \
         .def = "0",                                                                               \
         .min = 0,                                                                                 \
         .max = 1e9,                                                                               \
         .unit = "steps",                                                                          \
         .help = "With steps: how many first steps of the profile are left out."},                 \
        {.name = "whole-steps",                                                                    \
         .type = MILL_OPT_BOOL,                                                                    \
         .offset = MILL_OPT_OFF(owner, field.whole_steps, BOOL),                                   \
         .def = "no",                                                                              \
         .help = "With steps: leave out the steps that the profile's start or end cuts."},         \
        {.name = "clip",                                                                           \
         .type = MILL_OPT_ENUM,                                                                    \
         .offset = MILL_OPT_OFF(owner, field.clip, ENUM),                                          \
         .def = "none",                                                                            \
         .choices = kit_clips,                                                                     \
         .help = "With steps: none takes all work that the steps launched, cpu cuts it to the "    \
                 "steps' own time on the CPU, which loses what runs late."},                       \
        {.name = "from",                                                                           \
         .type = MILL_OPT_DURATION,                                                                \
         .offset = MILL_OPT_OFF(owner, field.from, DURATION),                                      \
         .def = "0s",                                                                              \
         .min = 0,                                                                                 \
         .max = 4e18,                                                                              \
         .help = "Where the window begins, counted from the device's first activity."},            \
    {                                                                                              \
        .name = "to", .type = MILL_OPT_DURATION,                                                   \
        .offset = MILL_OPT_OFF(owner, field.to, DURATION), .def = "0s", .min = 0, .max = 4e18,     \
        .help = "Where the window ends, counted from the device's first activity; 0s: at the "     \
                "last end.",                                                                       \
    }

typedef struct kit_activity {
    int64_t start, end; /* cut to the window */
    uint32_t row;       /* of the trace's gpu */
    uint32_t stream;    /* of the kit_activities' streams */
    uint32_t place;     /* of the attribution, or MILL_NONE */
    uint16_t kind;      /* row of the trace's kinds, KIT_KIND_NONE or KIT_KIND_STREAM */
    uint8_t cls;        /* kit_class */
    uint8_t cat;        /* mill_gpu_cat */
} kit_activity;

#define KIT_KIND_NONE UINT16_MAX         /* its rule names no kind */
#define KIT_KIND_STREAM (UINT16_MAX - 1) /* communication by the option only */

typedef struct kit_stream {
    int64_t id;        /* or MILL_UNKNOWN */
    const char *label; /* or NULL */
    uint32_t device;   /* of the kit_activities' devices */
    uint32_t row;      /* of the trace's streams */
    bool named;        /* by the option: all on it is communication */
    uint64_t n;        /* activities selected on it */
} kit_stream;

typedef struct kit_device {
    int64_t id;                  /* or MILL_UNKNOWN */
    char number[KIT_NUMBER_MAX]; /* the id as text */
    const char *scope;           /* of its figures: "device 3"; NULL where it is the only one */
    const char *name;            /* or NULL */
    int64_t sms;                 /* or MILL_UNKNOWN */
    kit_activity *v;
    size_t n;
    kit_interval window;
    kit_set sets[KIT_CLASSES]; /* the union of the activities of each class */
} kit_device;

typedef struct kit_activities {
    const mill_trace *trace;
    const mill_attribution *places; /* or NULL */
    kit_device *devices;            /* those with activities selected, by id */
    kit_stream *streams;            /* those with activities selected, by device, id and label */
    size_t n_devices, n_streams;
    uint64_t left_out;        /* activities outside of the steps or the window */
    uint64_t n_steps;         /* steps selected */
    const uint8_t *step_used; /* of each step of the attribution; NULL: `steps` is empty */
} kit_activities;

/* places may be NULL. E_CONFIG for a selection that makes no sense, E_DATA for times that can't be
 * computed with or an attribution of another trace; the cause is recorded. */
mill_status kit_activities_select(mill_run *run, const mill_trace *trace,
                                  const mill_attribution *places, const kit_selection *selection,
                                  kit_activities *ret_activities);

/* How many SMs the activity can hold at once: min(blocks of its grid, SMs of the device); 0 where
 * either is unknown. */
int64_t kit_activity_sms(const kit_activities *all, const kit_device *device,
                         const kit_activity *a);

/* The same of each of the device's activities, to be asked often; freed with free(). NULL where the
 * device has an unknown number of SMs, or more than KIT_MOST_SMS. */
#define KIT_MOST_SMS 65536 /* a device with more is described wrong */
uint32_t *kit_device_sms(const kit_activities *all, const kit_device *device);

/* The group of an activity, or MILL_NONE. */
typedef uint32_t (*kit_group_fn)(const void *context, const kit_activity *a);

/* ret_sets[g]: the union of the device's activities in group g, of n_groups. O(n). */
void kit_sets_of(mill_run *run, const kit_device *device, kit_group_fn group, const void *context,
                 kit_set *ret_sets, size_t n_groups);

/* The kind as text: of KIT_KIND_NONE "(no kind)", of KIT_KIND_STREAM "(by stream)". */
const char *kit_kind_name(const kit_activities *all, uint16_t kind);

/* What to call one activity: its kind, or where it has none its own name. */
const char *kit_activity_name(const kit_activities *all, const kit_activity *a);

/* The place's stage ("dispatch(F)"), or NULL. */
static inline const char *kit_stage_name(const kit_activities *all, uint32_t place) {
    if (place == MILL_NONE || all->places->stage[place] == MILL_NONE)
        return NULL;
    return all->places->stages[all->places->stage[place]];
}

/* Whether two activities of these places belong to one annotation of a stage. Places without a
 * stage do not tell: all work of a step may have the same. */
static inline bool kit_one_place(const kit_activities *all, uint32_t place, uint32_t other) {
    return place == other && kit_stage_name(all, place) != NULL;
}

/* The place's stage as a row of the attribution's, its chunk, layer and step, or what stands for
 * none. */
static inline uint32_t kit_stage_of(const kit_activities *all, uint32_t place) {
    return place == MILL_NONE ? MILL_NONE : all->places->stage[place];
}
static inline mill_chunk kit_chunk_of(const kit_activities *all, uint32_t place) {
    return place == MILL_NONE ? MILL_CHUNK_NONE : (mill_chunk)all->places->chunk[place];
}
static inline int64_t kit_layer_of(const kit_activities *all, uint32_t place) {
    return place == MILL_NONE ? MILL_UNKNOWN : all->places->layer[place];
}
static inline uint32_t kit_step_of(const kit_activities *all, uint32_t place) {
    return place == MILL_NONE ? MILL_NONE : all->places->step[place];
}
/* The number of a step as the profiler counts, or MILL_UNKNOWN. */
static inline int64_t kit_step_number(const kit_activities *all, uint32_t step) {
    return step == MILL_NONE ? MILL_UNKNOWN : all->places->step_number[step];
}

/* Which of the trace's kinds an option names: a truth for each. In the run's scratch. */
const bool *kit_kinds_named(mill_run *run, const kit_activities *all, const mill_list *names);
static inline bool kit_kind_in(const kit_activities *all, const bool *named, uint16_t kind) {
    return kind < all->trace->kinds.n && named[kind];
}

/* What each class of the device covers. In the run's scratch. */
void kit_covers_of(mill_run *run, const kit_device *device, kit_cover ret_covers[KIT_CLASSES]);

#ifdef __cplusplus
}
#endif
#endif
