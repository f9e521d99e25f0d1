"""Reads files that other tools write and leaves what Trigram can use, as the JSON on its standard input, which `trigram import` makes, says.
Prints what it took, and what the files could not say. It is started by trigram, as python3 -I, and ends with the program's exit codes."""

import importlib
import json
import os
import pathlib
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def told(imported, names, out):
    lines = ["took:"] + [f"  - {one}" for one in imported.took]
    if imported.unknown:
        lines += ["could not know:"] + [f"  - {one}" for one in imported.unknown]
    return "\n".join(lines + ["wrote:"] + [f"  {os.path.join(out, name)}" for name in names])


def main():
    plan = json.load(sys.stdin)
    sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "plot")]
    import script_end
    import write

    def read_and_write():
        kind = importlib.import_module("kinds." + plan["kind"])
        imported = kind.imported(plan["files"], plan["given"])
        names = write.write(imported, plan["kind"], plan["files"], plan["base"], pathlib.Path(plan["out"]))
        print(told(imported, names, plan["out"]))

    return script_end.code_of(read_and_write)


if __name__ == "__main__":
    sys.exit(main())
