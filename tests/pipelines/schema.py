# SPDX-License-Identifier: Apache-2.0
"""What json.write makes of each ready pipeline is valid by its schema, which tells all fields; wrong
documents are not. Arguments: the program, the source folder. Prints TAP."""
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("1..0 # SKIP the Python module jsonschema is not there: etc/setup test installs it")
    sys.exit()

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
SCHEMA = json.loads((source / "plugins/exporters/json/schema.json").read_text())
SAMPLE = source / "tests/data/sample.json.gz"


def closed(schema):
    """The same schema, by which no field may be there that it doesn't tell."""
    if isinstance(schema, list):
        return [closed(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {k: closed(v) for k, v in schema.items()}
    if schema.get("type") == "object" and "required" in schema:
        out["additionalProperties"] = False
    return out


def as_json(name):
    """A ready pipeline with json.write in the place of text.write; None: it makes no report."""
    text = (source / "etc/pipelines" / name).read_text()
    if re.search(r"^use *= *json\.write", text, re.M):
        return text
    text, n = re.subn(r"^use *= *text\.write", "use = json.write", text, flags=re.M)
    return text if n else None


def run(pipeline, folder, *settings):
    words = [program, "run", str(pipeline)]
    text = pathlib.Path(pipeline).read_text()
    if "${args}" in text:
        words.append(str(SAMPLE))
    settings = list(settings)
    for variable, value in (("base", SAMPLE), ("out", folder), ("page", folder / "page.html")):
        if "${%s}" % variable in text:
            settings.append(f"vars.{variable}={value}")
    for setting in settings:
        words += ["--set", setting]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{' '.join(words)} ends with {done.returncode}: {done.stderr}"
    return done.stdout


def check(validator, document, what):
    for error in validator.iter_errors(document):
        raise AssertionError(f"{what}: {error.json_path}: {error.message}")


def check_table_kinds(document):
    """What a schema can't tell: rows have a value of its kind for each column."""
    kinds = {"text": str, "count": int, "ns": int, "bytes": int, "id": int}
    for report in document["reports"]:
        for table in report["tables"]:
            wants = [kinds.get(c["kind"], (int, float)) for c in table["columns"]]
            for row in table["rows"]:
                assert len(row) == len(wants), table["id"]
                for value, want in zip(row, wants):
                    assert value is None or isinstance(value, want), (table["id"], value)


def test_ready(name):
    text = as_json(name)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        path = folder / name
        path.write_text(text)
        out = run(path, folder)
        files = sorted(folder.glob("*.json"))
        document = json.loads(files[0].read_text() if files else out)
        assert document["reports"]
        check(Draft202012Validator(closed(SCHEMA)), document, name)
        check_table_kinds(document)
        if name == "overlap-json.ini":
            lines = run(path, folder, "json.lines=yes").splitlines()
            line = Draft202012Validator({**SCHEMA, "$ref": "#/$defs/line", "required": [], "properties": {}})
            for one in lines:
                check(line, json.loads(one), "a line")
                assert not line.is_valid({**json.loads(one), "schema": "tracemill.reports/2"})
                assert not line.is_valid({**json.loads(one), "figures": None})
            assert line.is_valid({"schema": "tracemill.reports/1", "missing": [{"stage": "s", "key": ""}]})
            assert not line.is_valid({"schema": "tracemill.reports/1", "missing": [{"stage": "s"}]})


# Where in a document something is changed, and to what; DELETE takes it out.
DELETE = object()
WRONG = [
    ("schema", "tracemill.reports/2"),
    ("missing", DELETE),
    ("missing", [{"stage": "overlap"}]),
    ("reports.0.key", None),
    ("reports.0.title", DELETE),
    ("reports.0.id", "Over lap"),
    ("reports.0.notes.0.level", "fatal"),
    ("reports.0.figures.0.kind", "microseconds"),
    ("reports.0.figures.0.value", "12"),
    ("reports.0.figures.1.unit", "us"),
    ("reports.0.figures.1.value", 1.5),
    ("reports.0.tables.0.columns.0.kind", None),
    ("reports.0.tables.0.rows.0", {"kind": "combine"}),
    ("reports.0.tables.0.rows.0.0", True),
    ("reports.0.findings.0.confidence", 1.5),
    ("reports.0.findings.0.cost_ns", 0.5),
    ("reports.0.lanes.0.intervals.0", [0, 1]),
    ("reports.0.lanes.0.intervals.0.2", -1),
    ("reports.0.lanes.0.intervals.0.0", None),
    ("reports.0.series.0.kind", "bars"),
    ("reports.0.series.0.points.0", [1]),
    ("reports.0.series.0.points.0.1", "1"),
]


def change(document, path, value):
    document = copy.deepcopy(document)
    *way, last = [int(p) if p.isdigit() else p for p in path.split(".")]
    inner = document
    for part in way:
        inner = inner[part]
    inner[last]  # it must be there
    if value is DELETE:
        del inner[last]
    else:
        inner[last] = value
    return document


def test_wrong():
    golden = source / "tests/unit/exporters/json-overlap.golden"
    document = json.loads(golden.read_text())
    validator = Draft202012Validator(SCHEMA)
    assert validator.is_valid(document)
    for path, value in WRONG:
        assert not validator.is_valid(change(document, path, value)), f"{path} = {value!r} passes"
    assert validator.is_valid(change(document, "reports.0", {**document["reports"][0], "newer": 1}))
    assert not Draft202012Validator(closed(SCHEMA)).is_valid(
        change(document, "reports.0", {**document["reports"][0], "newer": 1}))


def properties(schema):
    if isinstance(schema, list):
        return set().union(*map(properties, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})).union(*map(properties, schema.values()))


def test_readme():
    text = (source / "plugins/exporters/json/README.md").read_text()
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    told = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`]+)`", text))))
    assert properties(SCHEMA) - told == set(), properties(SCHEMA) - told
    assert SCHEMA["$id"] in text
    Draft202012Validator.check_schema(SCHEMA)


tests = [("wrong", test_wrong), ("readme", test_readme)]
for file in sorted((source / "etc/pipelines").glob("*.ini")):
    if as_json(file.name):
        tests.append((file.name, lambda name=file.name: test_ready(name)))
print(f"1..{len(tests)}")
for number, (name, test) in enumerate(tests, 1):
    try:
        test()
        print(f"ok {number} {name}")
    except Exception as error:  # each failure is one line, and the others still run
        print(f"not ok {number} {name}\n# {type(error).__name__}: {error}")
