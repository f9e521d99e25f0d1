#!/usr/bin/env python3
"""`trigram check --device ptx`: CONTRIBUTING's codec for GPUs passes, and kernels that are wrong in one thing are told what.
check_test.py PROGRAM, which has the recipes' codecs and those of wrong_kernels.cu."""

import re
import subprocess
import sys
import unittest

PROGRAM = sys.argv[1]


class CheckOnPtx(unittest.TestCase):
    maxDiff = None

    def said(self, *words, status=0):
        ended = subprocess.run([PROGRAM, "check", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(ended.returncode, status, f"trigram check {' '.join(words)}\n{ended.stdout}")
        return ended.stdout

    def tried(self, name, status=0):
        return self.said(name, "--device", "ptx", status=status)

    def line_of(self, kernel, text):
        """The number of the line with `text` in that kernel of wrong_kernels.cu."""
        source = (__file__.rsplit("/", 1)[0] + "/wrong_kernels.cu")
        with open(source) as lines:
            inside = False
            for number, line in enumerate(lines, 1):
                inside = inside or re.match(rf"__global__ void {kernel}\(", line) is not None
                if inside and text in line:
                    return number
        self.fail(f"{kernel} has no {text}")

    def assertTold(self, name, check, pattern):
        said = self.tried(name, status=1)
        self.assertRegex(said, rf"(?m)^  {check}: .*{pattern}")
        self.assertIn(f"codec {name} on ptx does not do what it does on cpu", said)

    def test_the_recipe_passes(self):
        said = self.tried("upper_half")
        self.assertRegex(said, r"upper_half +4097 elements +the same bits +holds")
        self.assertIn("codec upper_half on ptx does what it does on cpu, and holds what it declares", said)

    def test_right_kernels_pass(self):
        for name in ("right", "rounded_twice", "fp16"):
            self.assertIn(f"codec {name} on ptx does what it does on cpu, and holds what it declares", self.tried(name))

    def test_an_operation_passes(self):
        for name in ("bias", "layer_norm:epsilon=0.25"):
            self.assertIn(f"operation {name} on ptx does what it does on cpu, and holds what it declares", self.said(name, "--device=ptx"))

    def test_an_optimizer_passes(self):
        for name in ("adam", "nesterov"):
            self.assertIn(f"optimizer {name} on ptx does what it does on cpu, and holds what it declares", self.said(name, "--device=ptx"))

    def test_a_wrong_bound_is_told(self):
        line = self.line_of("wrong_bound", "upper(values[i])")
        self.assertTold("wrong_bound", "memcheck", rf"invalid global read of 4 bytes at address 0x\w+, \d+ bytes behind the "
                        rf"\d+ bytes at 0x\w+ of device 0, allocation \d+ at 'ld.global.* of kernel wrong_bound, \S*wrong_kernels.cu:{line} ")

    def test_a_store_beyond_its_memory_is_told(self):
        self.assertTold("store_beyond", "memcheck", r"invalid global write of \d bytes at address .* of kernel store_beyond, ")

    def test_a_misaligned_store_is_told(self):
        line = self.line_of("misaligned", "reinterpret_cast")
        self.assertTold("misaligned", "memcheck", rf"invalid global write of 2 bytes .*misaligned.*wrong_kernels.cu:{line} ")

    def test_a_missing_barrier_is_told_with_both_sides(self):
        read, write = self.line_of("no_barrier", "upper(turned"), self.line_of("no_barrier", "turned[last - threadIdx.x] =")
        self.assertTold("no_barrier", "racecheck", r"read after write hazard at address 0x\w+ of shared memory: nothing orders the read at "
                        rf"'ld.shared.* of kernel no_barrier, wrong_kernels.cu:{read} .*, thread \(0,0,0\), and the write at "
                        rf"'st.shared.* of kernel no_barrier, wrong_kernels.cu:{write} .*, thread \(1,0,0\)")

    def test_two_threads_that_write_one_place_are_told(self):
        self.assertTold("two_writers", "racecheck", r"2 elements, .*: write after write hazard at address 0x\w+ of global memory, byte 0 "
                        r"of 4 bytes at 0x\w+ of device 0, allocation \d+: nothing orders the write at 'st.global.* of kernel "
                        r"two_writers, .*, thread \(1,0,0\), and the write at 'st.global.* of kernel two_writers, .*, thread \(0,0,0\)")

    def test_a_read_of_what_nobody_wrote_is_told(self):
        line = self.line_of("read_unwritten", "upper(turned")
        self.assertTold("read_unwritten", "initcheck", r"uninitialized shared read of 4 bytes at address 0x3fc, not all of which have been "
                        rf"written, at 'ld.shared.* of kernel read_unwritten, wrong_kernels.cu:{line} .*, thread \(0,0,0\)")

    def test_an_element_of_a_frame_that_nobody_wrote_is_told(self):
        self.assertTold("last_unwritten", "initcheck", r"uninitialized global read of 2 bytes at address 0x\w+, byte 0 of 2 bytes at 0x\w+ of "
                        r"device 0, allocation \d+, not all of which have been written, at 'ld.global.* of kernel over_parts<\d, Decode<")

    def test_a_stream_that_nothing_orders_is_told_with_both_sides(self):
        self.assertTold("own_stream", "streamcheck", r"read after write hazard at byte 0 of 4 bytes at 0x\w+ of device 0, allocation \d+: no "
                        r"event and no wait orders kernel right on stream \d+, and cudaMemcpyAsync on stream \d+")

    def test_memory_that_is_left_behind_is_told(self):
        self.assertTold("forgotten_memory", "memcheck", r"leaked 48 bytes at 0x\w+ of device 0, allocation \d+, made when \d+ kernels")

    def test_threads_that_miss_a_barrier_are_told(self):
        self.assertTold("some_at_barrier", "synccheck", r"kernel some_at_barrier, \S*wrong_kernels.cu:\d+ .*thread")

    def test_a_fused_multiply_add_is_told(self):
        line = self.line_of("contracted", "__fmaf_rn")
        said = self.tried("contracted", status=1)
        self.assertRegex(said, r"(?m)^  bits: .* of the frame is 0x\w\w, that of cpu/contracted 0x\w\w; .*fused multiply-adds.* at ")
        self.assertIn(f"wrong_kernels.cu:{line}", said)

    def test_a_promise_that_does_not_hold_is_told(self):
        said = self.tried("wrong_promise", status=1)
        self.assertRegex(said, r"(?m)^  bound: 2 elements: the mean error is .*; declared 9.5")
        self.assertIn("on ptx does what it does on cpu, but does not hold what it declares", said)

    def test_what_cannot_be_tried_is_refused(self):
        refused = {("upper_halv", "--device", "ptx"): "unknown product 'upper_halv' (did you mean 'upper_half'?); this build has: ",
                   ("fp16", "--device", "ptx", "--kind", "codek"): "unknown kind 'codek' (did you mean 'codec'?)",
                   ("local_sgd", "--device", "ptx"): "unknown product 'local_sgd'",
                   ("fp16", "--device", "gpu"): "unknown device 'gpu' (did you mean 'cpu'?); this build has: cpu, ptx",
                   ("leaky_relu", "--device", "ptx"): "unknown product 'leaky_relu'",
                   ("fp16:levels=3", "--device", "ptx"): "levels",
                   ("fp16", "--device", "ptx", "--ranks", "2"): "leave out --ranks"}
        for words, reason in refused.items():
            self.assertIn(reason, self.said(*words, status=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
