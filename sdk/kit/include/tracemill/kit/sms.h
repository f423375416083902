/* SPDX-License-Identifier: Apache-2.0 */
/* How the activities of a device share its multiprocessors (SMs).
 *
 * A kernel holds at most as many SMs as its grid has blocks: an upper bound, since a profile does
 * not tell more. Copies run on copy engines and hold none. SM time is SMs times ns.
 */
#ifndef TRACEMILL_KIT_SMS_H
#define TRACEMILL_KIT_SMS_H

#include <tracemill/kit/activities.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KIT_MOST_SMS 65536 /* a device with more is described wrong */

typedef struct kit_sms {
    bool comm_known, all_known; /* of all kernels that take time it is known how many they hold */
    double comm_time, hidden_time;
    double held_time;       /* of all kernels: Σ durations · SMs held */
    double used_time;       /* ∫ min(SMs, Σ SMs held by what runs) */
    double hidden;          /* Σ |a ∩ C| of communication */
    double mean;            /* comm_time / Σ durations of communication */
    int64_t crowded;        /* the time in which more are held than there are */
    int64_t *held, *held_n; /* Σ durations and number of the communication holding i SMs; NULL: the
                               number of SMs is unknown, and so is all the rest */
    int64_t reserved;       /* how many communication holds for the most time; 0: unknown */
    kit_tally rest;         /* computation of exactly as many blocks as SMs are left */
    int64_t rest_without;   /* of its Σ durations, without communication */
} kit_sms;

/* covers: of the device, by kit_covers_of. Memory is the run's scratch. MILL_OK or
 * E_CANCELLED. */
mill_status kit_sms_measure(mill_run *run, const kit_activities *all, const kit_device *device,
                            const kit_cover covers[KIT_CLASSES], kit_sms *ret_sms);

#ifdef __cplusplus
}
#endif
#endif
