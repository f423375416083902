#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs Tracemill into an empty prefix, then writes each kind of project with it, in each language,
# builds and tests them with each compiler in empty folders, and the examples; then moves the prefix and
# runs again.
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

echo "# the manual and completion"
for file in share/man/man1/tracemill.1 share/man/man5/tracemill-pipeline.5 share/man/man7/tracemill-plugin.7 \
    share/man/man7/tracemill-overlap.7 share/bash-completion/completions/tracemill \
    share/zsh/site-functions/_tracemill share/fish/vendor_completions.d/tracemill.fish; do
    [ -s "$prefix/$file" ] || fail "not installed: $file"
done

echo "# where pkg-config does not look, new says so"
says "PKG_CONFIG_PATH='$PKG_CONFIG_PATH' meson setup" \
    env -u PKG_CONFIG_PATH "$tracemill" new stage acme.far --dir "$work/far"
says "cd $work/near && meson setup" "$tracemill" new stage acme.near --dir "$work/near"

declare -A cxx=([gcc]=g++ [clang]=clang++)

# project KIND NAME COMPILER LANGUAGE: what `tracemill new` writes builds without a warning, passes its
# own test, and exports nothing but the module.
project() {
    local kind=$1 name=$2 compiler=$3 language=$4
    local folder=$work/$kind-$compiler-$language symbols
    quietly "$tracemill" new "$kind" "$name" --language "$language" --dir "$folder"
    CC=$compiler CXX=${cxx[$compiler]} quietly meson setup "$folder/build" "$folder" --werror
    quietly meson test -C "$folder/build" --print-errorlogs
    symbols=$(nm -D --defined-only "$folder"/build/*.so | awk '{ print $3 }')
    [ "$symbols" = mill_module_v1 ] || fail "$folder exports more than the module: $symbols"
}

for compiler in gcc clang; do
    if ! command -v $compiler >/dev/null; then
        echo "# no $compiler here: not tried"
        continue
    fi
    for language in c c++; do
        echo "# projects of their own: $compiler, $language"
        project stage acme.busy $compiler $language
        project reader acme.csv $compiler $language
        project exporter acme.figures $compiler $language
        project type org.acme.fit/1 $compiler $language
    done
    # As the harness advises, to learn the line of a crash.
    CC=$compiler quietly meson setup "$work/stage-$compiler-c/asan" "$work/stage-$compiler-c" -Db_sanitize=address
    quietly meson test -C "$work/stage-$compiler-c/asan" --print-errorlogs
done

echo "# the examples"
for example in nsys latency; do
    cp -r "$(pkg-config --variable=examplesdir tracemill)/$example" "$work"
    quietly meson setup "$work/$example/build" "$work/$example" --werror
    quietly meson test -C "$work/$example/build" --print-errorlogs
done
says "Waits between launch and start" \
    "$tracemill" run --plugin-path "$work/latency/build" "$work/latency/pipeline.ini" "$sample"

echo "# a stage of one's own among the others, on a real profile"
plugin=$work/stage-gcc-c
says "Busy time of each device" \
    "$tracemill" run --plugin-path "$plugin/build" "$plugin/pipeline.ini" "$sample"

echo "# the guide: its plugin and the test of it, with the installed harness"
awk -v kind=c -v page=sdk/README.md -f "$source/tests/guide/extract.awk" "$source/sdk/README.md" >"$work/guide.c"
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    # shellcheck disable=SC2046 # several words
    quietly $compiler -std=c11 -Wall -Wextra -Wpedantic -Wno-unused-function -Werror -o "$work/guide" \
        "$work/guide.c" $(pkg-config --cflags --libs tracemill-test)
    says "checks passed, 0 failed" "$work/guide"
done

echo "# the guide: the first plugin, as it says"
quietly "$source/tests/guide/first_plugin.sh" "$prefix"

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
says "a stage acme.moved" "$tracemill" new stage acme.moved --dir "$work/moved"
