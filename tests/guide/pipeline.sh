#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the guide's pipeline with the guide's plugin: pipeline.sh TRACEMILL PLUGINS PIPELINE
set -eu
out=$("$1" run --trust-writable --plugin-path "$2" "$3" "$TRACEMILL_TEST_SOURCE/tests/data/sample.json.gz")
echo "$out"
for text in "Kernels that match" "Kernels of all ranks"; do
    echo "$out" | grep -q "$text" || { echo "FAILED: no \"$text\" in the output above" >&2 && exit 1; }
done
