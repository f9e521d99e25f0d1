#!/usr/bin/env python3
"""What the kernels of benchmark_cuda_kernels ask of a GPU, counted without one, and what time that would take at least.

    meter.py [--build build/cuda] [--elements N] [--only TEXT] [--out FOLDER] [--all | --page]

Runs BUILD/tests/meter_cuda_kernels, which interprets the PTX that nvcc made and counts; asks ptxas for registers and machine
code of sm_75, sm_80 and sm_90; prints a table of the kernel that moves most of each case (all of them with --all, those of
kernels/cuda/README.md as it shows them with --page), and writes FOLDER/meter.csv with all columns (FOLDER is BUILD/meter unless given). Times are predicted, not measured: see roofline.py for what
is assumed. Exit status: 0, 1 where a kernel computes something else, 2 without tools or with wrong words.
"""

import argparse
import csv
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import instructions
import roofline
import sass

CLASSES = ("global_load", "global_store", "shared", "local", "parameter", "float32", "float64", "integer", "conversion",
           "exchange", "barrier", "control", "move")
ARCHITECTURES = ("sm_75", "sm_80", "sm_90")


# What training spends its time in on a GPU: (case, what the kernel's name begins with).
HOTTEST = (("minmax_uint8 encode", "find_range"), ("minmax_uint8 encode", "write_frame"), ("minmax_uint8 decode_add", "over_parts"),
           ("minmax_uint8 decode-reduce-encode", "add_frames"), ("qsgd encode", "encode_buckets"), ("qsgd decode_add", "over_parts"),
           ("qsgd decode-reduce-encode", "encode_buckets"), ("one_bit encode", "encode_signs"),
           ("one_bit decode-reduce-encode", "encode_signs"), ("fp16 decode-reduce-encode", "reduce_elements"),
           ("axpby", "over_groups"), ("adam", "step_tensors"))


def readable(mangled):
    """Names as they stand in the source, without their parameters: many at once."""
    names = {}
    for one, text in zip(mangled, instructions.demangled(mangled)):
        text = re.sub(r"trigram::|cuda::|\(anonymous namespace\)::|^void ", "", text)
        names[one] = re.sub(r"\((?:[^()]|\([^()]*\))*\)$", "", text)
    return names


def counted(build, folder, elements, only):
    """The rows of counts.csv, numbers as numbers; exits where kernels are wrong."""
    program = pathlib.Path(build) / "tests" / "meter_cuda_kernels"
    if not program.is_file():
        print(f"meter.py: there is no {program}: cmake --preset cuda && cmake --build --preset cuda --target meter_cuda_kernels",
              file=sys.stderr)
        sys.exit(2)
    for stale in folder.glob("*.ptx"):
        stale.unlink()
    ended = subprocess.run([program, "--out", folder, "--elements", str(elements), "--only", only])
    if ended.returncode != 0:
        sys.exit(ended.returncode)
    with open(folder / "counts.csv") as table:
        return [{key: value if key in ("case", "kernel") else float(value) for key, value in row.items()}
                for row in csv.DictReader(table)]


def has_disassembler():
    """Whether machine code can be read; says what to install where not."""
    try:
        return all(instructions.tool(name) for name in ("cuobjdump", "nvdisasm"))
    except SystemExit as missing:
        print(f"{missing}; machine instructions are left out", file=sys.stderr)
        return False


def compiled(folder, kernels):
    """By architecture and kernel: registers, bytes of shared memory; and by kernel its source and its instructions of sm_90."""
    resources, listings, reads_code = {arch: {} for arch in ARCHITECTURES}, {}, has_disassembler()
    for text in sorted(folder.glob("*.ptx")):
        ptx = text.read_text()
        if not kernels & set(re.findall(r"\.entry\s+(\w+)", ptx)):
            continue
        named = re.search(r'\.file\s+\d+\s+"[^"]*/kernels/(?:cuda/(?:\w+/)*(\w+)\.cu|(rules)/\w+\.cpp)"', ptx)
        source = named.group(1) or named.group(2) if named else ""  # all of its code is from headers
        for arch in ARCHITECTURES:
            cubin = folder / f"{text.stem}.{arch}.cubin"
            said = subprocess.run([instructions.tool("ptxas"), "-v", f"-arch={arch}", "-o", cubin, text], check=True,
                                  capture_output=True, text=True).stderr
            resources[arch].update(resources_said(said))
        if reads_code:
            code = sass.functions(instructions.dumped(cubin, "-sass"))
            listings.update({name: (source, listing) for name, listing in code.items()})
    return resources, listings


def resources_said(text):
    """(registers, shared bytes) by kernel, from what ptxas -v says."""
    found = {}
    for name, rest in re.findall(r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry function|\Z)", text, re.DOTALL):
        used = re.search(r"Used (\d+) registers", rest)
        shared = re.search(r"(\d+) bytes smem", rest)
        found[name] = (int(used.group(1)), int(shared.group(1)) if shared else 0)
    return found


def machine_instructions(name, source, listing):
    """Of an element on the hot path, where instructions.py knows the kernel; else None."""
    for kind in instructions.KERNELS:
        if kind.source == source and re.search(kind.pattern, name):
            counted_path = instructions.hot(listing, kind)
            if counted_path is not None:
                return counted_path[0]
    return None


def ratio(part, whole):
    return part / whole if whole else float("nan")


def derived(row, name, resources, listings):
    """All columns of meter.csv for one kernel of one case; counts are of one element of the case."""
    elements, kernel = row["elements"], row["kernel"]
    result = {"case": row["case"], "kernel": name, "launches": int(row["launches"]), "threads": int(row["threads"])}
    result["instructions"] = 32 * sum(row[one] for one in CLASSES) / elements
    for one in CLASSES:
        result[one] = 32 * row[one] / elements
    machine = machine_instructions(name, *listings[kernel]) if kernel in listings else None
    result["machine_instructions"] = machine if machine is not None else float("nan")
    result["active_lanes"] = ratio(row["lanes_together"], 32 * sum(row[one] for one in CLASSES))
    for kind in ("load", "store"):
        result[f"{kind}_sectors_a_request"] = ratio(row[f"{kind}_sectors"], row[f"{kind}_requests"])
        result[f"{kind}_useful"] = ratio(row[f"{kind}_useful_bytes"], 32 * row[f"{kind}_sectors"])
        result[f"{kind}_bytes"] = row[f"{kind}_useful_bytes"] / elements
        result[f"{kind}_different_bytes"] = 32 * row[f"{kind}_different_sectors"] / elements
    result["bank_conflicts"] = ratio(row["wavefronts"], row["wavefronts_needed"])
    result["wavefronts"] = row["wavefronts"] / elements
    for arch in ARCHITECTURES:
        registers, shared = resources[arch][kernel]
        shared = max(shared, row["shared_bytes"])
        result[f"registers_{arch}"] = registers
        result[f"occupancy_{arch}"] = roofline.occupancy(arch, int(row["threads"]), registers, int(shared))
    for gpu in roofline.GPUS:
        limits = roofline.limits(gpu, result)
        limit = max(limits, key=limits.get)
        result[f"ps_{gpu.name}"] = limits[limit] * 1e12
        result[f"limit_{gpu.name}"] = limit
    return result


def marks_of(row):
    """What a reader has to look at."""
    found = [f"{kind}s {row[f'{kind}_useful']:.0%} useful" for kind in ("load", "store") if row[f"{kind}_useful"] < 0.9]
    if row["active_lanes"] < 0.9:
        found.append("diverges")
    if row["bank_conflicts"] > 1.1:
        found.append("bank conflicts")
    return ", ".join(found)


def show(value, form):
    return "-" if value != value else form % value


def print_table(rows):
    print(f"{'case':30} {'kernel':38} {'PTX':>6} {'SASS':>6} {'lanes':>6} {'load':>10} {'store':>10} {'banks':>6} {'regs':>5} {'occup.':>6}"
          + "".join(f"{gpu.name:>15}" for gpu in roofline.GPUS) + "  remarks")
    print(f"{'':30} {'':38} {'/el':>6} {'/el':>6} {'':>6} {'sec. use':>10} {'sec. use':>10} {'':>6} {'sm_90':>5} {'':>6}"
          + f"{'ps/el, limit':>15}" * len(roofline.GPUS))
    for row in rows:
        cells = [show(row["instructions"], "%6.1f"), show(row["machine_instructions"], "%6.1f"), show(100 * row["active_lanes"], "%5.0f%%")]
        for kind in ("load", "store"):
            cells.append(show(row[f"{kind}_sectors_a_request"], "%5.1f") + show(100 * row[f"{kind}_useful"], "%4.0f%%"))
        cells += [show(row["bank_conflicts"], "%6.2f"), "%5d" % row["registers_sm_90"], "%5.0f%%" % (100 * row["occupancy_sm_90"])]
        cells += [f"{row[f'ps_{gpu.name}']:8.2f} {row[f'limit_{gpu.name}']:>6}" for gpu in roofline.GPUS]
        widths = (6, 6, 6, 10, 10, 6, 5, 6, 15, 15, 15, 15)
        print(f"{row['case'][:30]:30} {row['kernel'][:38]:38} " + " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths))
              + "  " + marks_of(row))


def print_page(rows):
    """Two tables in Markdown: what the hottest kernels ask for, and what that would take at least."""
    kernels = [next(row for row in rows if row["case"] == case and row["kernel"].startswith(name)) for case, name in HOTTEST]

    def table(head, cells_of):
        print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
        for row in kernels:
            print("| " + " | ".join([f"{row['case']}, `{row['kernel'].split('<')[0]}`", *cells_of(row)]) + " |")

    def accesses(row, kind):
        return show(row[f"{kind}_sectors_a_request"], "%.1f") + ", " + show(100 * row[f"{kind}_useful"], "%.0f %%")

    table(["kernel", "PTX an element", "of it f32, f64", "integer, conversion", "load, store, shared", "exchange, barrier", "SASS (sm_90)",
           "lanes", "sectors a load, useful", "sectors a store, useful", "bank conflicts"],
          lambda row: [f"{row['instructions']:.1f}", f"{row['float32']:.1f}, {row['float64']:.1f}",
                       f"{row['integer']:.1f}, {row['conversion']:.1f}",
                       f"{row['global_load']:.2f}, {row['global_store']:.2f}, {row['shared']:.2f}",
                       f"{row['exchange']:.2f}, {row['barrier']:.2f}", show(row["machine_instructions"], "%.1f"),
                       f"{row['active_lanes']:.0%}".replace("%", " %"), accesses(row, "load"), accesses(row, "store"),
                       show(row["bank_conflicts"], "%.2f")])
    print()
    table(["kernel", "registers sm_75, 80, 90", "occupancy sm_75, 80, 90"] + [f"{gpu.name}: ps an element, limit" for gpu in roofline.GPUS],
          lambda row: [", ".join(str(row[f"registers_{arch}"]) for arch in ARCHITECTURES),
                       ", ".join(f"{row[f'occupancy_{arch}']:.0%}".replace("%", " %") for arch in ARCHITECTURES),
                       *(f"{row[f'ps_{gpu.name}']:.2f}, {row[f'limit_{gpu.name}']}" for gpu in roofline.GPUS)])


def hottest(rows):
    """Of each case the kernel whose accesses move most."""
    best = {}
    for row in rows:
        moved = row["load_bytes"] + row["store_bytes"]
        if row["case"] not in best or moved > best[row["case"]]["load_bytes"] + best[row["case"]]["store_bytes"]:
            best[row["case"]] = row
    return list(best.values())


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--build", default="build/cuda")
    words.add_argument("--elements", type=int, default=1 << 18)
    words.add_argument("--only", default="")
    words.add_argument("--out", type=pathlib.Path)
    words.add_argument("--all", action="store_true")
    words.add_argument("--page", action="store_true")
    given = words.parse_args()
    folder = given.out or pathlib.Path(given.build) / "meter"
    counts = counted(given.build, folder, given.elements, given.only)
    if not counts:
        print(f"meter.py: no case has '{given.only}' in its name", file=sys.stderr)
        return 2
    sys.setrecursionlimit(100000)
    kernels = {row["kernel"] for row in counts}
    names = readable(sorted(kernels))
    resources, listings = compiled(folder, kernels)
    rows = [derived(row, names[row["kernel"]], resources, listings) for row in counts]
    with open(folder / "meter.csv", "w", newline="") as table:
        writer = csv.DictWriter(table, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows)
    if given.page:
        print_page(rows)
    else:
        print_table(rows if given.all else hottest(rows))
    print(f"all columns: {folder / 'meter.csv'}\n{roofline.ASSUMPTIONS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
