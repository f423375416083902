# SPDX-License-Identifier: Apache-2.0
"""What chrome.write writes follows the Trace Event Format, and is nothing that Perfetto's importer of
JSON would leave out without a word: see problems_of. Arguments: the program and the source folder
(prints TAP), or --check and files.

What a profile itself has wrong, such as kernels of a stream that overlap, stays as it is: only
types are held to the rules there. What we add is held to all of them."""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
from decimal import Decimal

ADDED = ("lane", "schedule")  # categories of what chrome.write adds
PHASES = {"X", "M", "C", "s", "t", "f", "b", "e", "i"}


def is_number(value):
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def type_problem(e):
    """What makes an event none at all."""
    phase = e.get("ph")
    if phase not in PHASES:
        return "phase"
    if phase == "M":
        if e.get("name") in ("process_name", "thread_name") and not e["args"].get("name"):
            return "empty name"
        return None
    if not isinstance(e.get("name"), str):
        return "name"
    if not is_number(e.get("ts")):
        return "ts"
    if phase == "X" and (not is_number(e.get("dur")) or e["dur"] < 0):
        return "dur"
    if phase == "C" and (not isinstance(e.get("args"), dict) or not e["args"] or not all(map(is_number, e["args"].values()))):
        return "counter without numbers"
    if phase in "stf" and not (isinstance(e.get("id"), int) and e.get("cat")):
        return "arrow without a category or a number"
    if phase in "be" and not (e.get("id") is not None and e.get("cat")):
        return "async slice without a category or an id"
    if "pid" not in e or "tid" not in e:
        return "no thread"
    if e.get("cat") in ADDED and not all(isinstance(e[k], int) and 0 <= e[k] < 2**32 for k in ("pid", "tid")):
        return "thread of more than 32 bits"
    return None


def overlaps(slices):
    """Of one thread: slices that neither lie in each other nor apart. At one start, the longer one
    stands first in the file."""
    stack = []
    for start, end, name in sorted(slices, key=lambda s: s[0]):
        while stack and stack[-1][1] <= start:
            stack.pop()
        if stack and stack[-1][1] < end:
            yield name
        else:
            stack.append((start, end))


def links(events):
    """Slices that are linked by a number: the arrow leaves one before it comes to another."""
    flows = collections.defaultdict(list)
    simulated = {e["pid"] for e in events if e["ph"] == "M" and str(e["args"].get("name")).endswith(", simulated")}
    for e in events:
        if "bind_id" in e:
            try:
                number = int(e["bind_id"], 16)
            except (TypeError, ValueError):
                yield "link", e
                continue
            if not 0 <= number < 2**64 or not (e.get("flow_in") or e.get("flow_out")):
                yield "link", e
            flows[number].append((e["ts"], not e.get("flow_out"), e))
    for flow in flows.values():
        flow.sort(key=lambda f: f[:2])
        if flow[0][2]["pid"] in simulated and (flow[0][1] or not flow[-1][2].get("flow_in")):
            yield "arrow without an end", flow[0][2]


def problems_of(document):
    """(problem, event) pairs."""
    events, slices, named = document["traceEvents"], collections.defaultdict(list), set()
    good = []
    for e in events:
        what = type_problem(e)
        if what:
            yield what, e
            continue
        good.append(e)
        if e["ph"] == "M" and e["name"] == "thread_name":
            named.add((e["pid"], e["tid"]))
        if e["ph"] == "X" and e.get("cat") in ADDED:
            start = int(Decimal(e["ts"]) * 1000)
            slices[e["pid"], e["tid"]].append((start, start + int(Decimal(e["dur"]) * 1000), e["name"]))
    for thread, of_thread in slices.items():
        if thread not in named:
            yield "thread without a name", thread
        for name in overlaps(of_thread):
            yield "slices overlap", (thread, name)
    yield from links(good)


def read(path):
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        return json.load(file, parse_float=Decimal)


def check(path):
    document = read(path)
    assert any(e["ph"] == "X" for e in document["traceEvents"]), f"{path.name}: no slices"
    for what, event in problems_of(document):
        raise AssertionError(f"{path.name}: {what}: {event}")
    return document


def sample(program, source, folder):
    done = subprocess.run([program, "run", "everything", source / "tests/data/sample.json.gz", "--set", f"vars.out={folder}"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def first(document, test):
    return next(i for i, e in enumerate(document["traceEvents"]) if test(e))


def changed(document, test, **fields):
    events = list(document["traceEvents"])
    i = first(document, test)
    events[i] = {**events[i], **fields}
    return {"traceEvents": events}


def test_wrong(timeline, schedules):
    """The rules find what is wrong, in one schedule as well as in all."""
    events = schedules["traceEvents"]
    pid = next(e["pid"] for e in events if e["ph"] == "X")
    schedules = {"traceEvents": [e for e in events if e["pid"] == pid]}
    def lane(e): return e.get("cat") == "lane"
    def schedule(e): return e.get("cat") == "schedule" and "bind_id" in e
    wrong = [
        ("ts", changed(timeline, lane, ts="12")),
        ("dur", changed(timeline, lane, dur=-1)),
        ("phase", changed(timeline, lane, ph="Z")),
        ("thread of more than 32 bits", changed(timeline, lane, tid=2**32)),
        ("thread without a name", changed(timeline, lane, tid=12345)),
        ("arrow without a category or a number", changed(timeline, lambda e: e["ph"] == "s", id="x.1")),
        ("counter without numbers", changed(schedules, lambda e: e["ph"] == "C", args={"chunks": "many"})),
        ("link", changed(schedules, schedule, bind_id="4000000000.0.0")),
        ("arrow without an end", changed(schedules, schedule, bind_id="0x1")),
    ]
    before = timeline["traceEvents"][first(timeline, lambda e: lane(e) and e["dur"] > 1)]
    twin = {**before, "ts": Decimal(before["ts"]) + Decimal(before["dur"]) / 2}
    wrong.append(("slices overlap", {"traceEvents": timeline["traceEvents"] + [twin]}))
    for want, document in wrong:
        found = [what for what, _ in problems_of(document)]
        assert want in found, f"{want} is not found, but {found}"


def main(program, source):
    tests = ["timeline", "schedules", "wrong"]
    documents = []
    print(f"1..{len(tests)}")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sample(program, source, folder)
        files = [folder / "sample.json.gz.timeline.json.gz", folder / "schedules.json.gz"]
        for number, name in enumerate(tests, 1):
            try:
                if name == "wrong":
                    test_wrong(*documents)
                else:
                    documents.append(check(files[number - 1]))
                print(f"ok {number} {name}")
            except Exception as error:  # each failure is one line, and the others still run
                print(f"not ok {number} {name}\n# {type(error).__name__}: {error}")


if sys.argv[1] == "--check":
    for file in sys.argv[2:]:
        check(pathlib.Path(file))
else:
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
