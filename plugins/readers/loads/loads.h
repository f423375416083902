/* SPDX-License-Identifier: Apache-2.0 */
/* A file of expert loads being read: what its formats share, and what is said of it. */
#ifndef LOADS_H
#define LOADS_H

#include <stdbool.h>
#include <tracemill/expert_load.h>
#include <tracemill/kit/report.h>

#define LD_MOST_EXPERTS 65536             /* of a layer: a larger number is no expert's */
#define LD_LARGEST 1e18                   /* a load: sums of them stay finite */
#define LD_MOST_CELLS (UINT64_C(1) << 28) /* loads of a value: 2 GiB of them */

typedef enum ld_content { LD_AUTO, LD_LOADS, LD_ASSIGNMENTS } ld_content;
typedef enum ld_invalid { LD_FAIL, LD_ZERO } ld_invalid;

typedef struct ld_options {
    const char *path;
    int content; /* ld_content */
    int invalid; /* ld_invalid */
    int64_t experts, first_layer, tokens_per_step, top;
} ld_options;

/* A note of the report to come. In the run's scratch. */
typedef struct ld_remark ld_remark;
struct ld_remark {
    ld_remark *next;
    mill_level level;
    const char *id, *text;
};

typedef struct ld_remarks {
    mill_run *run;
    ld_remark *first, **last;
} ld_remarks;

void ld_remarks_init(ld_remarks *m, mill_run *run);
MILL_PRINTF(4, 5)
void ld_remark_add(ld_remarks *m, mill_level level, const char *id, const char *format, ...);
/* The warnings, since a plan is often made of loads whose report nobody asked for. */
void ld_remarks_log(const ld_remarks *m);

typedef struct ld_reading {
    mill_run *run;
    const ld_options *options;
    const char *name;   /* the file's, for messages */
    const char *format; /* what it is, for the report */
    const uint8_t *bytes;
    size_t n;
    ld_remarks remarks;
    mill_expert_load *value; /* made by ld_begin or ld_gather_finish */
    uint64_t ranks;          /* whose loads are added up; 0: not known */
    uint64_t n_invalid;      /* loads that are NaN, negative or above LD_LARGEST; the first: */
    double invalid;
    int64_t invalid_step, invalid_layer, invalid_expert;
} ld_reading;

/* Makes the value: loads of 0, to be filled. E_DATA for sizes that make no sense. */
mill_status ld_begin(ld_reading *r, uint64_t steps, uint64_t layers, uint64_t experts,
                     double **ret_load);
/* Labels of the value, copied; left out if they count from 0. */
void ld_label(ld_reading *r, const int64_t *step, const int64_t *layer);
/* The same where the file does not number its layers. */
void ld_label_first_layer(ld_reading *r);

void ld_count_invalid(ld_reading *r, double load, int64_t step, int64_t layer, int64_t expert);
/* The load itself, or 0, counted, if it can't be one. */
static inline double ld_valid(ld_reading *r, double load, int64_t step, int64_t layer,
                              int64_t expert) {
    if (load >= 0 && load <= LD_LARGEST)
        return load;
    ld_count_invalid(r, load, step, layer, expert);
    return 0;
}
/* Fails if there were some and the option says so, else tells of them. */
mill_status ld_judge_invalid(ld_reading *r);

/* The formats. Each makes r->value, or fails. */
mill_status ld_read_npy(ld_reading *r);
mill_status ld_read_safetensors(ld_reading *r);
mill_status ld_read_json(ld_reading *r);
mill_status ld_read_csv(ld_reading *r);
/* TensorRT-LLM's files beside the meta_info.json that is being read. */
mill_status ld_read_folder(ld_reading *r, int64_t experts);

/* Reads the file by what it holds. */
mill_status ld_read(ld_reading *r);

/* Says what is odd in the loads: empty layers, one rank's experts only, and so on; sets `integral`.
 */
void ld_inspect(ld_remarks *m, mill_expert_load *value);

/* Σ over the steps: [layers][experts], in the run's scratch. */
const double *ld_sum_steps(mill_run *run, const mill_expert_load *v);

typedef struct ld_story {
    const char *id, *title, *format; /* format NULL: none */
    int64_t top;
} ld_story;
mill_report *ld_tell(mill_run *run, const ld_story *story, const mill_expert_load *value,
                     const ld_remarks *remarks);
/* Begins a report with the remarks. */
void ld_tell_remarks(kit_report *report, const ld_remarks *remarks);

/* The model's number of a layer. */
static inline int64_t ld_layer_number(const mill_expert_load *value, uint64_t layer) {
    return value->layer ? value->layer[layer] : (int64_t)layer;
}
static inline int64_t ld_step_number(const mill_expert_load *value, uint64_t step) {
    return value->step ? value->step[step] : (int64_t)step;
}

/* Of int64 values, for qsort. */
int ld_compare_numbers(const void *a, const void *b);

extern const mill_stage ld_join_stage, ld_forecast_stage, ld_balancedness_stage;

#endif
