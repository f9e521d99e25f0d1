"""A run's trace as Chakra's: taken apart by a decoder of this file, replayed by ASTRA-sim's rules, and read back by the importer."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "experiments" / "import"), str(ROOT / "experiments" / "plot"), str(ROOT / "tests" / "import")]
from chakra_trace import graph, replay  # noqa: E402
from protobuf_witness import messages_of_protobuf  # noqa: E402

PROGRAM = os.environ["TRIGRAM_PROGRAM"]
# Three layers of a million elements: 4 MB each.
PROFILE = "# batch: 1\n# rest: 2ms\nlayer,tensor,parameters,dimensions,decays,forward_ms,backward_ms\n" + "".join(
    f"layer{i},weight,1000000,1000x1000,1,4,8\n" for i in (1, 2, 3))
TWO_BY_TWO = "two_by_four:nodes=2,gpus_per_node=2,nic_bandwidth=10Gbps"


def varint(data, at):
    value, shift = 0, 0
    while data[at] >= 128:
        value, shift, at = value + (data[at] - 128 << shift), shift + 7, at + 1
    return value + (data[at] << shift), at + 1


def fields(data):
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        content, at = varint(data, at)
        if key % 8 == 2:
            content, at = data[at:at + content], at + content
        found.setdefault(key // 8, []).append(content)
    return found


def nodes_of(path):
    """[{id, name, type, needs, microseconds, attributes}], behind the version."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        length, at = varint(data, at)
        found.append(fields(data[at:at + length]))
        at += length
    nodes = []
    for one in found[1:]:
        needs, data, at = [], one.get(5, [b""])[0], 0
        while at < len(data):
            need, at = varint(data, at)
            needs.append(need)
        attributes = {}
        for text in one.get(10, []):
            parts = fields(text)
            attributes[parts.pop(1)[0].decode()] = parts.popitem()
        nodes.append({"id": one.get(1, [0])[0], "name": one[2][0].decode(), "type": one[3][0], "needs": needs, "microseconds": one.get(7, [0])[0],
                      "attributes": attributes})
    return found[0][1][0].decode(), nodes


class Exports(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "mine.csv").write_text(PROFILE)

    def program(self, *words):
        return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=self.folder)

    def ran(self, *words):
        ended = self.program(*words)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def exported(self, *flags, cluster=TWO_BY_TWO):
        self.ran("run", "--workload", "profile:file=mine.csv", "--cluster", cluster, "--steps", "3", "--bucket-size", "0B", "--trace", "on", "--out", "run",
                 *flags)
        said = self.ran("export", "chakra", "run", "--out", "out", "--name", "job")
        ranks = sorted((self.folder / "out").glob("job.*.et"))
        return said, [nodes_of(path) for path in ranks]

    def test_every_rank_has_a_whole_graph(self):
        for fidelity in ("exact", "fluid"):
            _, ranks = self.exported("--fidelity", fidelity)
            self.assertEqual(len(ranks), 4)
            for version, nodes in ranks:
                self.assertEqual(version, "1.0.0")
                self.assertEqual([one["id"] for one in nodes], list(range(len(nodes))))
                for one in nodes:
                    self.assertTrue(all(need < one["id"] for need in one["needs"]))
                    self.assertEqual(one["attributes"]["is_cpu_op"], (27, [0]))
                sent = [one for one in nodes if one["type"] == 7]
                self.assertEqual(len(sent), 3 * 3, f"{fidelity}: each bucket in each step")
                for one in sent:
                    self.assertEqual((one["name"], one["attributes"]["comm_type"], one["attributes"]["comm_size"]), ("all_reduce", (9, [0]), (9, [4000000])))
                    self.assertNotIn("pg_name", one["attributes"])
                computed = sum(one["microseconds"] for one in nodes if one["name"] in ("forward", "backward"))
                self.assertAlmostEqual(computed / 3, 38000, delta=2)  # 3 x 4 + 3 x 8 + 2 ms

    def test_the_replay_takes_as_long_as_the_run(self):
        self.exported("--fidelity", "fluid")
        ends = []
        for rank in range(4):
            times = replay.Replay(graph.read(str(self.folder / "out" / f"job.{rank}.et")), with_network=True).times
            ends.append(max(end for _, end in times.values()))
        clock = json.loads((self.folder / "run" / "run.json").read_text())["summary"]["clock_s"]
        self.assertAlmostEqual(max(ends) * 1e-6 / clock, 1, 3)

    def test_the_importer_reads_it_back(self):
        self.exported("--fidelity", "fluid")
        files = sorted((self.folder / "out").glob("job.*.et"))
        said = self.ran("import", "chakra", *files, "--out", "back")
        self.assertIn("in 3 buckets of 4000000B, 4000000B, 4000000B", said)
        rows = [line.split(",") for line in (self.folder / "back" / "profile.csv").read_text().splitlines() if line.startswith("layer") and "tensor1" in line]
        self.assertEqual([row[2] for row in rows], ["1000000"] * 3)
        for row in rows:
            self.assertAlmostEqual(float(row[6]), 8, delta=0.05)
        self.assertAlmostEqual(sum(float(row[5]) for row in rows), 14, delta=0.1)  # rest is in one piece with forward
        [line] = [line for line in said.splitlines() if "the simulator says" in line]
        self.assertLess(abs(float(line.split()[-2])), 5, line)

    def test_groups_have_their_ranks(self):
        said, ranks = self.exported("--hierarchy", "leader")
        groups = json.loads((self.folder / "out" / "job.groups.json").read_text())
        self.assertEqual(sorted(groups.values()), [[0, 1], [0, 2], [2, 3]])
        for rank, (_, nodes) in enumerate(ranks):
            of = [one["attributes"]["pg_name"][1][0].decode() for one in nodes if one["type"] == 7]
            self.assertTrue(of and all(rank in groups[name] for name in of))
        self.assertIn("ASTRA-sim ends at them", said)  # reduce inside nodes

    def test_sizes_are_those_of_each_collective(self):
        # A node's two ranks halve 4 MB between them, each half is reduced over nodes, and both halves go to both: one rank's part is a half.
        _, ranks = self.exported("--hierarchy", "all_nics")
        for rank, (_, nodes) in enumerate(ranks):
            sizes = {(one["name"], one["attributes"]["comm_size"][1][0]) for one in nodes if one["type"] == 7}
            self.assertEqual(sizes, {("reduce_scatter", 4000000), ("all_reduce", (2000128, 1999872)[rank % 2]), ("all_gather", 2000000)})  # in grains of 256

    def test_what_is_no_collective_is_left_out(self):
        self.ran("run", "--workload", "profile:file=mine.csv", "--cluster", TWO_BY_TWO, "--algorithm", "decentralized", "--steps", "2", "--trace", "on", "--out", "run")
        ended = self.program("export", "chakra", "run", "--out", "none")
        if ended.returncode == 0:
            self.assertRegex(ended.stdout, r"left out:\n  - \d+ messages outside of collectives")
        else:
            self.assertIn("has no collectives in its trace", ended.stderr)
            self.assertFalse((self.folder / "none").exists())

    def test_what_is_no_trace_gets_a_sentence(self):
        self.ran("run", "--workload", "profile:file=mine.csv", "--cluster", TWO_BY_TWO, "--steps", "1", "--out", "run")
        for words, sentence in ((("chakra", "run"), "has no trace.json; `trigram run --trace on --out run` leaves one"),
                                (("chakra", "absent"), "has no trace.json"), (("charka", "run"), r"(did you mean 'chakra'?)"), (("chakra",), "say KIND and DIR"),
                                (("chakra", "run", "--name", "a/b"), "begins no file")):
            ended = self.program("export", *words)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertIn(sentence, ended.stderr)
        (self.folder / "run" / "trace.json").write_text('{"traceEvents": [{"ph": "X", "pid": 0}]}')
        self.assertIn("is no trace that trigram wrote", self.program("export", "chakra", "run").stderr)
        (self.folder / "run" / "trace.json").write_text('{"traceEvents": [{"ph": "X", "pid": 0')
        self.assertIn("cut off or is still being written", self.program("export", "chakra", "run").stderr)

    def test_googles_library_reads_it(self):
        classes = messages_of_protobuf()
        if classes is None:
            self.skipTest("python3-protobuf is not installed")
        self.exported()
        data, at, names = (self.folder / "out" / "job.0.et").read_bytes(), 0, []
        while at < len(data):
            length, at = varint(data, at)
            message = classes["Node" if names else "GlobalMetadata"].FromString(data[at:at + length])
            names.append(message.name if names else message.version)
            at += length
        self.assertEqual(names[0], "1.0.0")
        self.assertEqual(names[1:], [one["name"] for one in nodes_of(self.folder / "out" / "job.0.et")[1]])


if __name__ == "__main__":
    unittest.main()
