#!/usr/bin/env python3
"""Instructions an element of the hot kernels, counted in what the compiler made of them for one generation of GPUs.

    instructions.py [--build DIR] [--only TEXT] [--arch sm_90] [FILE.cubin …]

Compiles the sources below as DIR/compile_commands.json says (build/dev unless given), or takes compiled objects as they are.
The loop is the one that moves most bytes of the kind that defines an element (sass.py says how loops and paths are found);
elements a trip are those bytes over the bytes of an element, so that no count is copied by hand. `budget` is the issue limit
over the elements a second that a copy's bandwidth brings: what is above it cannot reach that bandwidth.
Exit status: 0, 1 where a kernel spills registers or is too large or over its aim, 2 without tools or with wrong words.
"""

import argparse
import dataclasses
import glob
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import sass

ISSUE = 132 * 4 * 32 * 1.755e9  # thread instructions a second, of H100 and H200 alike
COPY = {"H200": 4.3e12, "H100": 3.0e12}  # bytes a second, read and written; the H100's is assumed
MOST_CODE = 32 * 1024
FRAMES = 8

@dataclasses.dataclass(frozen=True)
class Hot:
    """A kernel that is counted."""

    name: str
    source: str
    pattern: str  # found in its readable name
    moved: float  # bytes that an element costs, read and written
    element: tuple  # what an element is in the loop: so many bytes loaded or stored; or the elements of a trip besides
    frame_bytes: float = 0  # of servers: bytes of one frame an element
    aim: int = 0
    most: tuple = (float("inf"), float("inf"))  # bytes that a trip loads and stores at most, where that is not plain
    marks: str = "$"  # what the common case must pass: random numbers, quick quotients


QSGD = {"most": (80, 20), "marks": r"IMAD.WIDE.U32|IMAD.HI.U32|F2I.U32|FFMA$"}
QSGD_SERVER = {"frame_bytes": 1, "most": (float("inf"), 20), "marks": QSGD["marks"]}
KERNELS = [
    Hot("qsgd encode", "qsgd", r"encode_buckets<.*MaxNorm, .*GivenBucket", 5, ("loaded", 4), aim=45, **QSGD),
    Hot("qsgd:norm=2 encode", "qsgd", r"encode_buckets<.*TwoNorm, .*GivenBucket", 5, ("loaded", 4), aim=45, **QSGD),
    Hot("qsgd decode", "qsgd", r"over_parts<4, .*Decode<.*BytesFrame.*Overwrite", 5, ("stored", 4)),
    Hot("qsgd decode_add", "qsgd", r"over_parts<4, .*Decode<.*BytesFrame.*AddWeighted", 9, ("stored", 4)),
    Hot("qsgd server", "qsgd", r"encode_buckets<.*MaxNorm, .*DecodedBucket", 9, ("stored", 1, 16), aim=60, **QSGD_SERVER),
    Hot("qsgd:norm=2 server", "qsgd", r"encode_buckets<.*TwoNorm, .*DecodedBucket", 9, ("stored", 1, 16), **QSGD_SERVER),
    Hot("minmax_uint8 range", "minmax_uint8", r"find_range<(?!1\b)", 4, ("loaded", 4)),
    Hot("minmax_uint8 levels", "minmax_uint8", r"(write_frame|write_levels)<(?!1\b)", 5, ("stored", 1)),
    Hot("minmax_uint8 decode", "minmax_uint8", r"over_parts<(?!1\b).*Decode<.*Overwrite", 5, ("stored", 4), marks="FFMA$"),
    Hot("minmax_uint8 decode_add", "minmax_uint8", r"over_parts<(?!1\b).*Decode<.*AddW", 9, ("stored", 4), marks="FFMA$"),
    Hot("minmax_uint8 server", "minmax_uint8", r"add_frames", 12, ("stored", 4), 1, 80, marks="FFMA$"),
    Hot("one_bit encode", "one_bit", r"encode_signs<.*GivenValues", 4.125, ("loaded", 4)),
    Hot("one_bit decode", "one_bit", r"over_parts<(?!1\b).*Decode<.*Overwrite", 4.125, ("stored", 4)),
    Hot("one_bit server", "one_bit", r"encode_signs<.*TabledSums", 1.125, ("stored", 0.125, 32), 0.125, 35,
        (float("inf"), 4), "DADD"),
    Hot("fp16 encode", "fp16", r"over_parts<(?!1\b).*EncodeElements.*Nearest", 6, ("stored", 2)),
    Hot("fp16 decode", "fp16", r"over_parts<(?!1\b).*Decode<.*Overwrite", 6, ("stored", 4)),
    Hot("fp16 server", "fp16", r"reduce_elements<(?!1\b)", 18, ("stored", 2), 2, 30),
    Hot("bf16 server", "bf16", r"reduce_elements<(?!1\b)", 18, ("stored", 2), 2),
    Hot("dot", "dot", r"add_products", 8, ("loaded", 8)),
    Hot("axpby", "rules", r"over_groups<4, .*OverVectors<float, .*LinearCombination", 12, ("stored", 4)),
    Hot("adam", "rules", r"step_tensors<.*Adam", 28, ("stored", 12)),
]


def tool(name):
    """Where a tool of CUDA is: on the path, beside nvcc, or in NVIDIA's wheels."""
    beside = [os.path.join(os.path.dirname(shutil.which("nvcc") or ""), name)]
    wheels = [path for root in sys.path for path in glob.glob(os.path.join(root, "nvidia", "*", "bin", name))]
    for path in [shutil.which(name), *beside, *wheels]:
        if path and os.path.exists(path):
            return path
    sys.exit(f"instructions.py: no {name}; pip install nvidia-{name if name == 'nvcc' else 'cuda-' + name}")


def compiled(build, source, arch, folder):
    """The object of one source for `arch`, by the build's own flags."""
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    own = [one for one in commands if re.search(rf"/kernels/cuda/(\w+/)*{source}\.cu$", one["file"]) and "nvcc" in one["command"]]
    if not own:
        sys.exit(f"instructions.py: {build} does not compile {source}.cu with nvcc")
    given = shlex.split(own[0]["command"])
    left_out = {"-c", "-g", "-o", own[0]["file"], given[given.index("-o") + 1]}
    words = [word for word in given if word not in left_out and not word.startswith("--generate-code")]
    made = os.path.join(folder, source + ".cubin")
    subprocess.run([*words, "-cubin", f"-arch={arch}", "-o", made, own[0]["file"]], check=True, cwd=own[0]["directory"])
    return made


def dumped(cubin, *flags):
    disassembler = os.path.dirname(tool("nvdisasm"))
    environment = {**os.environ, "PATH": os.environ["PATH"] + os.pathsep + disassembler}
    return subprocess.run([tool("cuobjdump"), *flags, cubin], check=True, capture_output=True, text=True, env=environment).stdout


def resources(cubin):
    """Registers and bytes of spilled registers, by mangled name."""
    found = re.findall(r"Function (\S+):\n\s*REG:(\d+) STACK:(\d+).*? LOCAL:(\d+)", dumped(cubin, "-res-usage"))
    return {name: (int(registers), int(stack) + int(local)) for name, registers, stack, local in found}


def demangled(names):
    return subprocess.run(["c++filt"], input="\n".join(names), check=True, capture_output=True, text=True).stdout.split("\n")


def hot(instructions, kind):
    """(instructions an element, elements a trip) of the loop that moves most bytes of the element's kind, or None."""
    kernel = sass.Kernel(instructions, kind.most, kind.marks)
    moves, size, *elements = kind.element

    def elements_of(path):
        return elements[0] if elements else getattr(path, moves) / size

    def own_bytes(entry):
        return getattr(kernel.alone(entry), moves)

    entry = max(kernel.loops, key=own_bytes, default=None)
    if entry is None or own_bytes(entry) == 0:
        return None
    a_frame = elements_of(kernel.alone(entry)) * kind.frame_bytes

    def trips(inner):
        """Loops over frames go round until FRAMES frames are read; of several, the one that reads most at a time."""
        widest = max(inner, key=lambda one: (-one.calls, one.loaded), default=None)
        return [FRAMES * a_frame / one.loaded if one is widest and one.loaded > 0 else 0 for one in inner]

    path = kernel.hot(entry, trips)
    return path.instructions / elements_of(path), elements_of(path)


def row(kind, instructions, used):
    """Prints a kernel's row; whether it is as it should be."""
    counted = hot(instructions, kind)
    registers, spilled = used
    size = len(instructions) * sass.INSTRUCTION_BYTES
    budgets = "".join(f"{ISSUE / (rate / kind.moved):8.0f}" for rate in COPY.values())
    cells = "   no loop        " if counted is None else f"{counted[0]:9.1f} {counted[1]:8.0f}"
    print(f"{kind.name:24}{cells} {kind.aim or '':>4} {kind.moved:7.3f}{budgets} {size:7} {registers:5} {spilled:7}")
    return spilled == 0 and size <= MOST_CODE and (kind.aim == 0 or (counted is not None and counted[0] <= kind.aim))


def report(cubins, only):
    """Prints the table; whether all is as it should be."""
    right = True
    budgets = "".join(f"{name:>8}" for name in COPY)
    print(f"{'kernel':24} instr/el el./trip  aim    B/el{budgets}    code  regs spilled")
    for source, path in cubins.items():
        functions, used = sass.functions(dumped(path, "-sass")), resources(path)
        for mangled, readable in zip(functions, demangled(functions)):
            for kind in KERNELS:
                if kind.source == source and only in kind.name and re.search(kind.pattern, readable):
                    right = row(kind, functions[mangled], used.get(mangled, (0, 0))) and right
    return right


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--build", default="build/dev")
    words.add_argument("--only", default="")
    words.add_argument("--arch", default="sm_90")
    words.add_argument("objects", nargs="*")
    given = words.parse_args()
    sys.setrecursionlimit(100000)
    with tempfile.TemporaryDirectory() as folder:
        cubins = {pathlib.Path(path).stem: path for path in given.objects}
        for kind in KERNELS:
            if not given.objects and given.only in kind.name and kind.source not in cubins:
                cubins[kind.source] = compiled(given.build, kind.source, given.arch, folder)
        return 0 if report(cubins, given.only) else 1


if __name__ == "__main__":
    sys.exit(main())
