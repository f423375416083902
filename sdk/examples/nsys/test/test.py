#!/usr/bin/env python3
"""Builds exports from the SQL files here, reads them, and compares with values worked out by hand.

What was read is written by sqlite.write, so that its columns can be asked for by their names."""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

program, plugin_dir, source = sys.argv[1:4]

PIPELINE = """
[trace]
use  = nsys.read
path = ${args}

[out]
use = sqlite.write
in.trace = trace
path = out.db
"""


class Reader(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.write("pipeline.ini", PIPELINE.encode())

    def tearDown(self):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def export(self, name):
        """The export of test/NAME.sql, as a file."""
        with open(f"{source}/test/{name}.sql") as file:
            database = sqlite3.connect(self.path(f"{name}.sqlite"))
            database.executescript(file.read())
            database.close()
        return f"{name}.sqlite"

    def run_on(self, name, *options):
        command = [program, "run", "--plugin-path", plugin_dir, *options, "pipeline.ini", name]
        return subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def read(self, name, *options):
        result = self.run_on(name, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return sqlite3.connect(self.path("out.db"))

    def refused(self, name, code, told):
        result = self.run_on(name)
        self.assertIn(told, result.stderr.decode())
        self.assertEqual(result.returncode, code)

    # ------------------------------------------------------------ what is read

    def test_activities(self):
        out = self.read(self.export("one"))
        rows = out.execute(
            "SELECT v.start_ns, v.dur_ns, v.stream, v.name, v.class, v.bytes, a.grid, a.block, n.text FROM activity_view v"
            " JOIN activity a USING (id) LEFT JOIN slice s ON s.id = v.launch LEFT JOIN name n ON n.id = s.name"
            " ORDER BY v.start_ns").fetchall()
        self.assertEqual(rows, [
            (10000, 20000, 7, "void gemm<float>(float*)", "computation", None, 24, 256, "cudaLaunchKernel"),
            (20000, 30000, 13, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "communication", None, 8, 512,
             "cuLaunchKernel"),
            (60000, 1000, 7, "Memcpy HtoD", "memory", 4096, None, None, "cudaMemcpyAsync"),
            (62000, 2000, 7, "Memcpy PtoP", "communication", 8192, None, None, None),
            (65000, 500, 7, "Memset", "memory", 256, None, None, None)])

    def test_slices_and_their_parents(self):
        out = self.read(self.export("one"))
        rows = out.execute(
            "SELECT n.text, s.kind, s.start_ns, s.dur_ns, p.text, t.pid, t.tid, t.name FROM slice s"
            " JOIN name n ON n.id = s.name JOIN thread t ON t.id = s.thread LEFT JOIN slice o ON o.id = s.parent"
            " LEFT JOIN name p ON p.id = o.name ORDER BY s.start_ns").fetchall()
        self.assertEqual([row[:5] for row in rows], [
            ("step 1", "annotation", 1000, 69000, None),
            ("forward", "annotation", 1500, 3500, "step 1"),
            ("cudaLaunchKernel", "runtime", 2000, 1000, "forward"),
            ("cuLaunchKernel", "driver", 4000, 500, "forward"),
            ("cudaMemcpyAsync", "runtime", 5000, 1000, "step 1")])
        self.assertEqual({row[5:] for row in rows}, {(77, 78, "trainer")})

    def test_facts(self):
        out = self.read(self.export("one"))
        self.assertEqual(out.execute("SELECT writer, rank, base_ns FROM trace").fetchall(),
                         [("Nsight Systems 2026.1.1.204", None, 1700000000000000123)])
        self.assertEqual(out.execute("SELECT number, name, sms FROM device").fetchall(), [(0, "NVIDIA H800", 132)])
        self.assertEqual(out.execute("SELECT kind, count FROM diagnostic ORDER BY kind").fetchall(),
                         [("open-ranges", 1), ("process-ranges", 1)])

    def test_cpu_may_be_left_out(self):
        out = self.read(self.export("one"), "--set", "trace.cpu=no")
        self.assertEqual(out.execute("SELECT count(*) FROM slice").fetchone(), (0,))
        self.assertEqual(out.execute("SELECT count(*) FROM activity").fetchone(), (5,))

    def test_processes_are_items(self):
        out = self.read(self.export("two"))
        rows = out.execute(
            "SELECT i.key, a.dur_ns, s.start_ns FROM activity a JOIN item i ON i.id = a.trace"
            " JOIN slice s ON s.id = a.launch ORDER BY i.key").fetchall()
        self.assertEqual(rows, [("two.sqlite:pid5", 2000, 100), ("two.sqlite:pid6", 3000, 300)])

    def test_columns_that_are_not_there_are_unknown(self):
        out = self.read(self.export("old"))
        rows = out.execute("SELECT v.device, v.dur_ns, v.name, a.grid, a.correlation, a.launch FROM activity_view v"
                           " JOIN activity a USING (id) ORDER BY v.start_ns").fetchall()
        self.assertEqual(rows, [(2, 2000, "gemm", None, None, None), (2, 1000, "(no name)", None, None, None)])
        self.assertEqual(out.execute("SELECT name, sms FROM device").fetchall(), [("Tesla V100", None)])
        self.assertEqual(out.execute("SELECT kind, count, first_byte FROM diagnostic ORDER BY kind").fetchall(),
                         [("negative-duration", 1, None), ("no-name", 1, None), ("whole-graphs", 2, None)])

    def test_rules_of_ones_own_come_first(self):
        self.write("mine.ini", b"[mine]\nmatch = gemm\nclass = other\n")
        out = self.read(self.export("two"), "--set", "trace.rules=mine.ini")
        self.assertEqual(out.execute("SELECT DISTINCT class FROM activity_view").fetchall(), [("other",)])

    # ------------------------------------------------------------ what is wrong

    def test_no_database(self):
        self.write("text.sqlite", b"[]" * 1000)
        self.refused("text.sqlite", 65, "not an SQLite database")

    def test_nothing_at_all(self):
        self.write("empty.sqlite", b"")
        self.refused("empty.sqlite", 65, "no table StringIds")

    def test_another_database(self):
        database = sqlite3.connect(self.path("other.sqlite"))
        database.executescript("CREATE TABLE a(b)")
        database.close()
        self.refused("other.sqlite", 65, "no export of Nsight Systems")

    def test_no_activities(self):
        database = sqlite3.connect(self.path("cpu.sqlite"))
        database.executescript("CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)")
        database.close()
        self.refused("cpu.sqlite", 65, "record with: nsys profile --trace=cuda")

    def test_unknown_columns(self):
        database = sqlite3.connect(self.path("new.sqlite"))
        database.executescript("CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
                               "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(begin, until)")
        database.close()
        self.refused("new.sqlite", 65, "has no columns start and end")

    def test_cut_anywhere(self):
        name = self.export("one")
        with open(self.path(name), "rb") as file:
            whole = file.read()
        for length in range(1, len(whole), 4999):
            self.write("cut.sqlite", whole[:length])
            result = self.run_on("cut.sqlite")
            self.assertEqual(result.returncode, 65, (length, result.stderr))

    def test_damaged_anywhere(self):
        name = self.export("one")
        with open(self.path(name), "rb") as file:
            whole = file.read()
        for at in range(100, len(whole), 4333):
            self.write("bad.sqlite", whole[:at] + b"\xff" * 64 + whole[at + 64:])
            result = self.run_on("bad.sqlite")
            self.assertIn(result.returncode, (0, 65), (at, result.stderr))


unittest.main(argv=sys.argv[:1])
