#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a text file part of the program: embed.py SYMBOL INPUT OUTPUT.c

OUTPUT.c defines `const char SYMBOL[]` with INPUT's bytes; embedded.h declares it. A style or a script
can so be a file of its own, which editors and people know how to read."""
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


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: embed.py SYMBOL INPUT OUTPUT.c")
    symbol, source, target = sys.argv[1:]
    with open(source, "rb") as f:
        content = f.read()
    if b"\0" in content:
        sys.exit("embed.py: %s: holds a NUL byte; expected text" % source)
    lines = [literal(line) for line in content.splitlines(keepends=True)] or ['""']
    with open(target, "w", encoding="ascii") as f:
        f.write('#include "embedded.h"\nconst char %s[] =\n    %s;\n' % (symbol, "\n    ".join(lines)))


main()
