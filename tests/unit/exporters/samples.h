/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to write: a usual one, and ones that try an exporter's patience. */
#ifndef EXPORTERS_SAMPLES_H
#define EXPORTERS_SAMPLES_H

#include <tracemill/report.h>

mill_report *
sample_overlap(mill_run *run); /* one device, notes, tables, a finding, a lane, a series */
mill_report *sample_devices(mill_run *run); /* figures with several scopes, one of them unknown */
mill_report *sample_unknown(mill_run *run); /* a value of each kind, unknown, and the extremes */
mill_report *sample_hostile(mill_run *run); /* text that steers terminals, and a name of 100 kB */
mill_report *sample_wide(mill_run *run);    /* tables of many columns and of long texts */
mill_report *sample_fine(mill_run *run);    /* tables with times finer than 1 µs */
mill_report *sample_empty(mill_run *run);   /* an id and a title, and a table without rows */
/* Texts that are no UTF-8, and intervals without times, backwards, or too long to tell. */
const mill_report *sample_mangled(void);

/* The table of chunks that tells by what they were told. */
mill_report *sample_methods(mill_run *run);

#endif
