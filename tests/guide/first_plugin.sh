#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does what the guide's first block of commands says, in an empty home, with a Tracemill that is
# installed: first_plugin.sh PREFIX. PKG_CONFIG_PATH is set as the guide says.
set -euo pipefail
source=$TRACEMILL_TEST_SOURCE
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME=$home PATH=$1/bin:$PATH

awk -v kind=sh -v first=1 -f "$source/tests/guide/extract.awk" "$source/sdk/README.md" |
    sed "s,rank0.json.gz,$source/tests/data/sample.json.gz," >"$home/commands"
grep -q "tracemill new stage" "$home/commands" # else these are others
cd "$home"
bash -euo pipefail "$home/commands" </dev/null
