"""Whether the suites launch every kernel that nvcc has compiled: every_kernel_is_launched.py RECORD...

Each record is what one part of the suites wrote, a line a kernel: how often it was launched, its name in PTX, and that in C++."""

import collections
import pathlib
import sys


def launches(records):
    """How often each kernel, by both its names, was launched in all records together."""
    sums = collections.Counter()
    for record in records:
        for line in pathlib.Path(record).read_text("utf-8").splitlines():
            count, names = line.split(" ", 1)
            sums[names] += int(count)
    return sums


def main(records):
    sums = launches(records)
    never = sorted(names.split(" ", 1)[1] for names, count in sums.items() if count == 0)
    for name in never:
        print(f"no case launches {name}")
    print(f"{len(sums) - len(never)} of {len(sums)} kernels were launched, {sum(sums.values())} times in all")
    return 1 if never or not sums else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else __doc__)
