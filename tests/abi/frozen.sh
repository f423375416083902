#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the plugin of SDK 1.0 in today's host: frozen.sh PROGRAM FOLDER-OF-THE-PLUGIN
set -euo pipefail
program=$1 plugins=$2
cd "$TRACEMILL_TEST_SOURCE/tests/abi/1.0"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run EXIT-CODE OPTION…: the pipeline ends so; what it says is in out and err.
run() {
    local want=$1 got=0
    shift
    "$program" run --trust-writable --plugin-path "$plugins" pipeline.ini "$@" \
        >"$work/out" 2>"$work/err" </dev/null || got=$?
    if [ "$got" -ne "$want" ]; then
        echo "exit code $got, expected $want: run pipeline.ini $*"
        cat "$work/err"
        exit 1
    fi
}

echo "# it is loaded"
"$program" list --trust-writable --plugin-path "$plugins" >"$work/list"
grep -qE '^org\.old +1\.0\.0 +1\.0 +loaded' "$work/list" || { cat "$work/list" && exit 1; }

echo "# it does what it did"
run 0
diff -u expected.txt "$work/out"

echo "# in processes of its own too: its values are saved and loaded"
run 0 --isolate
diff -u expected.txt "$work/out"

echo "# its rules between options, its failures and its gates count"
run 78 --set options.text=wrong
grep -q 'a rule between options' "$work/err"
run 78 --set options.whole=10
run 66 --set lines.path=in/none-*.txt
run 1 --set out.use=old.gate --set out.in=profile
