/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the module share: the formats, what a file tells of a plan, and how a value is
 * made of it. */
#ifndef PLANS_PLANS_H
#define PLANS_PLANS_H

#include <tracemill/expert_load.h>
#include <tracemill/expert_plan.h>

typedef enum pl_format { PL_JSON, PL_SGLANG, PL_TRTLLM, PL_ASCEND, PL_VLLM, PL_NPY } pl_format;

/* Their names in options, in that order. */
#define PL_FORMAT_NAMES "json", "sglang", "trtllm", "vllm-ascend", "vllm", "npy"

#define PL_SCHEMA "tracemill.expert-plan/1" /* of PL_JSON */

/* A file in memory. */
typedef struct pl_file {
    mill_run *run;
    const char *path;
    const uint8_t *data;
    size_t length;
} pl_file;

/* What a file tells. Memory is the run's scratch; 0 or NULL: it does not tell. */
typedef struct pl_draft {
    pl_format format;
    uint32_t layers, slots;
    int64_t experts, gpus, nodes, groups;
    const char *subject, *policy;
    int32_t *expert;  /* [layers][slots], from MILL_NO_EXPERT up */
    uint32_t *rank;   /* [layers][slots] */
    uint32_t *first;  /* [gpus + 1] */
    uint32_t *node;   /* [gpus] */
    int64_t *layer;   /* [layers], rising */
    bool every_layer; /* a row for each layer of the model, those without experts too */
    bool one_for_all; /* its row is that of all layers */
} pl_draft;

/* The options of plan.read. */
typedef struct pl_read_options {
    const char *path;
    int format; /* 0: by content; else a pl_format + 1 */
    int64_t gpus, nodes, experts, layers, first_layer;
} pl_read_options;

/* A failure that begins with the file's path. */
#define pl_fail(file, ...) pl_fail_at((file), __FILE__, __LINE__, __VA_ARGS__)
MILL_PRINTF(4, 5)
mill_status pl_fail_at(const pl_file *file, const char *source, int line, const char *format, ...);

/* Readers: each fills a draft that is all zeros. PL_JSON stands for all that is JSON. */
mill_status pl_read_json(const pl_file *file, pl_draft *ret);
mill_status pl_read_yaml(const pl_file *file, pl_draft *ret);
mill_status pl_read_npy(const pl_file *file, pl_draft *ret);

/* Takes the options for what the file does not tell, checks all, and makes the value. */
mill_status pl_build(const pl_file *file, const pl_read_options *options, pl_draft *draft,
                     mill_expert_plan **ret_plan);

/* Reads a file by its content, or by options->format. */
mill_status pl_read(const pl_file *file, const pl_read_options *options,
                    mill_expert_plan **ret_plan);

/* The file beside "….phy2log.npy" of another name; NULL: the path does not end so. */
const char *pl_npy_sibling(mill_run *run, const char *path, const char *name);

/* Where a GPU holds an expert twice: the first such row, GPU and expert. False: nowhere. No slot is
 * empty. */
bool pl_duplicate(mill_run *run, const mill_expert_plan *plan, uint32_t *ret_layer,
                  uint32_t *ret_gpu, int32_t *ret_expert);

/* The number of a row of a plan or of loads in the model. */
static inline int64_t pl_layer(const int64_t *layer, uint32_t i) {
    return layer ? layer[i] : i;
}

extern const mill_stage pl_read_stage, pl_write_stage, pl_diff_stage;

#endif
