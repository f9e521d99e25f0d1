#!/usr/bin/env python3
"""Occupancies and rooflines that can be worked out by hand, and what ptxas says as meter.py reads it."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import meter
import roofline

NOTHING = {"machine_instructions": float("nan"), "instructions": 0, "float64": 0, "wavefronts": 0, "load_different_bytes": 0,
           "store_different_bytes": 0}


class Roofline(unittest.TestCase):
    def test_occupancy_is_that_of_the_scarcest(self):
        # NVIDIA's occupancy calculator: 256 threads of 32 registers fill an H100; of 64, half; of 128, a quarter.
        for registers, share in ((32, 1.0), (64, 0.5), (128, 0.25), (255, 0.125)):
            self.assertEqual(roofline.occupancy("sm_90", 256, registers, 0), share)
        # 32 warps on Turing: 1024 threads are all of them, where 64 registers each are all that there are.
        self.assertEqual(roofline.occupancy("sm_75", 1024, 64, 0), 1.0)
        # Blocks of one warp: 32 of them at most on sm_90, 16 on sm_75, half of the warps each.
        self.assertEqual(roofline.occupancy("sm_90", 32, 32, 0), 0.5)
        self.assertEqual(roofline.occupancy("sm_75", 32, 32, 0), 0.5)
        # 32 KiB of shared memory and 1 KiB besides: six blocks of 228 KiB, two of 64 KiB.
        self.assertEqual(roofline.occupancy("sm_90", 256, 32, 32 * 1024), 6 * 8 / 64)
        self.assertEqual(roofline.occupancy("sm_75", 256, 32, 32 * 1024), 2 * 8 / 32)

    def test_clocks_are_those_of_data_sheets(self):
        clocks = {gpu.name: round(gpu.clock / 1e9, 2) for gpu in roofline.GPUS}
        self.assertEqual(clocks, {"H100": 1.98, "H200": 1.98, "A100": 1.41, "T4": 1.58})

    def test_each_limit_takes_what_its_rate_says(self):
        a100 = roofline.GPUS[2]
        moved = roofline.limits(a100, {**NOTHING, "load_different_bytes": 8, "store_different_bytes": 4})
        self.assertAlmostEqual(moved["memory"], 12 / 2.039e12)
        self.assertAlmostEqual(roofline.limits(a100, {**NOTHING, "float64": 1})["f64"], 1 / 9.75e12 * 2, delta=1e-15)
        issued = roofline.limits(a100, {**NOTHING, "instructions": 64})
        self.assertAlmostEqual(issued["issue"], 2 / (108 * 4 * 1.4106e9), delta=1e-15)
        # Machine instructions win over PTX where they are known.
        self.assertAlmostEqual(roofline.limits(a100, {**NOTHING, "instructions": 64, "machine_instructions": 32})["issue"],
                               issued["issue"] / 2)


class Ptxas(unittest.TestCase):
    def test_what_it_says_is_read(self):
        said = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z4sumsv' for 'sm_90'
ptxas info    : Function properties for _Z4sumsv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 38 registers, used 1 barriers, 1024 bytes smem
ptxas info    : Compile time = 9.9 ms
ptxas info    : Compiling entry function '_Z4copyPf' for 'sm_90'
ptxas info    : Used 10 registers, used 0 barriers
"""
        self.assertEqual(meter.resources_said(said), {"_Z4sumsv": (38, 1024), "_Z4copyPf": (10, 0)})


if __name__ == "__main__":
    unittest.main()
