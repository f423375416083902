#!/usr/bin/env python3
"""Reads test/tiny.csv and files with one thing wrong, and compares with values worked out by hand."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

program, plugin_dir, source = sys.argv[1:4]
HEADER = "name,class,device,stream,start_ns,duration_ns\n"


def run(path):
    command = [program, "run", "--plugin-path", plugin_dir, "--set", "out.use=json.write",
               f"{source}/pipeline.ini", path]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run_text(text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "it.csv")
        with open(path, "wb") as file:
            file.write(text.encode())
        return run(path)


class Reader(unittest.TestCase):
    def figures(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        return {figure["id"]: figure["value"] for figure in json.loads(result.stdout)["reports"][0]["figures"]
                if figure.get("scope") in (None, "device 0")}

    def test_what_is_read(self):
        # communication [105, 125) µs; computation [100, 110) and [120, 130) hide 5 + 5 of it
        figures = self.figures(run(f"{source}/test/tiny.csv"))
        self.assertEqual(figures["comm"], 20000)
        self.assertEqual(figures["overlap"], 10000)

    def test_lines_may_end_with_cr_lf(self):
        with open(f"{source}/test/tiny.csv") as file:
            figures = self.figures(run_text(file.read().replace("\n", "\r\n")))
        self.assertEqual(figures["comm"], 20000)

    def test_what_is_wrong_is_told_with_its_line(self):
        for text, told in (
                ("", ":1: expected the line"),
                ("name\n", ":1: expected the line"),
                (HEADER + "gemm,computation,0,7,5\n", ":2: no duration_ns"),
                (HEADER + "\ngemm,computation,0,7,5,6,x\n", ":3: \"x\" is left over"),
                (HEADER + "gemm,work,0,7,5,6\n", ":2: class \"work\": expected computation"),
                (HEADER + "gemm,computation,0,7,5.5,6\n", ":2: start_ns \"5.5\": expected"),
                (HEADER + "gemm,computation,0,7,5,-6\n", ":2: duration_ns \"-6\": expected"),
        ):
            result = run_text(text)
            self.assertEqual(result.returncode, 65, text)
            self.assertIn(told, result.stderr.decode())


unittest.main(argv=sys.argv[:1])
