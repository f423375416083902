#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the reference of the headers: reference.sh DOXYFILE FOLDER [DOXYGEN]. Any warning is a failure.
set -eu
if [ -z "${3-}" ]; then
    echo "reference: Doxygen is not installed (Debian: apt-get install doxygen); then: meson setup --reconfigure" >&2
    exit 77 # for meson, a test that is skipped
fi
mkdir -p "$2"
"$3" "$1" >/dev/null
if [ -s "$2/warnings.txt" ]; then
    cat "$2/warnings.txt" >&2
    exit 1
fi
echo "$2/html/index.html"
