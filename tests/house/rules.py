#!/usr/bin/env python3
"""House rules that no compiler checks, one line a violation: borders between folders, size and form of files, names
of products, the catalogue, the README. Run by ctest; by hand: tests/house/rules.py [ROOT]."""

import collections
import re
import subprocess
import sys
from pathlib import Path

POSIX = r"(sys|netinet|arpa)/\w+\.h|(unistd|fcntl|signal|poll|spawn|termios|zlib)\.h"
CONCURRENCY = {"thread", "mutex", "shared_mutex", "condition_variable", "future", "atomic", "semaphore", "barrier",
               "latch", "stop_token"}

# Folder: (our own folders that it may include, outside headers that it may include beside the standard library).
BORDERS = {
    # The rooms of core, each above those that it includes.
    "core/values": (("core/values",), r"Random123/.*"),
    "core/registry": (("core/values", "core/registry"), r"nothing"),
    "core/world": (("core/values", "core/world"), r"nothing"),
    "core/network": (("core/network",), r"nothing"),
    "core/device": (("core/values", "core/registry", "core/world", "core/device"), r"nothing"),
    "core/topologies": (("core/values", "core/registry", "core/world", "core/topologies"), r"nothing"),
    "core/lane": (("core/values", "core/registry", "core/world", "core/device", "core/lane"), r"nothing"),
    "core/collectives": (("core/values", "core/lane", "core/collectives"), r"nothing"),
    "core/step": (("core/values", "core/registry", "core/device", "core/lane", "core/step"), r"nothing"),
    "core/compression": (("core/values", "core/device", "core/lane", "core/step", "core/compression"), r"nothing"),
    "core/primitives": (("core/values", "core/device", "core/topologies", "core/lane", "core/step", "core/compression", "core/primitives"),
                        r"nothing"),
    "core/training": (("core/values", "core/registry", "core/world", "core/device", "core/lane", "core/step", "core/training"),
                      r"nothing"),
    "core/members": (("core/values", "core/registry", "core/training", "core/members"), r"nothing"),
    "core/foreign": (("core",), r"nlohmann/.*"),
    "core": (("core",), r"nothing"),
    "algorithms": (("core",), r"nothing"),
    "kernels/cpu": (("core", "kernels/scalar.hpp", "kernels/philox.hpp", "kernels/element_types.hpp", "kernels/normal.hpp",
                     "kernels/orthonormal.hpp", "kernels/block_sums.hpp", "kernels/lines.hpp", "kernels/rule.hpp", "kernels/codecs",
                     "kernels/operations", "kernels/cpu"),
                    r"Eigen/.*|immintrin\.h|cpuid\.h"),
    "kernels/cuda": (("core", "kernels/scalar.hpp", "kernels/philox.hpp", "kernels/element_types.hpp", "kernels/normal.hpp",
                      "kernels/orthonormal.hpp", "kernels/block_sums.hpp", "kernels/lines.hpp", "kernels/rule.hpp", "kernels/codecs",
                      "kernels/operations", "kernels/cuda"),
                     r"cuda_runtime\.h|cublas_v2\.h|dlfcn\.h"),
    "kernels": (("core", "kernels"), r"nothing"),
    "processes": (("core", "processes"), r"dlfcn\.h|" + POSIX),
    "meeting": (("core", "processes", "meeting"), r"nettle/.*|netdb\.h|" + POSIX),
    "net": (("net",), r"(linux|net)/\w+\.h|ifaddrs\.h|pthread\.h|" + POSIX),
    "backends/sim": (("core", "processes", "kernels/cpu", "backends/sim"), r"simgrid/.*|xbt/.*|nlohmann/.*|cxxabi\.h|" + POSIX),
    "backends/process": (("core", "processes", "kernels/cpu/kernels.hpp", "backends/process"), r"nothing"),
    "backends/net": (("core", "processes", "meeting", "net/abi.hpp", "net/vtables.hpp", "backends/process", "backends/torch", "backends/gpu/host", "backends/net"),
                      r"nlohmann/.*|dlfcn\.h|" + POSIX),
    "backends/gpu/host": (("core", "processes", "meeting", "backends/gpu/host"), r"nlohmann/.*|" + POSIX),
    "backends/gpu": (("core", "processes", "meeting", "kernels/cuda", "backends/process", "backends/gpu"),
                     r"cuda_runtime\.h|nccl\.h|dlfcn\.h|nlohmann/.*|" + POSIX),
    # The rooms of experiments, each above those that it includes.
    "experiments/workloads/data": (("core", "experiments/workloads/data"), POSIX),
    "experiments/workloads/python_peer": (("core", "experiments/workloads/python_peer"), r"nlohmann/.*|" + POSIX),
    "experiments/workloads": (("core", "experiments/workloads"), r"nothing"),
    "experiments/memberships": (("core", "experiments/workloads/data", "experiments/memberships"), r"nothing"),
    "experiments/settings": (("core", "processes", "experiments/workloads", "experiments/settings"),
                             r"nlohmann/.*|boost/program_options.*|" + POSIX),
    "experiments/record": (("core", "processes", "experiments/workloads", "experiments/settings", "experiments/measure",
                            "experiments/record"),
                           r"nlohmann/.*|" + POSIX),
    "experiments/measure": (("core", "experiments/measure"), r"nlopt\.hpp"),
    "experiments/fit": (("core", "processes", "experiments/workloads", "experiments/settings", "experiments/measure",
                         "experiments/record", "experiments/fit"),
                        r"nlohmann/.*|Eigen/.*|nlopt\.hpp|boost/(math|random)/.*|" + POSIX),
    "experiments/study": (("core", "processes", "experiments/workloads", "experiments/settings", "experiments/record",
                           "experiments/fit", "experiments/study"),
                          r"nlohmann/.*|" + POSIX),
    "experiments/program/flags": (("core", "experiments/settings", "experiments/fit", "experiments/program/flags"),
                                  r"nlohmann/.*|boost/program_options.*"),
    "experiments/program/tables": (("core", "experiments/measure", "experiments/fit", "experiments/study",
                                    "experiments/program/flags", "experiments/program/tables"), r"nothing"),
    "experiments/program": (("core", "processes", "experiments"), r"nlohmann/.*|boost/program_options.*|" + POSIX),
    "experiments": ((), r"nothing"),  # nothing stands outside its rooms
    "python/session": (("core", "kernels/cpu/kernels.hpp", "meeting/store/epoch_meeting.hpp", "backends/torch/network.hpp", "python/session"),
                       r"nlohmann/.*"),
    "ptx/device": (("core", "kernels/cuda", "ptx"), r"cuda_runtime\.h"),
    # CUDA's own headers, or those of the tests' double.
    "ptx/runtime": (("core", "ptx"), r"cuda_runtime_api\.h|vector_types\.h"),
    "ptx": (("core", "ptx"), r"cxxabi\.h"),
}
# What a backend that has no line above may include.
BACKEND = (("core", "processes", "meeting", "kernels/cpu/kernels.hpp", "backends/process"), r"nlohmann/.*|" + POSIX)
# Where no two components, each a header with its source, may need each other.
ONE_WAY = ("core/", "algorithms/", "kernels/", "processes/", "meeting/", "net/", "backends/", "experiments/", "python/", "ptx/")
# One file each, where a folder needs more: eigenvalues of a mixing matrix; stacks of a sanitizer; memory that repeats.
EXCEPTIONS = {"core/topologies/topology.cpp": r"Eigen/.*", "backends/sim/engine/sanitized_stacks.cpp": r"dlfcn\.h|sanitizer/asan_interface\.h",
              "ptx/runtime/repeated_memory.cpp": POSIX}

CODE = (".cpp", ".hpp", ".cu")
MAX_LINES = 400
MAX_FILES = 25
README_LINES = 120
TUTORIAL = "docs/tutorials/algorithm_in_cpp.md"
FORBIDDEN_NAMES = {"util", "utils", "common", "helper", "helpers", "manager", "misc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
REGISTRATION = re.compile(r'\b(\w+)::Registration\s+\w+\s*[({]\s*"([^"]+)"')
SKELETONS = "experiments/skeletons/"
SILENT_FOLDERS = ("core/", "algorithms/", "kernels/", "processes/", "meeting/", "net/", "backends/", "python/", "ptx/")


def project_files(root):
    """Paths of all files of the project, from git where there is one."""
    listing = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    if listing.returncode == 0:
        paths = listing.stdout.splitlines()
    else:
        paths = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.parts[len(root.parts)] != "build"]
    return sorted(p for p in paths if (root / p).is_file())


def lines_of(root, path):
    return (root / path).read_text(encoding="utf-8").splitlines()


def code_files(paths):
    return [p for p in paths if p.endswith(CODE)]


def home_of(path):
    """Where a file belongs: that of a skeleton is where `trigram new` writes it."""
    return re.sub(rf"^{SKELETONS}[^/]+/", "", path)


def border_of(path):
    """The folder with a border that a file is in, with what it may include of ours and from outside; None where all is allowed."""
    folder = next((f for f in BORDERS if path.startswith(f + "/")), None)
    if folder:
        return folder, *BORDERS[folder]
    if backend := re.match(r"backends/\w+(?=/)", path):
        return backend.group(), (*BACKEND[0], backend.group()), BACKEND[1]
    return None


def check_borders(root, paths):
    for path in code_files(paths):
        border = border_of(home_of(path))
        for number, line in enumerate(lines_of(root, path), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            quote, header = found.groups()
            where = f"{path}:{number}: "
            if quote == '"' and not (root / header).is_file():
                yield where + f'"{header}" is no file from the root of the project'
            elif border and quote == '"' and not header.startswith(border[1]):
                yield where + f"{border[0]} may include {', '.join(border[1])}, not {header}"
            elif border and quote == "<" and not allowed_outside(border[0], border[2], path, header):
                yield where + f"{border[0]} may not include <{header}>"


def allowed_outside(folder, outside, path, header):
    if re.fullmatch(EXCEPTIONS.get(path, "nothing"), header):
        return True
    if folder == "algorithms" and header in CONCURRENCY:
        return False
    is_standard = re.fullmatch(r"[a-z0-9_]+", header)
    return bool(is_standard or re.fullmatch(outside, header))


def check_one_way(root, paths):
    """Each component needs only what is below it: following includes, nobody comes back to where they began."""
    needs = {}
    for path in code_files(paths):
        if path.startswith(ONE_WAY):
            includes = (INCLUDE.match(line) for line in lines_of(root, path))
            below = {component_of(found.group(2)) for found in includes if found and found.group(1) == '"'}
            needs.setdefault(component_of(path), set()).update(below - {component_of(path)})
    while lowest := [one for one, below in needs.items() if not below & needs.keys()]:
        for one in lowest:
            del needs[one]
    for one, below in sorted(needs.items()):  # what is in a circle, or above one
        for other in sorted(below & needs.keys()):
            if one < other and reaches(needs, other, one):
                yield f"{one}: needs {other}, which needs it too; includes go one way"


def component_of(path):
    return path.rsplit(".", 1)[0]


def reaches(needs, start, goal):
    seen, ahead = set(), [start]
    while ahead:
        one = ahead.pop()
        if one == goal:
            return True
        if one not in seen:
            seen.add(one)
            ahead.extend(needs.get(one, ()))
    return False


def check_form(root, paths):
    for path in paths:
        stems = {Path(part).stem.lower() for part in Path(path).parts}
        for stem in stems & FORBIDDEN_NAMES:
            yield f"{path}: '{stem}' says nothing; name the file or folder after what it does"
    for path in code_files(paths):
        lines = lines_of(root, path)
        if len(lines) > MAX_LINES:
            yield f"{path}: {len(lines)} lines; at most {MAX_LINES}: split it"
        if not says_its_purpose(lines, path):
            yield f"{path}:1: opens neither with what the file is for nor with its own header"


def says_its_purpose(lines, path):
    own_header = f'#include "{path.removesuffix(".cpp")}.hpp"'
    return bool(lines) and (lines[0].startswith("// ") or lines[0] == own_header)


def check_rooms(root, paths):
    """What lies in one folder can be overlooked. Products and suites do not count: a folder is the list of them, and grows by each."""
    counts = collections.Counter(str(Path(path).parent) for path in code_files(paths) if not is_listed((root / path).read_text("utf-8")))
    for folder, count in sorted(counts.items()):
        if count > MAX_FILES:
            yield f"{folder}: holds {count} files; at most {MAX_FILES} beside products and suites: give it rooms"


def is_listed(text):
    return REGISTRATION.search(text) or re.search(r"^(TYPED_)?TEST(_F|_P)?\(", text, re.MULTILINE)


def check_words(root, paths):
    for path in paths:
        if path.startswith("tests/house/") or not path.endswith(CODE + (".py", ".md", ".txt", ".cmake", ".cfg", ".json")):
            continue
        for number, line in enumerate(lines_of(root, path), 1):
            for word in re.findall(r"\bTODO\b|\bFIXME\b|\bXXX\b", line):
                yield f"{path}:{number}: {word}: do it or decide against it"
            if re.search(r"(?<![\w.])/(work|home|root|tmp/build)/", line):
                yield f"{path}:{number}: a path of one machine"


def check_silence(root, paths):
    """Library code throws: it prints nothing, exits nowhere, and reads the environment in few places."""
    speech = re.compile(r"std::(?:(?:cout|cerr|clog) *<<|(?:exit|abort|printf)\()|(?<![\w:.>])(?:printf|puts|exit|abort)\(")
    for path in code_files(paths):
        if not home_of(path).startswith(SILENT_FOLDERS):
            continue
        for number, line in enumerate(lines_of(root, path), 1):
            code = line.split("//")[0]
            if found := speech.search(code):
                yield f"{path}:{number}: library code throws; it never calls {found.group(0).rstrip(' (<')}"
            if "getenv" in code and not path.startswith(("processes/", "backends/gpu/host/", "net/settings.cpp")):
                yield f"{path}:{number}: the environment is read in experiments and processes only"


def check_closed_buffers(root, paths):
    """The memory of a Buffer may be a GPU's: only kernels, codecs and backends look into it."""
    look = re.compile(r"(?:\.|->)(?:data<[^>]*>|raw)\(\)")
    for path in code_files(paths):
        if not home_of(path).startswith(("algorithms/", "core/primitives/", "core/optimizers/")):
            continue
        for number, line in enumerate(lines_of(root, path), 1):
            if found := look.search(line.split("//")[0]):
                yield f"{path}:{number}: looks into a Buffer by {found.group(0)}; leave its memory to worker.device"


def registrations(root, paths):
    """(path, kind, name) of every product outside the tests."""
    for path in code_files(paths):
        if not path.startswith("tests/"):
            for kind, name in REGISTRATION.findall((root / path).read_text(encoding="utf-8")):
                yield path, kind, name


def check_products(root, paths):
    for path, kind, name in registrations(root, paths):
        stem = Path(path).stem
        folder = Path(path).parent.name
        expected = {stem, folder if kind in ("Backends", "BackendTraits") else stem, stem.removeprefix("data_")}
        if name.split("/")[-1] not in expected:
            yield f"{path}: registers '{name}'; a product's file carries its name"


def check_catalogue(root, paths):
    """Every algorithm of the catalogue's folder has a section and a row in the table of options, and nothing else has."""
    catalogue = root / "algorithms" / "README.md"
    text = catalogue.read_text(encoding="utf-8") if catalogue.is_file() else ""
    sections = set(re.findall(r"^## (\w+)$", text, re.MULTILINE))
    table = re.search(r"^\| *Algorithm.*\n(?:\|.*\n)*", text, re.MULTILINE)
    rows = set(re.findall(r"^\| *`(\w+)`", table.group(0) if table else "", re.MULTILINE))
    registered = {name for path, kind, name in registrations(root, paths) if kind == "Algorithms" and path.startswith("algorithms/")}
    for name in sorted(registered - sections):
        yield f"algorithms/README.md: '{name}' has no section"
    for name in sorted(registered - rows):
        yield f"algorithms/README.md: '{name}' has no row in the table of options"
    for name in sorted(rows - registered):
        yield f"algorithms/README.md: '{name}' has a row and no file"


def check_recipes(root, paths):
    """CONTRIBUTING links the skeletons of `trigram new`, and names all that a backend touches."""
    text = (root / "CONTRIBUTING.md").read_text("utf-8")
    skeletons = {home_of(path): path for path in paths if path.startswith(SKELETONS)}
    for path in sorted(skeletons.values()):
        if f"]({path})" not in text:
            yield f"CONTRIBUTING.md: does not link {path}"
    for path, place in named_paths(text):
        if place not in skeletons and not (root / place).exists():
            yield f"CONTRIBUTING.md: names `{path}`, and there is no {place}"
    recipe = re.search(r"^## A backend$.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    for path in paths if recipe else ():
        in_its_folder = re.match(r"(backends/|tests/(?!house/))\w+/", path)
        if path.endswith(("CMakeLists.txt", ".cmake", ".cmake.in", "rules.py")) and not in_its_folder:
            names_mpi = re.search(r"(?<![\w/.])mpi(?![\w.])|backends/mpi", (root / path).read_text("utf-8"))
            if names_mpi and f"`{path}`" not in recipe.group(0):
                yield f"CONTRIBUTING.md: the recipe for a backend leaves out {path}, which names mpi"


def named_paths(text):
    """(what stands in backquotes, the place that has to be there): NAME is anybody's, its folder is not."""
    tops = r"(?:algorithms|backends|cmake|core|experiments|kernels|meeting|processes|tests)/"
    for path in re.findall(rf"`({tops}[\w./-]*)`", text):
        yield path, path.split("NAME")[0].rstrip("/") if "NAME" in path else path


def check_picture(root, _):
    """Every file in the picture of core/README.md is there, and each of its lines is one that Mermaid reads."""
    text = (root / "core/README.md").read_text("utf-8") if (root / "core/README.md").is_file() else ""
    picture = re.search(r"^```mermaid\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = picture.group(1).splitlines() if picture else []
    if not lines or lines[0] != "flowchart TD":
        yield "core/README.md: has no picture that begins with flowchart TD"
        return
    nodes, arrows = set(), []
    for line in filter(None, lines[1:]):
        # Plain enough for every version of it: `;` ends statements and `#` begins entities in some of them.
        if node := re.fullmatch(r'  (\w+)(?:\["[^";#]+"\]|\(\["[^";#]+"\]\))', line):
            nodes.add(node.group(1))
        elif re.fullmatch(r"  \w+(?: -->(?:\|[\w ]+\|)? \w+)+", line):
            arrows += re.split(r" -->(?:\|[^|]*\|)? ", line.strip())
        else:
            yield f"core/README.md: the picture's line {line.strip()!r} is neither a box nor an arrow"
    for name in sorted(nodes.symmetric_difference(arrows)):
        yield f"core/README.md: the picture's {name} is " + ("a box without an arrow" if name in nodes else "no box")
    for path in re.findall(r"[\w/]+\.(?:cpp|hpp|cu)\b", picture.group(1)):
        if not (root / path).is_file():
            yield f"core/README.md: the picture names {path}, which is no file"


def check_pages(root, _):
    """The first page is short, and the tutorial shows an algorithm's file as it is."""
    count = len(lines_of(root, "README.md"))
    if count > README_LINES:
        yield f"README.md: has {count} lines, more than {README_LINES}; what it says in detail belongs to docs/"
    shown = re.search(r"`(algorithms/\w+\.cpp)`.*?```cpp\n(.*?)```", (root / TUTORIAL).read_text("utf-8"), re.DOTALL)
    if not shown:
        yield f"{TUTORIAL}: shows no algorithm file"
    elif shown.group(2) != (root / shown.group(1)).read_text("utf-8"):
        yield f"{TUTORIAL}: its copy of {shown.group(1)} differs from the file"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    paths = project_files(root)
    checks = (check_borders, check_one_way, check_form, check_rooms, check_words, check_silence, check_closed_buffers, check_products,
              check_catalogue, check_pages, check_recipes, check_picture)
    violations = [violation for check in checks for violation in check(root, paths)]
    print("\n".join(violations) or f"{len(code_files(paths))} source files keep the house rules")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
