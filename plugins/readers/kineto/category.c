/* SPDX-License-Identifier: Apache-2.0 */
/* The table of categories. */
#include "category.h"

#include <string.h>
#include <strings.h>
#include <tracemill/trace.h>

static const category categories[] = {
    {"kernel", MILL_GPU_KERNEL, 0},
    {"gpu_memcpy", MILL_GPU_MEMCPY, 0},
    {"gpu_memset", MILL_GPU_MEMSET, 0},
    {"cpu_op", 0, MILL_CPU_OP},
    {"cuda_runtime", 0, MILL_CPU_RUNTIME},
    {"cuda_driver", 0, MILL_CPU_DRIVER},
    {"user_annotation", 0, MILL_CPU_ANNOTATION},
    {"python_function", 0, MILL_CPU_PYTHON},
    {"hip_runtime", 0, MILL_CPU_RUNTIME},
    {"xpu_runtime", 0, MILL_CPU_RUNTIME},
    {"mtia_runtime", 0, MILL_CPU_RUNTIME},
    {"privateuse1_runtime", 0, MILL_CPU_RUNTIME},
    {"cuda_sync", 0, 0, true},
    /* Kineto of 2021 */
    {"memcpy", MILL_GPU_MEMCPY, 0},
    {"memset", MILL_GPU_MEMSET, 0},
    {"operator", 0, MILL_CPU_OP},
    {"runtime", 0, MILL_CPU_RUNTIME},
};

const category category_unknown = {"", 0, 0};
const category category_other = {"", 0, MILL_CPU_OTHER};

const category *category_find(const char *text, size_t length) {
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++)
        if (strlen(categories[i].text) == length && !strncasecmp(categories[i].text, text, length))
            return &categories[i];
    return &category_unknown;
}
