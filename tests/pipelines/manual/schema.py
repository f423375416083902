#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks schemas that `tracemill inspect --json` printed, a JSON array of them in the file named:
each is a schema of draft 2020-12, accepts its own defaults, and refuses what the program would."""
import json
import sys

try:
    import jsonschema
except ImportError:
    print("the module jsonschema (Debian: python3-jsonschema) is missing", file=sys.stderr)
    sys.exit(77)

# For each type of option, values that are right and some that are not.
VALUES = {
    "bool": ([True, False], ["yes", 1]),
    "int": ([], [1.5, "1"]),
    "num": ([], ["1"]),
    "str": (["", "text"], [1]),
    "path": (["file"], [1]),
    "regex": ([".*"], [1]),
    "enum": ([], [1, "no such choice"]),
    "duration": (["250us", "1.5ms", "3 s", "2min", "1h", "4µs", "5ns"], ["3", "ms", "-1ms", "1 day", 5]),
    "bytes": (["64KiB", "10MB", "512B"], ["64", "KiB", "1KIB", 5]),
    "list": ([[]], ["text"]),
}


def example(option):
    """A value for an option that must be given."""
    if option["type"] in ("int", "num"):
        return option.get("min", 1)
    if option["type"] == "enum":
        return option["choices"][0]
    return VALUES[option["type"]][0][0]


def check(schema):
    validator = jsonschema.Draft202012Validator
    validator.check_schema(schema)
    name = schema["title"]
    properties = schema["properties"]
    defaults = {key: p["default"] for key, p in properties.items() if "default" in p}
    required = {o["name"]: example(o) for o in schema["options"] if o["required"]}
    whole = dict(required, **defaults)
    validator(schema).validate(whole)
    if validator(schema).is_valid(dict(whole, **{"no-such-option": 1})):
        raise ValueError(f"{name}: accepts an option that there is not")
    for key in required:
        if validator(schema).is_valid({k: v for k, v in whole.items() if k != key}):
            raise ValueError(f"{name}: does not require {key}")
    for key, p in properties.items():
        good, bad = VALUES[p["x-type"]]
        for value in good + p.get("enum", []):
            validator(p).validate(value)
        for value in bad:
            if validator(p).is_valid(value):
                raise ValueError(f"{name}.{key}: accepts {value!r}")
        for bound, beyond in (("minimum", -1), ("maximum", 1)):
            if bound not in p:
                continue
            validator(p).validate(p[bound])
            if validator(p).is_valid(p[bound] + beyond):
                raise ValueError(f"{name}.{key}: {bound} is not kept")
    return len(properties)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schemas = json.load(f)
    options = sum(check(schema) for schema in schemas)
    print(f"{len(schemas)} classes, {options} options")


main()
