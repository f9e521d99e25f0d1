"""What a kernel takes at least on some GPUs, by what it asks of them.

Rates are those of data sheets, clocks those at which these add up: FP32 operations a second over two for each core. The time of an
element is that of the slowest of these, each at its full rate, and nothing else is waited for:

- memory: bytes of different sectors that a launch reads, and of those that it writes: a cache lets each through once;
- issue: an instruction of a warp a clock from each of four schedulers; machine instructions where they were counted, else PTX;
- float64: its units, two a multiprocessor on Turing;
- shared: one wavefront of shared memory a clock in each multiprocessor.

Latency, the second level of caches, launches and the host are left out, so that small vectors and low occupancies are slower.
"""

import dataclasses

ASSUMPTIONS = ("predicted, not measured: the slowest of memory (each sector once), issue, float64 and shared memory, each at the rate "
               "of the data sheet")


@dataclasses.dataclass(frozen=True)
class Gpu:
    name: str
    arch: str
    multiprocessors: int
    cores: int  # of FP32, a multiprocessor
    float64: int  # units of FP64, a multiprocessor
    flops: float  # FP32 operations a second
    bandwidth: float  # bytes a second

    @property
    def clock(self):
        return self.flops / (2 * self.multiprocessors * self.cores)


# Data sheets: NVIDIA H100 (SXM5), H200 (SXM), A100 80GB (SXM4) and T4 Tensor Core GPU; multiprocessors and their units from
# NVIDIA's white papers on the architectures Hopper, Ampere (GA100) and Turing.
GPUS = (Gpu("H100", "sm_90", 132, 128, 64, 67e12, 3.35e12), Gpu("H200", "sm_90", 132, 128, 64, 67e12, 4.8e12),
        Gpu("A100", "sm_80", 108, 64, 32, 19.5e12, 2.039e12), Gpu("T4", "sm_75", 40, 64, 2, 8.1e12, 320e9))


@dataclasses.dataclass(frozen=True)
class Limits:
    """Of a multiprocessor: CUDA C++ Programming Guide, technical specifications by compute capability."""

    warps: int
    blocks: int
    shared: int  # bytes that blocks share
    reserved: int  # bytes of them that each block costs besides
    registers: int = 65536


LIMITS = {"sm_75": Limits(32, 16, 64 * 1024, 0), "sm_80": Limits(64, 32, 164 * 1024, 1024),
          "sm_90": Limits(64, 32, 228 * 1024, 1024)}
REGISTERS_AT_ONCE = 256  # of a warp
SHARED_AT_ONCE = {"sm_75": 256, "sm_80": 128, "sm_90": 128}


def rounded_up(number, step):
    return -(-number // step) * step


def occupancy(arch, threads, registers, shared):
    """Warps that a multiprocessor holds at once, as a share of the most that it can."""
    limits = LIMITS[arch]
    warps = rounded_up(threads, 32) // 32
    of_warps = limits.warps // warps
    # Each of four schedulers has a quarter of the registers.
    of_registers = limits.registers // 4 // rounded_up(max(registers, 1) * 32, REGISTERS_AT_ONCE) * 4 // warps
    taken = rounded_up(shared + limits.reserved, SHARED_AT_ONCE[arch])
    of_shared = limits.shared // taken if taken else limits.blocks
    return min(limits.blocks, of_warps, of_registers, of_shared) * warps / limits.warps


def limits(gpu, row):
    """Seconds of an element by what would be the limit."""
    clocks = gpu.multiprocessors * gpu.clock
    issued = row["machine_instructions"]
    if issued != issued:
        issued = row["instructions"]
    return {"memory": (row["load_different_bytes"] + row["store_different_bytes"]) / gpu.bandwidth,
            "issue": issued / 32 / (4 * clocks),
            "f64": row["float64"] / (gpu.float64 * clocks),
            "shared": row["wavefronts"] / clocks}
