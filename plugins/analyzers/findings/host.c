/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on what the CPU does to the device: G8, G9 and G12. */
#include <string.h>

#include "findings.h"

/* ---------------------------------------------------------------- G8: launched too late */

static void check_launches(findings_analysis *analysis, const findings_device *d) {
    const findings_options *o = analysis->options;
    int64_t late = 0;
    size_t n = 0;
    findings_check check = {
        .rule = "G8",
        .threshold = findings_text(analysis, "> %g %%", o->not_launched),
        .at = MILL_UNKNOWN,
    };
    if (d->primary != KIT_ALL_STREAMS) {
        const kit_gaps *gaps = &analysis->gaps[d->primary];
        const kit_gap *longest = NULL;
        for (size_t i = 0; i < gaps->n; i++) {
            const kit_gap *gap = &gaps->v[i];
            if (gap->ready == gap->start)
                continue;
            n++;
            late += gap->ready - gap->start;
            if (!longest || gap->ready - gap->start > longest->ready - longest->start)
                longest = gap;
        }
        check.measure = findings_percent(analysis, late, d->window);
        check.met = (double)late > o->not_launched / 100 * (double)d->window;
        check.cost = check.gain = late;
        check.at = longest ? longest->start : MILL_UNKNOWN;
        check.evidence = findings_text(
            analysis,
            "In %zu gaps of the computing stream, %s µs (%s of the window), the next kernel was "
            "not launched yet.",
            n, findings_us(analysis, late), findings_percent(analysis, late, d->window));
        check.advice = "The CPU is too slow: use CUDA graphs or compile the model, take "
                       "synchronisations out, fuse small kernels.";
        check.confidence = 0.8;
    }
    findings_add(analysis, d, &check);
}

/* ---------------------------------------------------------------- G9: the CPU polls */

static void check_polls(findings_analysis *analysis, const findings_device *d) {
    size_t n = 0;
    int64_t time = 0, cost = 0;
    findings_check check = {.rule = "G9", .threshold = "> 0", .at = MILL_UNKNOWN, .informs = true};
    for (size_t i = 0; i < analysis->host.n_polls; i++) {
        const kit_poll *poll = &analysis->host.polls[i];
        int64_t of = kit_poll_cost(&analysis->all, poll);
        if (&analysis->all.devices[poll->device] != d->view)
            continue;
        if (n++ == 0)
            check.at = poll->start;
        time = kit_add(time, poll->end - poll->start);
        cost = kit_add(cost, of == MILL_UNKNOWN ? 0 : of);
    }
    if (d->waits.all.n > 0)
        check.measure = findings_text(analysis, "%zu stalls", n);
    check.met = n > 0;
    check.cost = check.gain = cost;
    check.evidence = findings_text(
        analysis,
        "A thread of the CPU waits %zu times in a loop for communication, %s µs in all; the "
        "device stands %s µs from the end of what it waits for to the next communication.",
        n, findings_us(analysis, time), findings_us(analysis, cost));
    check.advice = "Costs little while enough is queued on the other streams, but rules out CUDA "
                   "graphs; known receive counts, or kernels that read them on the device, would "
                   "end it.";
    check.confidence = 0.6;
    findings_add(analysis, d, &check);
}

/* ---------------------------------------------------------------- G12: copies of the host */

static bool is_host_copy(const findings_analysis *analysis, const kit_activity *a) {
    static const char *const directions[] = {"HtoD", "DtoH", "HostToDevice", "DeviceToHost"};
    const mill_trace *trace = analysis->all.trace;
    const char *name = mill_name(trace, mill_u32(trace, &trace->gpu.name, a->row));
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (strstr(name, directions[i]))
            return true;
    return false;
}

static void check_copies(findings_analysis *analysis, const findings_device *d) {
    const mill_trace *trace = analysis->all.trace;
    kit_tally copies = {0};
    int64_t exposed = 0, at = MILL_UNKNOWN;
    size_t pageable = 0;
    for (size_t i = 0; i < d->view->n; i++) {
        const kit_activity *a = &d->view->v[i];
        if (a->cls != KIT_MEM || !is_host_copy(analysis, a))
            continue;
        kit_interval owned = kit_tally_add(&copies, a->start, a->end);
        exposed += owned.end - owned.start - kit_covered(&d->covers[KIT_COMP], owned);
        const char *name = mill_name(trace, mill_u32(trace, &trace->gpu.name, a->row));
        pageable += strstr(name, "Pageable") != NULL;
        at = at == MILL_UNKNOWN ? a->start : at;
    }
    findings_add(
        analysis, d,
        &(findings_check){
            .rule = "G12",
            .measure = findings_percent(analysis, exposed, d->window),
            .threshold = "> 0",
            .met = exposed > 0,
            .cost = exposed,
            .gain = findings_bound_comm(d, exposed),
            .at = at,
            .evidence = findings_text(analysis,
                                      "%lld copies between host and device take %s µs, of which "
                                      "%s µs are not under computation; %zu of them are of "
                                      "pageable memory.",
                                      (long long)copies.n, findings_us(analysis, copies.busy),
                                      findings_us(analysis, exposed), pageable),
            .advice = "Pin the memory on the host, and copy ahead on a stream of its own.",
            .confidence = 0.7,
        });
}

mill_status findings_check_host(findings_analysis *analysis, const findings_device *device) {
    check_launches(analysis, device);
    check_polls(analysis, device);
    check_copies(analysis, device);
    return mill_cancelled(analysis->run) ? MILL_E_CANCELLED : MILL_OK;
}
