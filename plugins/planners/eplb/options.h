/* SPDX-License-Identifier: Apache-2.0 */
/* The options that `eplb` and `eplb.replay` share, as rows of their tables. */
#ifndef EPLB_OPTIONS_H
#define EPLB_OPTIONS_H

#include "problem.h"

#define EP_INT(options, member, field, text, least, most, what, about)                             \
    {                                                                                              \
        .name = text, .type = MILL_OPT_INT, .offset = MILL_OPT_OFF(options, member.field, INT),    \
        .min = least, .max = most, .unit = what, .help = about                                     \
    }
#define EP_ENUM(options, member, field, text, first, all, about)                                   \
    {                                                                                              \
        .name = text, .type = MILL_OPT_ENUM, .offset = MILL_OPT_OFF(options, member.field, ENUM),  \
        .def = first, .choices = all, .help = about                                                \
    }
#define EP_BOOL(options, member, field, text, first, about)                                        \
    {                                                                                              \
        .name = text, .type = MILL_OPT_BOOL, .offset = MILL_OPT_OFF(options, member.field, BOOL),  \
        .def = first, .help = about                                                                \
    }
#define EP_LIST(options, member, field, text, of, least, most, what, about)                        \
    {                                                                                              \
        .name = text, .type = MILL_OPT_LIST, .elem = of,                                           \
        .offset = MILL_OPT_OFF(options, member.field, LIST), .min = least, .max = most,            \
        .unit = what, .help = about                                                                \
    }

#define EP_MOST 1048576 /* of anything that is counted */

/* options: the stage's struct, member: its ep_options. */
#define EP_OPTIONS(options, member)                                                                \
    EP_INT(options, member, gpus, "gpus", 1, 65536, "GPUs",                                        \
           "GPUs that hold the experts of a layer: the size of the expert-parallel group. Not "    \
           "given: as the previous plan."),                                                        \
        EP_INT(options, member, nodes, "nodes", 1, 65536, "nodes",                                 \
               "Nodes that the GPUs are on, as many on each. Not given: as the previous plan, or " \
               "1."),                                                                              \
        EP_INT(options, member, groups, "groups", 1, EP_MOST, "groups",                            \
               "Groups of experts that the router chooses first (DeepSeek-V3: 8). Not given: as "  \
               "the previous plan, or 1."),                                                        \
        EP_INT(options, member, replicas, "replicas", 1, EP_MOST, "slots",                         \
               "Physical experts of a layer, over all GPUs: eplb.py's num_replicas. Not given: "   \
               "as the previous plan, or as many as there are experts."),                          \
        EP_INT(options, member, redundant, "redundant", 0, EP_MOST, "slots",                       \
               "The same as what is beyond one for each expert, as serving engines ask for it."),  \
        EP_LIST(options, member, slots_per_gpu, "slots-per-gpu", MILL_OPT_INT, 0, EP_MOST,         \
                "slots", "Slots of each GPU, where they differ."),                                 \
        EP_BOOL(                                                                                   \
            options, member, uneven, "uneven", "no",                                               \
            "Take numbers of slots that the GPUs do not divide: the first ones get one more."),    \
        EP_ENUM(options, member, policy, "policy", "auto", ep_policies,                            \
                "reference: eplb.py's plan, bit for bit. global: any expert on any GPU. "          \
                "hierarchical: a group stays on one node. soft-nodes: as few groups on several "   \
                "nodes as cap allows. auto: hierarchical where the nodes divide the groups, else " \
                "global, as eplb.py."),                                                            \
        EP_ENUM(options, member, sort, "sort", "stable", ep_sorts,                                 \
                "Where eplb.py leaves equal loads: in the order of experts, or as libstdc++'s "    \
                "std::sort does in torch 1.13."),                                                  \
        EP_ENUM(options, member, search, "search", "fast", ep_searches,                            \
                "How hard to look for a better plan than eplb.py's: about a millisecond a layer, " \
                "tens of them, or not at all."),                                                   \
        EP_BOOL(options, member, distinct, "distinct", "yes",                                      \
                "No two replicas of an expert on one GPU, where that can be: the second one "      \
                "takes memory and no load off. Not of policy = reference."),                       \
        EP_ENUM(options, member, objective, "objective", "mean", ep_objectives,                    \
                "What is made small: the largest GPU load of the mean over the steps, the worst "  \
                "step's over its mean, or the mean of each step's largest."),                      \
        {.name = "cap",                                                                            \
         .type = MILL_OPT_NUM,                                                                     \
         .offset = MILL_OPT_OFF(options, member.cap, NUM),                                         \
         .def = "1.05",                                                                            \
         .min = 1,                                                                                 \
         .max = 1000,                                                                              \
         .unit = "of the mean",                                                                    \
         .help = "With soft-nodes: the largest GPU load that is allowed for groups to stay on "    \
                 "one node."},                                                                     \
        EP_INT(options, member, max_moves, "max-moves", 0, EP_MOST, "slots",                       \
               "At most so many experts of a layer are loaded to GPUs that do not hold them in "   \
               "the previous plan. Not given: no limit."),                                         \
        EP_BOOL(options, member, relabel, "relabel", "yes",                                        \
                "With a previous plan: give what was planned for a GPU to the one of its kind "    \
                "that holds most of it."),                                                         \
        EP_BOOL(options, member, keep_slots, "keep-slots", "yes",                                  \
                "With a previous plan: an expert that stays on a GPU stays in its slot."),         \
        EP_LIST(options, member, speeds, "speeds", MILL_OPT_NUM, 0.001, 1000, "of the usual",      \
                "Speed of each GPU; one that is twice as fast takes twice the load."),             \
        EP_LIST(options, member, failed, "failed", MILL_OPT_INT, 0, 65535, "GPUs",                 \
                "GPUs that have failed, from 0: they hold nothing."),                              \
        {.name = "expert-bytes",                                                                   \
         .type = MILL_OPT_BYTES,                                                                   \
         .offset = MILL_OPT_OFF(options, member.expert_bytes, BYTES),                              \
         .min = 1,                                                                                 \
         .max = 1e15,                                                                              \
         .help = "Weights of one expert of one layer (DeepSeek-V3 in FP8: 42MiB). Not given: "     \
                 "bytes to move are unknown."},                                                    \
        EP_LIST(options, member, layers, "layers", MILL_OPT_INT, 0, 1e9, NULL,                     \
                "Layers to plan, by their number in the loads. Not given: all."),                  \
    {                                                                                              \
        .name = "seed", .type = MILL_OPT_INT, .offset = MILL_OPT_OFF(options, member.seed, INT),   \
        .def = "0", .min = 0, .max = 1e15, .help = "Of the search's random numbers."               \
    }

#endif
