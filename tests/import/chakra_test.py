"""Chakra's traces: bytes written by hand as et_def.proto numbers them, a file of ASTRA-sim's, answers that are known, and whatever is broken.
Where Debian's python3-protobuf is, the same messages are read and written by it, which knows nothing of ours."""

import gzip
import json
import pathlib
import random
import struct
import tempfile
import unittest

from import_test import Case
from chakra_trace import graph, replay, schema, wire
from protobuf_witness import messages_of_protobuf
from unusable import Unusable

# examples/workload/microbenchmarks/all_gather/16npus_1MB/all_gather.0.et of astra-sim, commit 518bd51, MIT licence.
ASTRA_SIM = bytes.fromhex("070a05302e302e34491215616c6c5f6761746865725f31366e7075735f314d421807520e0a0969735f6370755f6f70d80100"
                          "520d0a09636f6d6d5f747970654802520f0a09636f6d6d5f73697a6548808040")
COMPUTE, COLLECTIVE, ALL_REDUCE, ALL_GATHER = 4, 7, 0, 2


def number(value):
    """Seven bits a byte, the least first."""
    return bytes([value]) if value < 128 else bytes([value % 128 + 128]) + number(value // 128)


def field(which, content):
    return number(8 * which) + number(content) if isinstance(content, int) else number(8 * which + 2) + number(len(content)) + content


def attribute(name, which, value):
    return field(10, field(1, name.encode()) + field(which, value))


def node(one, name, kind, needs=(), microseconds=0, **attributes):
    text = field(1, one) + field(2, name.encode()) + field(3, kind)
    text += (field(5, b"".join(map(number, needs))) if needs else b"") + field(7, microseconds)  # packed, as protoc's code writes
    places = {"is_cpu_op": 27, "comm_type": 9, "comm_size": 9, "pg_name": 29}
    return text + b"".join(attribute(key, places[key], value) for key, value in attributes.items())


def file_of(*nodes, metadata=field(1, b"1.0.0")):
    return b"".join(number(len(one)) + one for one in (metadata, *nodes))


def two_layers(first=0, slower=0, takes=1000):
    """Forward 300 and 100, backward of the second layer 200, whose 4,000,000 bytes travel beside the first one's 400 and 8,000,000, then 50."""
    needs = (first - 3,) if first else ()
    reduced = {"is_cpu_op": 0, "comm_type": ALL_REDUCE}
    return [node(first, "COMP_NODE_one_FWD", COMPUTE, needs, 300), node(first + 1, "COMP_NODE_two_FWD", COMPUTE, (first,), 100),
            node(first + 2, "COMP_NODE_two_BWD_WG", COMPUTE, (first + 1,), 200 + slower),
            node(first + 3, "COMM_two", COLLECTIVE, (first + 2,), takes, comm_size=4000000, **reduced),
            node(first + 4, "COMP_NODE_one_BWD_WG", COMPUTE, (first + 2,), 400),
            node(first + 5, "COMM_one", COLLECTIVE, (first + 4,), 2 * takes, comm_size=8000000, **reduced),
            node(first + 6, "COMP_NODE_update", COMPUTE, (first + 4,), 50)]


class Messages(unittest.TestCase):
    def test_a_file_of_astra_sim_is_read(self):
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "all_gather.0.et")
        path.write_bytes(ASTRA_SIM)
        metadata, one = wire.messages(str(path))
        self.assertEqual(schema.metadata(metadata), "0.0.4")
        self.assertEqual(schema.node(one), schema.Node(0, "all_gather_16npus_1MB", COLLECTIVE, False, 0, (), "all_gather", 1 << 20, ""))

    def test_numbers_of_every_type(self):
        for which, content in {7: 5, 9: 5, 11: 5, 13: 5, 15: 10, 17: 10}.items():
            self.assertEqual(schema.attribute(field(1, b"comm_size") + field(which, content)), (b"comm_size", 5))
        for which, form in {3: "<d", 21: "<Q", 25: "<q", 5: "<f", 19: "<I", 23: "<i"}.items():
            content = number(8 * which + (5 if struct.calcsize(form) == 4 else 1)) + struct.pack(form, 5)
            self.assertEqual(schema.attribute(field(1, b"comm_size") + content), (b"comm_size", 5))
        self.assertEqual(wire.signed((1 << 64) - 1), -1)
        for broken in (field(2, b"name")[:-1], b"\x09\x01", b"\x0b", b"\x80", b"\x00\x01", 11 * b"\xff" + b"\x01"):
            self.assertRaises(wire.Malformed, lambda: list(wire.fields(broken)))
        self.assertEqual(wire.whole_numbers(number(7) + number(300)), [7, 300])

    def test_protobuf_reads_what_is_written_and_writes_what_is_read(self):
        classes = messages_of_protobuf()
        if classes is None:
            self.skipTest("python3-protobuf is not installed")
        chance = random.Random(2)
        for _ in range(200):
            theirs = classes["Node"](id=chance.randrange(1 << 64), name="é" * chance.randrange(9), type=COLLECTIVE,
                                     data_deps=[chance.randrange(1 << 40) for _ in range(chance.randrange(4))], duration_micros=chance.randrange(1 << 40))
            theirs.attr.add(name="comm_size", int64_val=chance.randrange(1 << 50))
            theirs.attr.add(name="comm_type", int64_val=chance.randrange(10))
            ours = schema.node(theirs.SerializeToString())
            self.assertEqual((ours.id, ours.name, list(ours.needs), ours.microseconds, ours.bytes, ours.operation),
                             (theirs.id, theirs.name, list(theirs.data_deps), theirs.duration_micros, theirs.attr[0].int64_val,
                              schema.COLLECTIVES[theirs.attr[1].int64_val]))
            self.assertEqual(classes["Node"].FromString(node(7, "a", COMPUTE, (1, 300), 9, is_cpu_op=1)).data_deps, [1, 300])


class Traces(Case):
    def traces(self, *ranks, name="t"):
        return [self.file(f"{name}.{rank}.et", file_of(*nodes)) for rank, nodes in enumerate(ranks)]

    def test_a_step_is_taken_apart(self):
        said = self.taken("chakra", *self.traces(two_layers(), two_layers(slower=200)))
        self.assertIn("14 nodes of 2 of 2 ranks, each file as one step; of each step the rank that computed longest", said)
        self.assertIn("computing of a step 1.25ms: forward 400us, backward 800us, the rest 50us", said)
        self.assertIn("in 2 buckets of 4000000B, 8000000B, in this order", said)
        self.assertIn("# rest: 0.05ms\n", self.text("profile.csv"))
        self.assertIn("layer1,tensor1,2000000,,1,0.2,0.4\nlayer2,tensor1,1000000,,1,0.2,0.4\n", self.text("profile.csv"))
        # A ring of two sends each byte once: 4 GB/s, and nothing is left for a latency.
        self.assertIn("nic_bandwidth = 4GB/s\n", self.text("cluster.cfg"))
        self.assertIn("nodes = 2\n", self.text("cluster.cfg"))
        self.assertIn('"trace, all_reduce",all_reduce,4000000B,0.001\n', self.text("measurements.csv"))

    def test_the_replay_is_that_of_astra_sim(self):
        # The second all-reduce waits for the first one on the network: 600 + 1000, or 1000 of computing, then 2000.
        [path] = self.traces(two_layers())
        times = replay.Replay(graph.read(str(path)), with_network=True).times
        self.assertEqual((times[3], times[5], times[6]), ((600, 1600), (1600, 3600), (1000, 1050)))
        self.assertEqual(json.loads(self.import_json(path))["traced"]["step_s"], 0.0036)

    def import_json(self, *paths):
        self.taken("chakra", *paths, flags=["--check", "off"])
        return self.text("import.json")

    def test_several_passes_are_several_steps(self):
        [path] = self.traces(two_layers() + two_layers(7))
        said = self.taken("chakra", path, flags=["--check", "off"])
        self.assertIn("told apart by the names of nodes", said)
        self.assertIn("computing of a step 1.05ms: forward 400us", said)

    def test_what_backward_waits_for_is_no_gradient(self):
        nodes = two_layers()
        nodes[4] = node(4, "COMP_NODE_one_BWD_WG", COMPUTE, (2, 3), 400)
        self.assertIn("in 1 buckets of 8000000B", self.taken("chakra", *self.traces(nodes), flags=["--check", "off"]))

    def test_groups(self):
        nodes = two_layers() + [node(7, "COMM_part", COLLECTIVE, (6,), 10, is_cpu_op=0, comm_type=ALL_GATHER, comm_size=1000, pg_name=b"3")]
        [path] = self.traces(nodes)
        said = self.taken("chakra", path, flags=["--check", "off"])
        self.assertIn("who is in the groups 3", said)
        said = self.taken("chakra", path, self.file("groups.json", '{"3": [0, 4, 7]}'), flags=["--check", "off"])
        self.assertIn("8 nodes of 1 of 8 ranks", said)
        self.assertIn("1 sizes of collectives of some ranks alone", said)
        self.assertNotIn("all_gather", self.text("measurements.csv"))
        self.refused("has no communicator groups", "chakra", path, self.file("groups.json", '{"3": 4}'))

    def test_pieces_of_an_all_gather_are_the_whole_in_measurements(self):
        nodes = two_layers() + [node(7, "COMM", COLLECTIVE, (6,), 10, is_cpu_op=0, comm_type=ALL_GATHER, comm_size=1024)]
        self.taken("chakra", *self.traces(nodes, nodes, nodes, nodes))
        self.assertIn('"trace, all_gather",all_gather,4KiB,1e-05\n', self.text("measurements.csv"))

    def test_packed_traces(self):
        path = self.file("t.0.et", gzip.compress(file_of(*two_layers())))
        self.assertIn("7 nodes of 1 of 1 ranks", self.taken("chakra", path, flags=["--check", "off"]))

    def test_kernels_that_a_host_starts_wait_for_their_stream(self):
        # As the converter of PyTorch's traces writes them: the all-reduce needs its operator alone, and not the kernel before it.
        names = ("aten::mm", "gemm", "aten::mm_backward", "gemm", "c10d::allreduce_")
        nodes = [node(i, name, COLLECTIVE if i == 4 else COMPUTE, (i - 1,) if i % 2 else (), (5, 300, 5, 500, 5)[i], is_cpu_op=1 - i % 2)
                 for i, name in enumerate(names)]
        nodes += [node(5, "ncclKernel", COLLECTIVE, (4,), 70, is_cpu_op=0, comm_type=ALL_REDUCE, comm_size=400)]
        self.taken("chakra", *self.traces(nodes), flags=["--check", "off"])
        self.assertIn("\nlayer1,tensor1,100,,1,0.305,0.5\n", self.text("profile.csv"))

    def test_what_is_no_whole_trace_gets_a_sentence(self):
        whole = file_of(*two_layers())
        self.refused("ends within message 8", "chakra", self.file("cut.et", whole[:-3]))
        self.refused("is compressed and not whole", "chakra", self.file("cut.et.gz", gzip.compress(whole)[:-12]))
        self.refused("is empty", "chakra", self.file("empty.et", b""))
        self.refused("it is JSON", "chakra", self.file("j.et", json.dumps({"schema": "1.0.2", "nodes": [1] * 80})))
        self.refused("no trace of Chakra|ends within message", "chakra", self.file("png.et", b"\x89PNG\r\n\x1a\n" + bytes(99)))
        self.refused("none that computes for some time", "chakra", self.file("a.et", ASTRA_SIM))
        self.refused("has two nodes of the id 0", "chakra", self.file("twice.et", file_of(*two_layers(), *two_layers())))
        self.refused("node 1 waits for node 0, which the file does not have", "chakra", self.file("half.et", file_of(*two_layers()[1:])))
        self.refused("wait for each other in a circle", "chakra", self.file("circle.et", file_of(*two_layers(), node(8, "a", COMPUTE, (8,), 1))))
        self.refused(r"the comm_type 12, and there are 0 \(ALL_REDUCE\) to 9", "chakra",
                     self.file("kind.et", file_of(node(0, "a", COLLECTIVE, comm_type=12))))
        self.refused("has no exchange of gradients", "chakra", self.file("alone.et", file_of(two_layers()[0])))
        self.refused("cannot read", "chakra", self.folder / "absent.et")
        self.refused("has too few bytes|would have", "chakra", self.file("long.et", b"\xff\xff\xff\xff\x7f" + whole))
        a = self.file("a.1.et", whole)
        self.refused("are both of rank 1", "chakra", a, a)

    def test_every_beginning_of_a_file_is_read_or_refused(self):
        whole, path = file_of(*two_layers()), self.folder / "begin.et"
        for length in range(len(whole)):
            path.write_bytes(whole[:length])
            try:
                nodes = graph.read(str(path)).nodes
                self.assertTrue(whole.startswith(file_of(*two_layers()[:len(nodes)])) and length == len(file_of(*two_layers()[:len(nodes)])))
            except Unusable as error:
                self.assertIn(str(path), str(error))

    def test_broken_bytes_are_read_or_refused(self):
        whole, chance, path = file_of(*two_layers()), random.Random(5), self.folder / "broken.et"
        for _ in range(800):
            broken = bytearray(whole)
            for _ in range(chance.randrange(1, 4)):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            path.write_bytes(bytes(broken))
            try:
                replay.Replay(graph.read(str(path)), with_network=True)
            except Unusable as error:
                self.assertIn(str(path), str(error))


if __name__ == "__main__":
    unittest.main()
