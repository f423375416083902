#!/usr/bin/env python3
"""Runs the pipeline on test/tiny.json and compares the report with values worked out by hand."""
import json
import subprocess
import sys
import unittest

program, plugin_dir, source = sys.argv[1:4]


def tables(*options):
    command = [program, "run", "--plugin-path", plugin_dir, "--set", "out.use=json.write",
               *options, f"{source}/pipeline.ini", f"{source}/test/tiny.json"]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return {table["id"]: table["rows"] for table in json.loads(out)["reports"][0]["tables"]}


class Stage(unittest.TestCase):
    def test_overlapping_streams_count_once(self):
        # device 0: [100, 110) and [105, 125.5) overlap, [130, 140) stands alone
        rows = [row[:4] for row in tables()["devices"]]
        self.assertEqual(rows, [[0, 3, 35500, 40000], [1, 1, 4000, 4000]])

    def test_equally_long_ones_are_listed_in_order_of_time(self):
        rows = tables("--set", "busy.top=3")["longest"]
        self.assertEqual([row[0] for row in rows], ["attention", "gemm", "norm"])

    def test_top_is_checked_by_the_host(self):
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            tables("--set", "busy.top=0")
        self.assertEqual(caught.exception.returncode, 78)


unittest.main(argv=sys.argv[:1])
