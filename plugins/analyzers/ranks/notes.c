/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader of the report must know before believing it. */
#include "ranks.h"
#include "tell.h"

#include <string.h>
#include <tracemill/kit/number.h>

const char *ranks_profile(const ranks_analysis *a, const ranks_member *m) {
    const char *path = m->summary->path ? m->summary->path : "";
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (m->summary->n_devices < 2)
        return name;
    char number[KIT_NUMBER_MAX];
    size_t room = strlen(name) + sizeof number + 16;
    char *text = mill_scratch(a->run, room);
    snprintf(text, room, "%s, device %s", name, kit_format_int(number, m->device->id, 0));
    return text;
}

/* Profiles that the port did not get. */
static void note_lost(const ranks_analysis *a, kit_report *r) {
    const char *stage = NULL, *key = NULL;
    size_t n = a->run->host->missing(a->run, 0, 0, &stage, &key);
    if (n > 0)
        kit_note(r, MILL_WARNING, "lost",
                 "Profiles missing, since reading or measuring them failed: %zu, the first is %s; "
                 "they may be those that others wait for.",
                 n,
                 key && key[0] ? key
                 : stage       ? stage
                               : "not known");
}

/* Profiles that were read, but hold nothing of a device. */
static void note_without_devices(const ranks_analysis *a, kit_report *r) {
    const rank_summary *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < mill_input_count(a->run, 0); i++) {
        const rank_summary *s = mill_input(a->run, 0, i);
        n += s->n_devices == 0;
        first = s->n_devices == 0 && !first ? s : first;
    }
    if (first)
        kit_note(r, MILL_WARNING, "without_devices",
                 "Profiles without device events in the steps and the window asked for: %zu, the "
                 "first is %s. Their ranks count as missing.",
                 n, first->path ? first->path : "without a name");
}

/* Which ranks of the job are not here, as ranges. */
static void note_missing(const ranks_analysis *a, kit_report *r) {
    char list[160] = "";
    size_t length = 0;
    int64_t next = 0;
    for (size_t i = 0; i <= a->n_members && length + 60 < sizeof list; i++) {
        int64_t rank = i < a->n_members ? a->members[i].rank : a->world_size;
        if (rank > next)
            length += (size_t)snprintf(
                list + length, sizeof list - length, rank - next > 1 ? "%s%lld to %lld" : "%s%lld",
                length > 0 ? ", " : "", (long long)next, (long long)(rank - 1));
        next = rank + 1;
        if (i < a->n_members && length + 60 >= sizeof list)
            snprintf(list + length, sizeof list - length, " and more");
    }
    kit_note(r, MILL_WARNING, "missing_ranks",
             "Ranks here: %zu of %lld; missing: %s. Waits are told between those here: one that is "
             "missing may come even later, and what is waited for it counts as transfer.",
             a->n_ranks, (long long)a->world_size, list);
}

static void note_ranks(const ranks_analysis *a, kit_report *r) {
    if (a->counted)
        kit_note(r, MILL_WARNING, "ranks_counted",
                 "No profile tells its rank (distributedInfo): they are numbered in the order in "
                 "which they were given.");
    if (a->world_size > (int64_t)a->n_ranks && !a->counted)
        note_missing(a, r);
    for (size_t i = 0; i < a->n_members; i++)
        if (ranks_beyond(a, &a->members[i])) {
            kit_note(r, MILL_WARNING, "rank_beyond",
                     "Rank %lld is none of the %lld that its profile names (0 to %lld): how many "
                     "ranks the job has is not known.",
                     (long long)a->members[i].rank, (long long)a->members[i].summary->world_size,
                     (long long)a->members[i].summary->world_size - 1);
            break;
        }
    for (size_t i = 1; i < a->n_members; i++)
        if (a->members[i].summary->world_size != a->members[0].summary->world_size) {
            kit_note(r, MILL_WARNING, "several_jobs",
                     "The profiles do not agree on how many ranks the job has: they may be of "
                     "several jobs.");
            break;
        }
}

static void note_matches(const ranks_analysis *a, kit_report *r) {
    bool told = true;
    for (size_t i = 0; i < a->n_classes; i++)
        told &= a->classes[i].group != MILL_NONE;
    if (a->n_refused > 0)
        kit_note(r, MILL_WARNING, "refused",
                 "Sorts of collectives that are not matched: %zu. Ranks have different numbers of "
                 "them, and files tell no sequence numbers; see the table `missing`.",
                 a->n_refused);
    if (a->n_gaps > 0 && a->n_refused == 0)
        kit_note(r, MILL_WARNING, "incomplete",
                 "Some ranks lack collectives that others have; these are matched among the "
                 "others. See the table `missing`.");
    if (a->n_matches > 0 && !told)
        kit_note(r, MILL_INFO, "no_groups",
                 "Files do not tell the process groups of some collectives: all ranks here count "
                 "as one group. Give only ranks of one group.");
    if (a->n_skipped > 0)
        kit_note(r, MILL_INFO, "skipped",
                 "Communication between two ranks (skip-kinds) or of no known kind is not matched: "
                 "activities: %zu.",
                 a->n_skipped);
}

static void note_clocks(const ranks_analysis *a, kit_report *r) {
    size_t unknown = 0;
    for (size_t i = 0; i < a->n_members; i++)
        unknown += !a->members[i].clock.trusted;
    char most[KIT_NUMBER_MAX];
    if (a->n_matches == 0)
        return;
    if (unknown > 0)
        kit_note(r, MILL_WARNING, "clocks",
                 "Ranks whose clocks can't be compared with the others': %zu. They have fewer than "
                 "%lld collectives in common that end together (sync-kinds), or more than %s µs "
                 "are left after alignment. Their waits are told by durations: the shortest in a "
                 "collective "
                 "is the transfer, what others take longer is waiting.",
                 unknown, (long long)a->options->min_matches,
                 kit_format_us(most, a->options->max_residual, 0));
    if (a->resolution != MILL_UNKNOWN && a->resolution > 0)
        kit_note(r, MILL_INFO, "resolution",
                 "Clocks are aligned to %s µs: starts that are closer are not told apart.",
                 kit_format_us(most, a->resolution, KIT_GROUP));
}

void ranks_tell_notes(const ranks_analysis *a, kit_report *r) {
    note_lost(a, r);
    note_without_devices(a, r);
    if (a->n_members == 0)
        return;
    note_ranks(a, r);
    if (a->n_members < 2)
        return;
    note_matches(a, r);
    note_clocks(a, r);
}
