/* SPDX-License-Identifier: Apache-2.0 */
/* By how much each operation may take longer before the makespan does: a pass from the end back.
 *
 * An operation must end before each thing that waits for it has to start: the next one of its rank,
 * and what needs its output, less the transfer. Ranks are gone through from their last operation on
 * in turns, each as far as all that follows has been gone through.
 */
#include "depend.h"
#include "why.h"

#include <stdlib.h>
#include <tracemill/kit/arena.h>

typedef struct slack {
    pp_depend depend;
    const pp_timing *timing;
    const pp_result *result;
    int64_t *late;      /* by operation: the latest end; final once it is gone through */
    int64_t *late_gone; /* by transfer: when it must have left its link; NULL: there are no links */
    uint64_t *at;       /* by rank: operations from here on have been gone through */
} slack;

/* Where transfers block: what waits at the places that meet the one after the operation. */
static bool may_go_blocked(const slack *s, uint64_t op) {
    pp_meeting meetings[PP_MEETINGS];
    uint32_t n = pp_meetings(&s->depend, s->depend.rank[op], op + 1, meetings);
    for (uint32_t i = 0; i < n; i++) {
        const pp_meeting *m = &meetings[i];
        if (m->at < s->at[m->rank])
            return false;
    }
    return true;
}

static bool may_go(const slack *s, uint64_t op) {
    if (s->timing->comm == PP_COMM_BLOCKING)
        return may_go_blocked(s, op);
    for (pp_way way = 0; way < PP_WAYS; way++) {
        uint64_t sink = pp_sink(&s->depend, op, way);
        if (sink != PP_NOTHING && sink < s->at[s->depend.rank[sink]])
            return false;
    }
    return true;
}

static void not_after(int64_t *late, int64_t time) {
    if (*late > time)
        *late = time;
}

/* Links take an operation's transfers one after the other, after those of earlier operations. */
static void go_through_links(slack *s, uint64_t op) {
    for (int i = PP_WAYS - 1; i >= 0; i--) {
        pp_way way = (pp_way)i;
        uint64_t transfer = PP_WAYS * op + way;
        if (pp_sink(&s->depend, op, way) == PP_NOTHING)
            continue;
        int64_t begins = s->late_gone[transfer] - s->timing->occupied;
        uint64_t before = s->depend.before[transfer];
        not_after(&s->late[op], begins);
        if (before != PP_NOTHING)
            not_after(&s->late_gone[before], begins);
    }
}

/* Both sides must come to a transfer in time for it to be done at `start`. */
static void go_through_meetings(slack *s, uint64_t op, int64_t start) {
    uint32_t rank = s->depend.rank[op];
    pp_meeting meetings[PP_MEETINGS];
    uint32_t n = pp_meetings(&s->depend, rank, op, meetings);
    for (uint32_t i = 0; i < n; i++) {
        const pp_meeting *m = &meetings[i];
        int64_t late = start - m->links * s->timing->occupied - s->timing->latency;
        if (op > s->result->first[rank])
            not_after(&s->late[op - 1], late);
        if (m->at > s->result->first[m->rank])
            not_after(&s->late[m->at - 1], late);
    }
}

static void go_through(slack *s, uint64_t op) {
    const pp_result *result = s->result;
    if (s->late_gone)
        go_through_links(s, op);
    int64_t start = s->late[op] - (result->end[op] - result->start[op]);
    if (!pp_is_first(&s->depend, op))
        not_after(&s->late[op - 1], start);
    if (s->timing->comm == PP_COMM_BLOCKING) {
        go_through_meetings(s, op, start);
        return;
    }
    for (pp_way way = 0; way < PP_WAYS; way++) {
        uint64_t source = pp_source(&s->depend, op, way);
        if (source == PP_NOTHING)
            continue;
        if (s->late_gone)
            not_after(&s->late_gone[PP_WAYS * source + way], start - s->timing->latency);
        else
            not_after(&s->late[source], start - s->timing->latency);
    }
}

static void go_through_all(slack *s) {
    const pp_result *result = s->result;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t rank = 0; rank < s->depend.plan->ranks; rank++)
            while (s->at[rank] > result->first[rank] && may_go(s, s->at[rank] - 1)) {
                go_through(s, --s->at[rank]);
                moved = true;
            }
    }
}

void pp_why_slack(const pp_plan *plan, const pp_timing *timing, const pp_result *result,
                  int64_t *ret_slack) {
    uint64_t n = result->first[plan->ranks];
    slack s = {.timing = timing, .result = result, .late = ret_slack};
    pp_depend_init(&s.depend, plan, timing, result);
    s.at = kit_alloc(plan->ranks, sizeof *s.at);
    if (s.depend.gone)
        s.late_gone = kit_alloc(n, PP_WAYS * sizeof *s.late_gone);
    for (uint64_t op = 0; op < n; op++)
        s.late[op] = result->makespan;
    for (uint64_t transfer = 0; s.late_gone && transfer < PP_WAYS * n; transfer++)
        s.late_gone[transfer] = result->makespan;
    for (uint32_t rank = 0; rank < plan->ranks; rank++)
        s.at[rank] = result->first[rank + 1];
    go_through_all(&s);
    for (uint64_t op = 0; op < n; op++)
        ret_slack[op] = s.late[op] - result->end[op];
    free(s.late_gone);
    free(s.at);
    pp_depend_finish(&s.depend);
}
