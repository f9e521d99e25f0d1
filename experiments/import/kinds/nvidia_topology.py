"""The matrix that `nvidia-smi topo -m` prints, also behind `nvidia-smi -L`: the GPUs, links and NICs of a cluster's nodes."""

import dataclasses
import re

from imported import Imported, bytes_a_second, in_range
from text_lines import lines_of
from unusable import Unusable

COLOURS = re.compile(r"\x1b\[[\d;]*m")
DEVICE = re.compile(r"(GPU|NIC|mlx|bnxt|hfi|efa|irdma|rocep|ibp|rdmap)\w*$")
CELL = re.compile(r"X|NV\d+|PIX|PXB|PHB|NODE|SYS|SOC|N/?A$")
NAMED = re.compile(r"\b(P100|V100|A100|A800|H100|H800|H200|H20|GH200|B100|B200|B300|GB200|GB300|A40|A6000|3090)\b")
# GB/s of one NVLink, one way, by NVIDIA's data sheets of each.
LINK = {"P100": 20, "A40": 14.06, "A6000": 14.06, "3090": 14.06, "B100": 50, "B200": 50, "B300": 50, "GB200": 50, "GB300": 50}
USUAL_LINK, SLOWEST_LINK, FASTEST_LINK = 25, 14.06, 50
MOST_LINKS = 18  # of one GPU; more in a row are the same links, behind a switch
LANES = (15.75, 31.5, 63)  # GB/s of 16 lanes of PCIe 3.0, 4.0 and 5.0, coding taken off
BETWEEN_SOCKETS = 6  # GB/s, the least that NCCL takes for it (src/graph/topo.h, BDW_QPI_BW)
NEAR = ("PIX", "PXB")


@dataclasses.dataclass
class Matrix:
    gpus: list  # names
    others: list  # names of NICs
    cells: dict  # by names of two
    model: str  # "" where the output does not say


def imported(paths, given):
    if len(paths) != 1:
        raise Unusable(f"{len(paths)} files were given; a cluster has nodes of one kind: give the output of one")
    [path] = paths
    matrix = read(path)
    result = Imported(summary="From the matrix that nvidia-smi prints of one node.")
    result.cluster["gpus_per_node"] = (len(matrix.gpus), f"rows of {path}")
    take_links(result, path, matrix)
    take_nics(result, path, matrix)
    result.unknown += ["how many nodes there are, unless --cluster says: the program's default is 2", "latencies, which `trigram calibrate` or nccl-tests measure",
                       "what payload reaches of these figures of data sheets: 0.76 to 0.82 of NVLink's, as measured elsewhere"]
    return result


def read(path):
    columns, rows, model = [], {}, ""
    for number, line in lines_of(path):
        words = COLOURS.sub("", line).split()
        model = model or (found[1] if (found := NAMED.search(line)) else "")
        if not columns and len(words) > 0 and words[0] == "GPU0" and (len(words) == 1 or words[1] != "X"):
            columns = words[:words.index("CPU")] if "CPU" in words else words
        elif columns and words and words[0] in columns and words[0] not in rows:
            rows[words[0]] = cells_of(words[1:1 + len(columns)], columns, f"'{path}', line {number}")
        elif columns and rows and words[:1] == ["GPU0"]:
            break  # another matrix, as that of topo -p2p
    gpus = [one for one in columns if one.startswith("GPU")]
    if not gpus:
        raise Unusable(f"'{path}' has no line of columns as: GPU0 GPU1 NIC0 CPU Affinity; it is printed by nvidia-smi topo -m")
    return whole(path, Matrix(gpus, [one for one in columns if one not in gpus and DEVICE.match(one)],
                              {(row, column): cell for row, cells in rows.items() for column, cell in cells.items()}, model), rows)


def cells_of(words, columns, place):
    if len(words) < len(columns):
        raise Unusable(f"{place}: {len(words)} cells stand where {len(columns)} columns are; the output was cut off or its lines were broken")
    for word in words:
        if not CELL.match(word):
            raise Unusable(f"{place}: '{word}' is none of X, NV#, PIX, PXB, PHB, NODE, SYS; a matrix of topo -p2p says other things: give that of topo -m")
    return dict(zip(columns, words))


def whole(path, matrix, rows):
    absent = [one for one in matrix.gpus if one not in rows]
    if absent:
        raise Unusable(f"'{path}' has no row of {absent[0]}; the output was cut off")
    for one in matrix.gpus:
        for other in matrix.gpus:
            here, there = matrix.cells[one, other], matrix.cells[other, one]
            if here != there or (here == "X") != (one == other):
                raise Unusable(f"'{path}': the way from {one} to {other} is {here}, and back {there}; a whole matrix has the same twice, and X with itself")
    return matrix


def links(cell):
    return int(cell[2:]) if cell.startswith("NV") else 0


def take_links(result, path, matrix):
    if len(matrix.gpus) < 2:
        return
    own = {one: [links(matrix.cells[one, other]) for other in matrix.gpus if other != one] for one in matrix.gpus}
    if ring_of_links(matrix, own):
        total = min(sum(counts) if sum(counts) <= MOST_LINKS else max(counts) for counts in own.values())
        behind = "behind a switch" if max(map(sum, own.values())) > MOST_LINKS else "of each GPU to all others"
        value, ends, source = link_of(matrix.model)
        source = f"{total} NVLinks {behind}, {source}"
        result.cluster["node_bandwidth"] = (in_range(1e9 * total * value, [1e9 * total * end for end in ends], bytes_a_second), source)
        result.took.append(f"'{path}': {len(matrix.gpus)} GPUs, {source}")
    else:
        take_pcie(result, path, matrix, any(map(sum, own.values())))


def ring_of_links(matrix, own):
    """Whether NVLinks join all GPUs, each with two neighbours, as a ring needs them; of two GPUs one is enough."""
    needed = min(2, len(matrix.gpus) - 1)
    if any(sum(count > 0 for count in counts) < needed for counts in own.values()):
        return False
    reached, waiting = {matrix.gpus[0]}, [matrix.gpus[0]]
    while waiting:
        one = waiting.pop()
        for other in matrix.gpus:
            if links(matrix.cells[one, other]) and other not in reached:
                reached.add(other)
                waiting.append(other)
    return len(reached) == len(matrix.gpus)


def link_of(model):
    """(GB/s of a link, the ends of its range, where it is from)."""
    if model:
        return LINK.get(model, USUAL_LINK), [], f"{LINK.get(model, USUAL_LINK)} GB/s each of {model}"
    return USUAL_LINK, [SLOWEST_LINK, FASTEST_LINK], (f"{USUAL_LINK} GB/s each of V100 to H200, in a range from GA102's {SLOWEST_LINK} to Blackwell's {FASTEST_LINK}, since the "
                                                      "matrix does not name the GPU: put the output of nvidia-smi -L ahead of it")


def take_pcie(result, path, matrix, some_links):
    ways = {matrix.cells[one, other] for one in matrix.gpus for other in matrix.gpus if one != other} - {"N/A", "NA"}
    least = BETWEEN_SOCKETS if ways & {"SYS", "SOC"} else LANES[0]
    source = f"16 lanes of PCIe {'and the way between sockets, ' if least < LANES[0] else ''}of unknown generation: 3.0 to 5.0"
    source += f", or the {BETWEEN_SOCKETS} GB/s that NCCL takes for the slowest way between sockets" if least < LANES[0] else ""
    source += "; NVLinks join some GPUs only, so that a ring of all has to leave them" if some_links else ""
    result.cluster["node_bandwidth"] = (in_range(1e9 * LANES[1], [1e9 * least, 1e9 * LANES[2]], bytes_a_second), source)
    result.took.append(f"'{path}': {len(matrix.gpus)} GPUs, joined by {', '.join(sorted(ways))}")
    result.unknown.append("which PCIe it is: `nvidia-smi -q` has Link Gen and Width, NCCL's XML (`trigram import nccl_topology`) link_speed")


def take_nics(result, path, matrix):
    if not matrix.others:
        result.unknown.append("the NICs: the matrix has none")
        return
    near = {gpu: [nic for nic in matrix.others if matrix.cells[gpu, nic] in NEAR] for gpu in matrix.gpus}
    served = matched(near)
    own = served == len(matrix.gpus)
    result.cluster["nic"] = ("gpu" if own else "node", f"{len(matrix.others)} NICs, of which {served} of {len(matrix.gpus)} GPUs have one of their own below a PCIe switch")
    result.took.append(f"'{path}': {len(matrix.others)} NICs")
    result.unknown.append("what the NICs carry: the matrix has no speeds; NCCL's XML has them, and `ibstat` or ethtool")


def matched(near):
    """How many GPUs can have a NIC of their own, by augmenting paths."""
    owner = {}

    def found(gpu, seen):
        for nic in near[gpu]:
            if nic not in seen:
                seen.add(nic)
                if nic not in owner or found(owner[nic], seen):
                    owner[nic] = gpu
                    return True
        return False

    return sum(found(gpu, set()) for gpu in near)
