#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes text files part of the program: embed.py SYMBOL INPUT… OUTPUT.c

OUTPUT.c defines `const char SYMBOL[]` with what the INPUTs hold, one after another; embedded.h declares
it. Styles and scripts can so be files of their own, which editors and people know how to read. Lines of
a script that are a comment, indentation, and ends of lines that mean nothing stay behind: no
script here has text of several lines, or a comment behind code."""
import sys


def literal(line):
    """A line as a string literal of C. Digits after an octal escape are no part of it: it has three."""
    text = ""
    for byte in line:
        if byte in b'"\\':
            text += "\\" + chr(byte)
        elif 0x20 <= byte < 0x7F and byte != ord("?"):
            text += chr(byte)
        else:
            text += "\\%03o" % byte
    return '"%s"' % text


def lines_of(source):
    with open(source, "rb") as f:
        content = f.read()
    if b"\0" in content:
        sys.exit("embed.py: %s: holds a NUL byte; expected text" % source)
    lines = content.splitlines(keepends=True)
    if not source.endswith(".js"):
        return lines
    for number, line in enumerate(lines, 1):
        if b" //" in line and not line.lstrip().startswith(b"//"):
            sys.exit("embed.py: %s:%d: a comment behind code; expected it on a line of its own" % (source, number))
    lines = [line.strip() for line in lines]
    return [line if line.endswith((b"{", b",", b";")) else line + b"\n"
            for line in lines if line and not line.startswith(b"//")]


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: embed.py SYMBOL INPUT... OUTPUT.c")
    symbol, *sources, target = sys.argv[1:]
    lines = [literal(line) for source in sources for line in lines_of(source)] or ['""']
    with open(target, "w", encoding="ascii") as f:
        f.write('#include "embedded.h"\nconst char %s[] =\n    %s;\n' % (symbol, "\n    ".join(lines)))


main()
