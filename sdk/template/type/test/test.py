#!/usr/bin/env python3
"""Measures test/tiny.json, alone and twice, and compares with values worked out by hand."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

program, plugin_dir, source = sys.argv[1:4]
TRACE = f"{source}/test/tiny.json"


def rows(*arguments):
    command = [program, "run", "--plugin-path", plugin_dir, "--set", "out.use=json.write",
               f"{source}/pipeline.ini", *arguments]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return [report["tables"][0]["rows"] for report in json.loads(out)["reports"]]


class Type(unittest.TestCase):
    def test_one_profile(self):
        # in the order of names; norm runs twice, 10 and 4.5 µs
        self.assertEqual(rows(TRACE), [[["gemm", 1, 10000], ["norm", 2, 14500]]])

    def test_many_profiles_are_added_up(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.json", "b.json"):
                os.symlink(TRACE, os.path.join(folder, name))
            files = [os.path.join(folder, name) for name in ("a.json", "b.json")]
            self.assertEqual(rows(*files), [[["gemm", 2, 20000], ["norm", 4, 29000]]])

    def test_each_value_is_a_report_too(self):
        self.assertEqual(rows("--set", "out.in=measure", TRACE),
                         [[["gemm", 1, 10000], ["norm", 2, 14500]]])


unittest.main(argv=sys.argv[:1])
