#!/usr/bin/env python3
"""Writes the figures of test/tiny.json and compares them with values worked out by hand."""
import csv
import os
import subprocess
import sys
import tempfile
import unittest

program, plugin_dir, source = sys.argv[1:4]
TRACE = f"{source}/test/tiny.json"


def run(*arguments):
    command = [program, "run", "--plugin-path", plugin_dir, f"{source}/pipeline.ini", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def rows(text):
    lines = text.decode().splitlines()
    return [(row["figure"], row["scope"], row["value"], row["unit"]) for row in csv.DictReader(lines)]


class Exporter(unittest.TestCase):
    def test_figures(self):
        result = run(TRACE)
        self.assertEqual(result.returncode, 0, result.stderr)
        # device 0: communication [105, 125) µs; computation [100, 110) and [120, 130) hide 10 of it
        self.assertIn(("comm", "", "20000", "ns"), rows(result.stdout))
        self.assertIn(("overlap_over_comm", "", "0.5", ""), rows(result.stdout))

    def test_one_header_for_all_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.json", "b.json"):
                os.symlink(TRACE, os.path.join(folder, name))
            result = run(os.path.join(folder, "a.json"), os.path.join(folder, "b.json"))
            lines = result.stdout.decode().splitlines()
        self.assertEqual(lines[0], "stage,key,figure,scope,value,unit")
        self.assertEqual(sum(line.startswith("stage,") for line in lines), 1)
        keys = [row["key"] for row in csv.DictReader(lines)]
        self.assertEqual(sorted(set(keys)), ["a.json", "b.json"])
        self.assertEqual(keys, sorted(keys))

    def test_a_file_stays_unless_it_may_be_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "figures.csv")
            self.assertEqual(run("--set", f"out.path={path}", TRACE).returncode, 0)
            with open(path, "rb") as file:
                before = file.read()
            self.assertEqual(before, run(TRACE).stdout)
            result = run("--set", f"out.path={path}", "--set", "out.overwrite=no", TRACE)
            self.assertEqual(result.returncode, 74)
            with open(path, "rb") as file:
                self.assertEqual(before, file.read())


unittest.main(argv=sys.argv[:1])
