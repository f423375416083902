/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on communication beside computation: G1 to G5, and G11. */
#include "findings.h"

/* ---------------------------------------------------------------- G1: what dominates */

/* What the device does for most of the window, and what is lost against doing nothing else. */
typedef struct dominance {
    const char *name, *advice;
    int64_t time, lost;
} dominance;

static dominance find_dominance(const findings_analysis *analysis, const findings_device *d) {
    int64_t comp = kit_time_in(d->states, KIT_IN_COMP), comm = kit_time_in(d->states, KIT_IN_COMM);
    int64_t idle = kit_time_in(d->states, KIT_ALWAYS & ~KIT_IN_ANY);
    if (idle > comp && idle > comm)
        return (dominance){"mostly idle",
                           "See what its idle time waits for (gaps, launch) before anything that "
                           "runs on it.",
                           idle, idle};
    int64_t most = comp >= comm ? comp : comm, lost = d->window - most;
    const char *share = findings_percent(analysis, lost, d->window);
    if (comm == 0)
        return (dominance){"compute-bound",
                           findings_text(analysis,
                                         "Without pauses it could win at most %s of the window: "
                                         "beyond that only less or faster computation helps.",
                                         share),
                           most, lost};
    return (dominance){comp >= comm ? "compute-bound" : "communication-bound",
                       findings_text(analysis,
                                     "More overlap can win at most %s of the window: beyond that "
                                     "only less or faster %s helps.",
                                     share, comp >= comm ? "computation" : "communication"),
                       most, lost};
}

static void check_dominant(findings_analysis *analysis, const findings_device *d) {
    int64_t comp = kit_time_in(d->states, KIT_IN_COMP), comm = kit_time_in(d->states, KIT_IN_COMM);
    int64_t idle = kit_time_in(d->states, KIT_ALWAYS & ~KIT_IN_ANY);
    dominance most = find_dominance(analysis, d);
    findings_add(analysis, d,
                 &(findings_check){
                     .rule = "G1",
                     .measure = findings_percent(analysis, most.time, d->window),
                     .threshold = findings_text(analysis, ">= %g %%", analysis->options->dominant),
                     .met = d->window > 0 && (double)most.time >= analysis->options->dominant /
                                                                      100 * (double)d->window,
                     .informs = true,
                     .cost = most.lost,
                     .gain = most.lost,
                     .at = MILL_UNKNOWN,
                     .evidence = findings_text(
                         analysis,
                         "The device is %s: computation runs in %s of the window, "
                         "communication in %s, nothing in %s; %s µs of %s µs go to "
                         "something else.",
                         most.name, findings_percent(analysis, comp, d->window),
                         findings_percent(analysis, comm, d->window),
                         findings_percent(analysis, idle, d->window),
                         findings_us(analysis, most.lost), findings_us(analysis, d->window)),
                     .advice = most.advice,
                     .confidence = 0.9,
                 });
}

/* ---------------------------------------------------------------- gaps of streams */

/* The gaps of one cause: how many, how long without what was not launched, the longest. */
typedef struct gap_sum {
    size_t n;
    int64_t time;
    const kit_gap *longest;
    uint32_t stream; /* of the longest */
} gap_sum;

static int64_t rest_of(const kit_gap *gap) {
    return gap->end - gap->ready;
}

static void add_gaps(const findings_analysis *analysis, uint32_t stream, kit_gap_cause cause,
                     gap_sum *sum) {
    const kit_gaps *gaps = &analysis->gaps[stream];
    for (size_t i = 0; i < gaps->n; i++) {
        const kit_gap *gap = &gaps->v[i];
        if (gap->cause != cause || gap->ready == gap->end)
            continue;
        sum->n++;
        sum->time += rest_of(gap);
        if (!sum->longest || rest_of(gap) > rest_of(sum->longest)) {
            sum->longest = gap;
            sum->stream = stream;
        }
    }
}

static const char *stream_number(const findings_analysis *analysis, uint32_t stream) {
    char *text = mill_scratch(analysis->run, KIT_NUMBER_MAX);
    return kit_format_int(text, analysis->all.streams[stream].id, 0);
}

/* ---------------------------------------------------------------- G2: computation waits */

static void check_waits(findings_analysis *analysis, const findings_device *d) {
    findings_check check = {.rule = "G2", .threshold = "> 0", .at = MILL_UNKNOWN};
    gap_sum sum = {0};
    if (d->primary != KIT_ALL_STREAMS && d->view->sets[KIT_COMM].n > 0) {
        add_gaps(analysis, d->primary, KIT_GAP_WAIT_COMM, &sum);
        check.measure = findings_percent(analysis, sum.time, d->window);
    }
    if (sum.longest) {
        const kit_activity *next = &d->view->v[sum.longest->next];
        const kit_activity *blocker = &d->view->v[sum.longest->blocker];
        check.met = true;
        check.cost = sum.time;
        check.gain = findings_bound_comm(d, sum.time);
        check.at = sum.longest->ready;
        check.where =
            findings_text(analysis, "stream %s, before %s", stream_number(analysis, d->primary),
                          findings_activity(analysis, next));
        check.evidence = findings_text(
            analysis,
            "The computing stream waits for communication in %zu gaps, %s µs (%s of the window). "
            "In the longest, %s µs, %s waits for %s.",
            sum.n, findings_us(analysis, sum.time), findings_percent(analysis, sum.time, d->window),
            findings_us(analysis, rest_of(sum.longest)), findings_activity(analysis, next),
            findings_activity(analysis, blocker));
        check.advice = "Move work of the other chunk or of another micro-batch there, split or "
                       "reorder the communication, or give it more SMs.";
        check.confidence = 0.8;
    }
    findings_add(analysis, d, &check);
}

/* ---------------------------------------------------------------- G3: ranks wait */

/* The wait of the last layer over that of the first, within the step in which it rises most; 0:
 * there are no two layers. */
static double rise_of(const kit_rank_waits *waits) {
    double most = 0;
    for (size_t first = 0, i = 1; i < waits->n_layers; i++) {
        if (waits->layers[i].step != waits->layers[first].step)
            first = i;
        else if (waits->layers[first].sum > 0) {
            double rise = (double)waits->layers[i].sum / (double)waits->layers[first].sum;
            bool last =
                i + 1 == waits->n_layers || waits->layers[i + 1].step != waits->layers[i].step;
            most = last && rise > most ? rise : most;
        }
    }
    return most;
}

static void check_skew(findings_analysis *analysis, const findings_device *d) {
    const findings_options *o = analysis->options;
    const kit_rank_waits *waits = &d->waits;
    findings_check check = {
        .rule = "G3",
        .at = MILL_UNKNOWN,
        .threshold = findings_text(analysis, "> %g %%, or %g times over layers", o->notify_share,
                                   o->notify_rise),
    };
    if (waits->all.n > 0 && waits->all.sum != MILL_UNKNOWN) {
        double rise = rise_of(waits);
        const char *share = findings_percent(analysis, waits->all.sum, d->sums[KIT_COMM]);
        const char *rises = rise > 0 ? findings_text(analysis, ", %.1f times", rise) : "";
        check.measure = findings_text(analysis, "%s%s", share, rises);
        check.met = (double)waits->all.sum > o->notify_share / 100 * (double)d->sums[KIT_COMM] ||
                    rise > o->notify_rise;
        check.cost = waits->excess;
        check.gain = findings_bound_comm(d, waits->excess);
        check.evidence = findings_text(
            analysis,
            "Kernels in which ranks only wait for each other take %s µs, %s of all communication; "
            "%s µs of it exceed the shortest%s.",
            findings_us(analysis, waits->all.sum), share, findings_us(analysis, waits->excess),
            rise > 0
                ? findings_text(analysis,
                                ", and the last layer waits %.1f times as long as the first", rise)
                : "");
        check.advice = "This rank waits for slower ones: look at their profiles (load of the "
                       "experts, clocks, a late host), not at the network.";
        check.confidence = 0.7;
    }
    findings_add(analysis, d, &check);
}

/* ---------------------------------------------------------------- G4: no SMs left */

/* Streams with more communication than computation. */
static bool *find_comm_streams(const findings_analysis *analysis, const findings_device *d) {
    size_t n = analysis->all.n_streams;
    int64_t *balance = mill_scratch(analysis->run, n * sizeof *balance);
    bool *is = mill_scratch(analysis->run, n + 1);
    for (size_t i = 0; i < d->view->n; i++) {
        const kit_activity *a = &d->view->v[i];
        int64_t dur = a->end - a->start;
        if (a->cls == KIT_COMM)
            balance[a->stream] = kit_add(balance[a->stream], dur);
        else if (a->cls == KIT_COMP)
            balance[a->stream] = kit_add(balance[a->stream], -dur);
    }
    for (size_t s = 0; s < n; s++)
        is[s] = balance[s] > 0;
    return is;
}

static void check_crowded(findings_analysis *analysis, const findings_device *d) {
    findings_check check = {.rule = "G4", .threshold = "> 0", .at = MILL_UNKNOWN};
    gap_sum sum = {0};
    if (d->sms.held && d->view->sets[KIT_COMM].n > 0) {
        const bool *comm = find_comm_streams(analysis, d);
        for (uint32_t s = 0; s < analysis->all.n_streams; s++)
            if (comm[s])
                add_gaps(analysis, s, KIT_GAP_SM_WAIT, &sum);
        check.measure = findings_percent(analysis, sum.time, d->window);
    }
    if (sum.longest) {
        const kit_activity *next = &d->view->v[sum.longest->next];
        check.met = true;
        check.cost = sum.time;
        check.gain = findings_bound_comm(d, sum.time);
        check.at = sum.longest->ready;
        check.where =
            findings_text(analysis, "stream %s, before %s", stream_number(analysis, sum.stream),
                          findings_activity(analysis, next));
        check.evidence = findings_text(
            analysis,
            "Communication waits for SMs in %zu gaps, %s µs (%s of the window), %s µs in the "
            "longest: what computes wants more SMs than the device has.",
            sum.n, findings_us(analysis, sum.time), findings_percent(analysis, sum.time, d->window),
            findings_us(analysis, rest_of(sum.longest)));
        check.advice = "Kernels on two computing streams take the SMs meant for communication: cap "
                       "their grids, or raise the priority of the communication's stream.";
        check.confidence = 0.6;
    }
    findings_add(analysis, d, &check);
}

/* ---------------------------------------------------------------- G5: reserved SMs stand idle */

static void check_reserved(findings_analysis *analysis, const findings_device *d) {
    const kit_sms *sms = &d->sms;
    findings_check check = {.rule = "G5", .threshold = "> 0", .at = MILL_UNKNOWN};
    if (sms->held && sms->rest.n > 0 && sms->rest_without != MILL_UNKNOWN) {
        check.measure = findings_percent(analysis, sms->rest_without, d->window);
        check.met = sms->rest_without > 0;
        check.cost =
            (int64_t)((double)sms->rest_without * (double)sms->reserved / (double)d->view->sms);
        check.gain = findings_bound_comp(d, check.cost);
        check.evidence = findings_text(
            analysis,
            "%lld kernels of %lld blocks leave %lld of %lld SMs to communication; for %s µs of "
            "their time none runs. With all SMs they could take at most %s µs less.",
            (long long)sms->rest.n, (long long)(d->view->sms - sms->reserved),
            (long long)sms->reserved, (long long)d->view->sms,
            findings_us(analysis, sms->rest_without), findings_us(analysis, check.cost));
        check.advice = "Let the kernels use all SMs where no communication is active.";
        check.confidence = 0.5;
    }
    findings_add(analysis, d, &check);
}

/* ---------------------------------------------------------------- G11: both are slower together */

static void check_contention(findings_analysis *analysis, const findings_device *d) {
    const findings_options *o = analysis->options;
    findings_check check = {
        .rule = "G11",
        .threshold = findings_text(analysis, "> %g times", o->contention),
        .at = MILL_UNKNOWN,
    };
    if (d->n_kinds == 0)
        findings_add(analysis, d, &check);
    for (size_t i = 0; i < d->n_kinds; i++) {
        const findings_kind *k = &d->kinds[i];
        const char *name = kit_kind_name(&analysis->all, k->kind);
        double ratio = (double)k->with / (double)k->without;
        check.measure = findings_text(analysis, "%.2f times (%s)", ratio, name);
        check.met = ratio > o->contention;
        check.degree = ratio;
        check.cost = (int64_t)k->slowed;
        check.gain = findings_bound_comp(d, check.cost);
        check.where = findings_text(analysis, "kernels of the kind %s", name);
        check.evidence = findings_text(
            analysis,
            "%zu operations of the kind %s take %.2f to %.2f times as long beside communication "
            "as without it (Σ medians %s and %s µs).",
            k->n, name, k->least, k->most, findings_us(analysis, k->with),
            findings_us(analysis, k->without));
        check.advice = "They share memory bandwidth or SMs with communication: run them where "
                       "none is active, or accept it.";
        check.confidence = 0.4;
        findings_add(analysis, d, &check);
    }
}

mill_status findings_check_overlap(findings_analysis *analysis, const findings_device *device) {
    check_dominant(analysis, device);
    check_waits(analysis, device);
    check_skew(analysis, device);
    check_crowded(analysis, device);
    check_reserved(analysis, device);
    check_contention(analysis, device);
    return mill_cancelled(analysis->run) ? MILL_E_CANCELLED : MILL_OK;
}
