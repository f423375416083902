/* SPDX-License-Identifier: Apache-2.0 */
/* How the activities of a device share its multiprocessors (SMs).
 *
 * A kernel holds at most as many SMs as its grid has blocks: an upper bound, since a profile does
 * not tell more. Copies run on copy engines and hold none. SM time is SMs times ns.
 */
#ifndef TRACEMILL_KIT_SMS_H
#define TRACEMILL_KIT_SMS_H

#include <tracemill/kit/activities.h>
#include <tracemill/kit/sweep.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kit_sms {
    uint32_t *of;               /* of each activity, until kit_sms_finish; else NULL */
    bool comm_known, all_known; /* of all kernels that take time it is known how many they hold */
    double comm_time, hidden_time;
    double held_time;       /* of all kernels: Σ durations · SMs held */
    double hidden;          /* Σ |a ∩ C| of communication */
    double mean;            /* comm_time / Σ durations of communication */
    int64_t *held, *held_n; /* Σ durations and number of the communication holding i SMs; NULL: how
                               many SMs the device has is unknown */
    int64_t reserved;       /* how many communication holds for the most time; 0: unknown */
    kit_tally rest;         /* computation of exactly as many blocks as SMs are left */
    int64_t rest_without;   /* of its Σ durations, without communication */
    /* By a sweep, which calls kit_sms_pass and kit_sms_change. */
    int64_t now;      /* Σ SMs held by what runs */
    double used_time; /* ∫ min(SMs, now) */
    int64_t crowded;  /* the time in which more are held than there are */
} kit_sms;

/* All but what a sweep finds. comp and comm: covers of the device's computation and communication.
 * held and held_n are the run's scratch. MILL_OK or E_CANCELLED. */
mill_status kit_sms_init(kit_sms *sms, mill_run *run, const kit_activities *all,
                         const kit_device *device, const kit_cover *comp, const kit_cover *comm);
void kit_sms_finish(kit_sms *sms);

/* The same with a sweep of its own, finished. */
mill_status kit_sms_measure(kit_sms *sms, mill_run *run, const kit_activities *all,
                            const kit_device *device, const kit_cover *comp, const kit_cover *comm);

/* How many SMs the activity holds; 0: none, or unknown. */
static inline int64_t kit_sms_of(const kit_sms *sms, const kit_device *device,
                                 const kit_activity *a) {
    return a->cat == MILL_GPU_KERNEL ? sms->of[a - device->v] : 0;
}

/* `time` ns go by without a change. */
static inline void kit_sms_pass(kit_sms *sms, const kit_device *device, int64_t time) {
    if (!sms->of)
        return;
    sms->used_time += (double)time * (double)(sms->now < device->sms ? sms->now : device->sms);
    sms->crowded += sms->now > device->sms ? time : 0;
}

static inline void kit_sms_change(kit_sms *sms, const kit_device *device,
                                  const kit_change *change) {
    if (!sms->of)
        return;
    int64_t of = kit_sms_of(sms, device, change->activity);
    sms->now += change->begins ? of : -of;
}

#ifdef __cplusplus
}
#endif
#endif
