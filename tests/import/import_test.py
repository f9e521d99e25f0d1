"""Files of other tools: traces with a known answer, real ones, outputs of benchmarks, and whatever is broken."""

import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "experiments" / "import"), str(ROOT / "experiments" / "plot")]
from torch_trace import intervals  # noqa: E402
import ring  # noqa: E402

PROGRAM = os.environ["TRIGRAM_PROGRAM"]
TRACES = pathlib.Path(__file__).resolve().parent / "traces"
CALL = {"Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "Float", "Group size": 2}


def span(category, name, begin, duration, thread=1, **arguments):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": begin, "dur": duration, "args": arguments}


def kernel(number, name, launched, begin, duration, stream, thread=1):
    return [span("cuda_runtime", "cudaLaunchKernel", launched, 1, thread, correlation=number),
            span("kernel", name, begin, duration, stream, correlation=number, stream=stream)]


def step(number, at):
    """1,000 us: forward 300, backward 400 with a bucket that is ready after half of it, 100 exposed, 100 of the optimizer, 100 idle."""
    events = [span("user_annotation", f"ProfilerStep#{number}", at, 900), span("cpu_op", "aten::mm", at + 5, 10)]
    events += kernel(10 * number, "forward", at + 10, at + 100, 300, 7)
    events += [span("cpu_op", "autograd::engine::evaluate_function: MmBackward0", at + 20, 10, 2),
               span("cpu_op", "autograd::engine::evaluate_function: MmBackward0", at + 40, 10, 2)]
    events += kernel(10 * number + 1, "backward", at + 21, at + 400, 200, 7, 2) + kernel(10 * number + 2, "backward", at + 41, at + 600, 200, 7, 2)
    events += [span("cpu_op", "record_param_comms", at + 30, 5, 2, **CALL)]
    events += kernel(10 * number + 3, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", at + 31, at + 600, 300, 20, 2)
    events += [span("user_annotation", "Optimizer.step#SGD.step", at + 60, 10)]
    return events + kernel(10 * number + 4, "update", at + 61, at + 900, 100, 7)


def trace(steps=4, rank=0, world=2):
    events = [event for i in range(steps) for event in step(i, 1000 * i)]
    random.Random(1).shuffle(events)  # no order is promised
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world},
            "deviceProperties": [{"name": "NVIDIA A100-SXM4-80GB"}] * 2, "traceEvents": events}


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run_import(self, kind, *paths, flags=(), out="out"):
        return subprocess.run([PROGRAM, "import", kind, *map(str, paths), "--out", str(self.folder / out), *flags], capture_output=True, text=True)

    def taken(self, kind, *paths, flags=()):
        ended = self.run_import(kind, *paths, flags=flags)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def refused(self, sentence, kind, *paths, flags=()):
        ended = self.run_import(kind, *paths, flags=flags, out="refused")
        self.assertEqual(ended.returncode, 2, ended.stdout + ended.stderr)
        self.assertRegex(ended.stderr, sentence)
        self.assertEqual(len(ended.stderr.strip().splitlines()), 1, ended.stderr)
        self.assertFalse((self.folder / "refused").exists())

    def text(self, name):
        return (self.folder / "out" / name).read_text()


class Arithmetic(unittest.TestCase):
    def test_intervals(self):
        self.assertEqual(intervals.united([(5, 6), (0, 2), (1, 3), (3, 3)]), [(0, 3), (5, 6)])
        self.assertEqual(intervals.without([(0, 10)], [(1, 2), (4, 11)]), [(0, 1), (2, 4)])
        self.assertEqual(intervals.length([(0, 3), (5, 6)], 2, 5.5), 1.5)
        self.assertEqual(intervals.shares([(0, 10), (5, 10), (12, 12), (12, 15)]), [7.5, 2.5, 0, 3])

    def test_a_ring_is_found_again(self):
        times = [(size, 2 * 7 * 5e-6 + 2 * 7 / 8 * size / 10e9) for size in (1e5, 1e6, 1e8)]
        latency, bandwidth, error = ring.fitted(times, 8)
        self.assertAlmostEqual(latency, 5e-6, 12)
        self.assertAlmostEqual(bandwidth / 10e9, 1, 6)
        self.assertLess(error, 1e-6)


class Traces(Case):
    def test_a_step_on_a_gpu_is_taken_apart(self):
        said = self.taken("pytorch", self.file("a.json", json.dumps(trace())))
        self.assertIn("a step 1ms: forward 300us, backward 400us, the rest (optimizer, data, host) 200us, exposed exchange of gradients 100us", said)
        self.assertIn("hidden behind compute 200us, other collectives that nothing hides 0ns, nothing at all 100us", said)
        self.assertIn("# rest: 0.2ms\n", self.text("profile.csv"))
        self.assertIn("layer1,tensor1,1,,1,0.15,0.2\nlayer2,tensor1,1000,,1,0.15,0.2\n", self.text("profile.csv"))  # ready after half
        self.assertIn("all_reduce,4000B,0.0003", self.text("measurements.csv"))
        self.assertIn("gpus_per_node = 2\n", self.text("cluster.cfg"))
        # The bucket travels for 300 us from half of backward on; the simulator adds latencies of its default cluster, 12 us in all.
        self.assertRegex(said, r"the simulator says 1\.0\d* ms for the step that was traced, which took 1 ms \(1 ms to 1 ms\)")

    def test_several_steps_give_ranges(self):
        events, at = [], 0
        for i, factor in enumerate((1, 1.25, 0.75, 1, 1)):  # the last one has no end
            for event in step(i, 0):
                events.append(event | {"ts": at + factor * event["ts"], "dur": factor * event["dur"]})
            at += 1000 * factor
        self.taken("pytorch", self.file("a.json", json.dumps(trace() | {"traceEvents": events})))
        profile = self.text("profile.csv")
        # Between kernels of the next step and this one's lie 100 us of each, which are not equally long.
        self.assertIn("# compute: 0.7ms in 0.525ms..0.875ms\n# rest: 0.2ms in 0.175ms..0.225ms\n", profile)
        # 1000 elements took 225, 300 and 375 us: a ring of two sends 4000 bytes once, 13.33 MB/s in the middle.
        self.assertIn("node_bandwidth = 13.33MB/s in 10.67MB/s..17.78MB/s\n", self.text("cluster.cfg"))
        ended = subprocess.run([PROGRAM, "run", "--workload", f"profile:file={self.folder}/out/profile.csv", "--cluster", self.folder / "out" / "cluster.cfg",
                                "--ranks", "2", "--steps", "2", "--uncertainty", "16", "--out", self.folder / "drawn"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        named = set(json.loads((self.folder / "drawn" / "run.json").read_text())["uncertainty"]["shares"])
        self.assertLess({"profile.compute", "profile.rest", "cluster.node_bandwidth"}, named)

    def test_what_the_profiler_took_is_left_out(self):
        # 90 of 900 us of computing, so that each phase has nine tenths.
        path = self.file("a.json", json.dumps(trace()))
        said = self.taken("pytorch", path, flags=["--untraced-step", "910us"])
        self.assertIn("forward, backward and the rest are shortened by 10 %, 90us in all", said)
        self.assertIn("layer1,tensor1,1,,1,0.135,0.18\nlayer2,tensor1,1000,,1,0.135,0.18\n", self.text("profile.csv"))
        self.assertIn("# rest: 0.18ms\n", self.text("profile.csv"))
        self.assertIn("for the step that was traced, which took 0.91 ms", said)
        self.assertIn("are no longer than the 2ms without the profiler", self.taken("pytorch", path, flags=["--untraced-step", "2ms"]))
        self.refused("a step of 40us without the profiler .untraced-step. leaves nothing of computing, which was 900us of the 1ms that were traced",
                     "pytorch", path, flags=["--untraced-step", "40us"])

    def test_memory_does_not_grow_with_what_is_not_kept(self):
        other = json.dumps(span("python_function", "torch/nn/modules/linear.py(114): forward", 1, 1, **{"Python parent id": 1, "Python id": 2}))
        path = self.folder / "large.json.gz"
        with gzip.open(path, "wt", compresslevel=1) as file:
            before, events, after = json.dumps(trace()).partition('"traceEvents": [')
            file.write(before + events)
            for _ in range(200):
                file.write(1500 * (other + ",\n"))  # 50 MB in all
            file.write(after)
        measured = ("import resource, subprocess, sys; code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode; "
                    "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)")
        plan = [sys.executable, "-c", "import json, subprocess, sys; sys.exit(subprocess.run([sys.executable, '-I', '-B', sys.argv[1]], text=True, input=sys.argv[2]).returncode)",
                str(ROOT / "experiments" / "import" / "import.py"),
                json.dumps({"kind": "pytorch", "files": [str(path)], "base": {}, "out": str(self.folder), "given": {"batch": 1, "op": "", "untraced_step": 0.0}})]
        code, megabytes = map(int, subprocess.run([sys.executable, "-c", measured, *plan], capture_output=True, text=True).stdout.split())
        self.assertEqual(code, 0)
        self.assertLess(megabytes, 40)

    def test_packed_files_and_several_ranks(self):
        paths = [self.file(f"{rank}.json.gz", gzip.compress(json.dumps(trace(rank=rank)).encode())) for rank in (0, 1)]
        self.assertIn("3 steps of 2 of 2 ranks", self.taken("pytorch", *paths, flags=["--batch", "32"]))
        self.assertIn("# batch: 32\n", self.text("profile.csv"))
        self.assertNotIn("late ranks", self.text("import.json"))

    def test_a_real_job_on_gloo(self):
        said = self.taken("pytorch", TRACES / "gloo_rank0.json.gz", TRACES / "gloo_rank1.json.gz")
        self.assertIn("2,913,290 parameters on 2 ranks, CPU", self.text("profile.csv"))
        self.assertIn("2 buckets of 8437800B, 3140KiB", said)  # 4 bytes of 2,109,450 and 803,840 parameters, as the job's layers give
        self.assertIn(",1024x784,1,", self.text("profile.csv"))
        self.assertIn("check:", said)

    def test_a_public_trace_of_a_resnet_is_predicted(self):
        said = self.taken("pytorch", TRACES / "resnet_v100.json.gz")
        profile = self.text("profile.csv")
        self.assertIn("25,557,032 parameters", profile)  # ResNet-50's
        self.assertIn("gpu_memory_bandwidth = 900GB/s", self.text("cluster.cfg"))
        traced = json.loads(self.text("import.json"))["traced"]["step_s"]
        [line] = [line for line in said.splitlines() if "the simulator says" in line]
        self.assertLess(abs(float(line.split()[4]) * 1e-3 / traced - 1), 0.02, line)

    def test_what_is_no_whole_trace_gets_a_sentence(self):
        whole = json.dumps(trace()).encode()
        self.refused("ends within event|within the JSON", "pytorch", self.file("cut.json", whole[:len(whole) // 2]))
        self.refused("is compressed and not whole", "pytorch", self.file("cut.gz", gzip.compress(whole)[:-40]))
        self.refused("ends before its first event", "pytorch", self.file("empty.json", b""))
        self.refused("is no trace: a trace is JSON", "pytorch", self.file("text.json", b"hello"))
        self.refused("has no list 'traceEvents'", "pytorch", self.file("other.json", b'{"a": 1}'))
        self.refused("without Kineto", "pytorch", self.file("legacy.json", b'[{"ph": "X", "name": "aten::mm", "ts": 1, "dur": 2}]'))
        self.refused("has no backward pass", "pytorch", self.file("i.json", json.dumps({"traceEvents": [span("cpu_op", "aten::mm", 1, 2)]})))
        self.refused("event 1 is none of Kineto: ValueError", "pytorch", self.file("t.json", json.dumps({"traceEvents": [{"ph": "X", "ts": "soon"}]})))
        self.refused("cannot read", "pytorch", self.folder / "absent.json")
        twice = self.file("a.json", whole)
        self.refused("are both of rank 0", "pytorch", twice, twice)

    def test_broken_bytes_never_hang_or_leave_a_traceback(self):
        whole, chance = json.dumps(trace(2)).encode(), random.Random(3)
        for i in range(12):
            broken = bytearray(whole)
            for _ in range(3):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            ended = self.run_import("pytorch", self.file(f"{i}.json", bytes(broken)), flags=["--check", "off"])
            self.assertIn(ended.returncode, (0, 2), ended.stderr)


class Benchmarks(Case):
    def test_nccl_tests(self):
        table = """# Collective test starting: all_reduce_perf
#  Rank  0 Group  0 Pid  1 on  one device  0 [0x00] NVIDIA H100
#  Rank  1 Group  0 Pid  2 on  two device  0 [0x00] NVIDIA H100
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
     1048576        262144     float     sum      -1    97.20   10.79   18.88      0    95.10   11.03   19.30      0
# Avg bus bandwidth    : 19.0
"""
        self.taken("nccl_tests", self.file("a.txt", table))
        self.assertEqual(self.text("measurements.csv").splitlines(), ["source,op,size,seconds,cluster.gpus_per_node,cluster.nodes",
                                                                      "nccl-tests all_reduce,all_reduce,1MiB,9.72e-05,1,2"])
        self.refused("give --op", "nccl_tests", self.file("b.txt", table.replace("all_reduce_perf", "x")))
        self.refused("has no row of nccl-tests", "nccl_tests", self.file("c.txt", "hello"))

    def test_what_is_imported_is_calibrated(self):
        rows = "\n".join(f"{size} {size // 4} float sum -1 {1e6 * (2 * 10e-6 + size / 1e9):.2f} 1 1 0" for size in (1 << 16, 1 << 20, 1 << 24, 1 << 26))
        ranks = "".join(f"#  Rank  {i} Group 0 Pid 1 on  host{i} device  0\n" for i in (0, 1))
        self.taken("nccl_tests", self.file("a.txt", ranks + rows), flags=["--op", "all_reduce"])
        table, fitted = self.folder / "out" / "measurements.csv", self.folder / "fitted.cfg"
        ended = subprocess.run([PROGRAM, "calibrate", "--from", table, "--cluster", "two_by_four", "--fit", "nic_bandwidth", "--out", fitted],
                               capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        [line] = [one for one in fitted.read_text().splitlines() if one.startswith("nic_bandwidth")]
        self.assertRegex(line, r"= (8|7\.9|8\.0)\S*Gbps|= (1|0\.99|1\.0)\S*GB/s")  # 2 ranks: bytes / bandwidth, 1 GB/s

    def test_osu(self):
        self.taken("osu", self.file("l.txt", "# OSU MPI Latency Test v7.2\n# Size          Latency (us)\n1   1.50\n8   1.60\n"),
                   self.file("b.txt", "# OSU MPI Bandwidth Test v7.2\n# Size      Bandwidth (MB/s)\n1   3.0\n4194304   12000.5\n"),
                   self.file("a.txt", "# OSU MPI Allreduce Latency Test v7.2\n# Size       Avg Latency(us)\n4   3.0\n1024   7.25\n"))
        cluster = self.text("cluster.cfg")
        self.assertIn("nic_latency = 1.5us\n", cluster)
        self.assertIn("nic_bandwidth = 12GB/s\n", cluster)
        self.assertIn("osu all_reduce,all_reduce,1KiB,7.25e-06\n", self.text("measurements.csv"))
        self.refused("is no output of an OSU", "osu", self.file("c.txt", "hello"))

    def test_iperf3_and_ping(self):
        report = {"intervals": [{"sum": {"bits_per_second": rate}} for rate in (9.1e9, 9.4e9, 9.3e9)],
                  "end": {"streams": [{"sender": {"min_rtt": 80, "max_snd_cwnd": 1 << 20}}], "sum_received": {"bits_per_second": 9.3e9}}}
        self.taken("iperf3", self.file("a.json", json.dumps(report)), flags=["--cluster", "two_by_four"])
        cluster = self.text("cluster.cfg")
        self.assertIn("nic_bandwidth = 9.3Gbps\n", cluster)
        self.assertIn("nic_latency = 40us\n", cluster)
        self.assertIn("node_bandwidth = 150GB/s\n", cluster)  # the given cluster's
        self.refused("not of iperf3", "iperf3", self.file("b.json", "{}"))
        self.taken("ping", self.file("p.txt", "64 bytes from b: icmp_seq=1 ttl=64 time=0.200 ms\n64 bytes from b: icmp_seq=2 ttl=64 time=0.300 ms\n"))
        self.assertIn("nic_latency = 125us\n", self.text("cluster.cfg"))
        self.refused("has no reply", "ping", self.file("q.txt", "hello"))

    def test_bench(self):
        table = "size (B),count,type,time (us)\n4096,1024,float,142.3\n"
        self.taken("bench", self.file("a.csv", table), flags=["--op", "all_reduce"])
        self.assertIn("bench all_reduce,all_reduce,4KiB,0.0001423\n", self.text("measurements.csv"))
        self.refused("does not name its collective", "bench", self.file("a.csv", table))

    def test_topologies(self):
        gpu = '<pci link_speed="16.0 GT/s PCIe" link_width="16"><gpu dev="{}" sm="{}">{}</gpu></pci>'
        nics = '<nic>' + 4 * '<net name="mlx5" speed="200000"/>' + '</nic>'
        dgx = "".join(gpu.format(i, 80, '<nvlink target="x" count="12"/>') for i in range(8))  # A100: 600 GB/s both ways together
        self.taken("nccl_topology", self.file("a.xml", f"<system><cpu>{dgx}{nics}</cpu></system>"))
        for line in ("gpus_per_node = 8", "node_bandwidth = 300GB/s", "nic = node", "nic_bandwidth = 800Gbps"):
            self.assertIn(line + "\n", self.text("cluster.cfg"))
        self.taken("nccl_topology", self.file("b.xml", "<system><cpu>" + gpu.format(0, 75, "") + "</cpu></system>"))
        self.assertIn("node_bandwidth = 31.5GB/s\n", self.text("cluster.cfg"))  # PCIe 4.0 x16
        self.taken("slurm_topology", self.file("t.conf", "SwitchName=a Nodes=n[1-16]\nSwitchName=b Nodes=n[017-031],m # b\nSwitchName=c Switches=a,b\n"))
        for line in ("nodes = 32", "topology = fat_tree", "leaf_nodes = 16"):
            self.assertIn(line + "\n", self.text("cluster.cfg"))
        listed = subprocess.run([PROGRAM, "run", "--cluster", self.folder / "out" / "cluster.cfg", "--steps", "1", "--ranks", "2", "--out", self.folder / "r"])
        self.assertEqual(listed.returncode, 0)

    def test_broken_topologies(self):
        self.refused("is no whole XML", "nccl_topology", self.file("a.xml", "<system>"))
        self.refused("no topology of NCCL", "nccl_topology", self.file("a.xml", "<a/>"))
        self.refused("'5-2' is no number", "slurm_topology", self.file("t.conf", "SwitchName=a Nodes=n[5-2]"))

    def test_kinds_are_listed(self):
        said = subprocess.run([PROGRAM, "import", "--help"], capture_output=True, text=True).stdout
        for kind in (ROOT / "experiments" / "import" / "kinds").glob("*.py"):
            self.assertIn(f"\n  {kind.stem}: ", said)
        self.refused(r"unknown kind of file 'nccltests' \(did you mean 'nccl_tests'\?\)", "nccltests", "x")


if __name__ == "__main__":
    unittest.main()
