"""Whether nvcc has compiled the sources of CUDA as they are: compiled_by_nvcc.py --same | --note

Their digest is a file of the tree, so that it is known in every clone. --same ends with 0 where it is theirs; --note writes
it after they were compiled. What counts is all that is compiled for CUDA, with whatever of the tree it includes."""

import hashlib
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
NOTED = TREE / "tests/gpu/compiled_by_nvcc"
COMPILED = ("kernels/rules/*.cpp", "kernels/operations/*.cpp", "kernels/cuda/**/*.cu", "kernels/cuda/**/*.cpp", "backends/gpu/*.cpp", "tests/gpu/*.cu")
SETTINGS = ("cmake/TrigramFlags.cmake", "cmake/TrigramParts.cmake", "cmake/TrigramPlugins.cmake", "kernels/CMakeLists.txt")


def read_with_includes(path, read):
    """Adds a file of the tree, and those that it includes, to `read`."""
    if path in read:
        return
    read[path] = path.read_bytes()
    for name in re.findall(rb'^#include "([^"]+)"', read[path], re.MULTILINE):
        included = TREE / name.decode()
        if included.exists():
            read_with_includes(included, read)


def digest():
    read = {TREE / name: (TREE / name).read_bytes() for name in SETTINGS}
    for pattern in COMPILED:
        for path in TREE.glob(pattern):
            read_with_includes(path, read)
    whole = hashlib.sha256()
    for path in sorted(read):
        whole.update(f"{path.relative_to(TREE)} {len(read[path])}\n".encode() + read[path])
    return whole.hexdigest()


def main(word):
    found = digest()
    same = NOTED.exists() and NOTED.read_text().split()[:1] == [found]
    if word == "--same":
        return 0 if same else 1
    if not same:
        NOTED.write_text(f"{found}\n")
        print(f"trigram: nvcc has compiled these sources; commit {NOTED.relative_to(TREE)}, and no clone compiles them again")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if sys.argv[1:] in (["--same"], ["--note"]) else __doc__)
