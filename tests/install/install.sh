#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs Tracemill into an empty prefix, then builds, tests and runs the plugin template against
# it with each compiler, from a folder outside the tree; then moves the prefix and runs again.
set -euo pipefail
umask 022 # the host refuses plugins that others may write to
unset DESTDIR PKG_CONFIG_PATH PKG_CONFIG_LIBDIR TRACEMILL_PLUGIN_PATH MALLOC_PERTURB_

source=$TRACEMILL_TEST_SOURCE
sample=$source/tests/data/sample.json.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# quietly COMMAND…: shows what it prints only if it fails.
quietly() {
    "$@" >"$work/log" 2>&1 </dev/null || { cat "$work/log" && fail "$*"; }
}

# says TEXT COMMAND…: the command succeeds and TEXT is in its output.
says() {
    local text=$1
    shift
    "$@" >"$work/out" 2>"$work/err" </dev/null || { cat "$work/err" && fail "$*"; }
    grep -qF -- "$text" "$work/out" || { cat "$work/out" && fail "no \"$text\" in the output of: $*"; }
}

echo "# install into $prefix"
quietly meson setup "$work/sdk" "$source" --prefix="$prefix" --buildtype=plain -Dtests=false
quietly meson install -C "$work/sdk"
rm -rf "$work/sdk"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tracemill.pc)")
export PKG_CONFIG_PATH
tracemill=$prefix/bin/tracemill

for compiler in gcc clang; do
    if ! command -v $compiler >/dev/null; then
        echo "# no $compiler here: not tried"
        continue
    fi
    echo "# the template, with $compiler"
    plugin=$work/$compiler
    cp -r "$(pkg-config --variable=templatedir tracemill)" "$plugin"
    CC=$compiler quietly meson setup "$plugin/build" "$plugin" --werror
    quietly meson test -C "$plugin/build" --print-errorlogs
    symbols=$(nm -D --defined-only "$plugin/build/acme-busy.so" | awk '{ print $3 }')
    [ "$symbols" = mill_module_v1 ] || fail "exports more than the module: $symbols"
    says "Busy time of each device" \
        "$tracemill" run --plugin-path "$plugin/build" "$plugin/pipeline.ini" "$sample"
done

echo "# installed: found without --plugin-path"
quietly meson install -C "$plugin/build"
says "acme.busy" "$tracemill" list
says "urn:tracemill:reports:1" cat "$prefix/share/tracemill/schemas/reports-1.json"
says "Longest activities" "$tracemill" run "$plugin/pipeline.ini" "$sample"

echo "# the prefix moved: plugins, pipelines and rules are found relative to the program"
mv "$prefix" "$work/elsewhere"
tracemill=$work/elsewhere/bin/tracemill
cd / # nor relative to the working directory
says "Longest activities" "$tracemill" run "$plugin/pipeline.ini" "$sample"
says "exposed" "$tracemill" run overlap "$sample"
