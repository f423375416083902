#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares today's public headers with those of 1.0 (probe.c, abidiff), and shows that the comparison
# finds what must not change and lets pass what may. gate.sh COMPILER…; skipped without abidiff.
set -euo pipefail
abi=$TRACEMILL_TEST_SOURCE/tests/abi
today=$TRACEMILL_TEST_SOURCE/sdk/include
command -v abidiff >/dev/null || { echo "no abidiff here (Debian: abigail-tools)" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiler=("$@")

# probe HEADERS FILE
probe() {
    "${compiler[@]}" -std=c11 -g -O0 -fPIC -shared -fvisibility=hidden -I"$1" "$abi/probe.c" -o "$2"
}

# keeps HEADERS: they have all of 1.0; what is against it is in the log.
keeps() {
    local differs=0
    probe "$1" "$work/now.so" >"$work/log" 2>&1 || return
    abidiff --leaf-changes-only --no-show-locs "$work/1.0.so" "$work/now.so" >"$work/diff" 2>&1 || differs=$?
    [ $((differs & 3)) -eq 0 ] || { cat "$work/diff" && exit 1; } # it could not compare
    awk -f "$abi/grown.awk" "$work/diff" >"$work/log"
}

# changed HEADER SED-EXPRESSION: today's headers with that change are in $work/changed.
changed() {
    rm -rf "$work/changed"
    cp -r "$today" "$work/changed"
    sed -i -e "$2" "$work/changed/tracemill/$1"
    ! cmp -s "$today/tracemill/$1" "$work/changed/tracemill/$1" || { echo "nothing to change: $1 $2" && exit 1; }
    # Sizes are asserted in the headers, too; whoever changes a struct changes those.
    sed -i -e '/^MILL_STATIC_ASSERT(sizeof/d' "$work/changed/tracemill/"*.h
}

must_fail() {
    changed "$@"
    ! keeps "$work/changed" || { echo "not found: $*" && exit 1; }
    echo "found: $* ($(tr -s " " <"$work/log" | grep -m1 -E "error|changed from|removal|deletion"))"
}

may_pass() {
    changed "$@"
    keeps "$work/changed" || { cat "$work/log" && echo "should be fine: $*" && exit 1; }
    echo "fine: $*"
}

probe "$abi/1.0/include" "$work/1.0.so"
echo "# today's headers"
keeps "$today" || { cat "$work/log" && echo "the ABI of 1.0 is not kept: see sdk/README.md, The promise" && exit 1; }

echo "# what must not change"
must_fail tracemill.h 's/size_t options_size, state_size;/size_t state_size, options_size;/' # another order
must_fail tracemill.h 's/^    void (\*close)(mill_run \*run, void \*state);/    void *spare;\n&/'  # not at the end
must_fail tracemill.h '/^    bool (\*cancelled)/d;s/run->host->cancelled(run)/false/'                # a service less
must_fail tracemill.h 's/^    MILL_E_TIMEOUT = -5/    MILL_E_TIMEOUT = -8/'                        # a number
must_fail tracemill.h 's/^#define MILL_PORT_STREAM 4u/#define MILL_PORT_STREAM 16u/'              # a flag
must_fail tracemill.h 's/uint32_t port, size_t i, const char \*\*ret_stage,/uint32_t port, int i, const char **ret_stage,/'
must_fail trace.h 's/^    mill_column waited_event; \/\* int64 correlation of the cudaEventRecord it/    mill_column spare;\n&/'
must_fail trace.h 's/^    int64_t rank; /    int32_t rank; /'                                        # a type
must_fail trace.h 's/mill.trace\/1"/mill.trace\/2"/'
must_fail report.h 's/^    int64_t at_ns; /    double at_ns; /'
must_fail report.h 's/^    double d;/    double d[2];/'                                            # by value in others

echo "# what may"
may_pass report.h 's/^    uint64_t n_figures, n_tables.*/&\n    const char *newer;/'
may_pass tracemill.h 's/^    const void \*(\*extension).*/&\n    void (*newer)(mill_run *run);/'
may_pass tracemill.h 's/^    uint32_t reserved; \/\* 0 \*\/$/&\n    const char *newer;/'           # of a port
may_pass trace.h 's/^    mill_timers timers; .*/&\n    mill_column newer;/'
may_pass trace.h 's/^    MILL_SYNC_CONTEXT = 4,.*/&\n    MILL_SYNC_NEWER = 5,/'
