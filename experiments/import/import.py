"""Reads files that other tools write and leaves what Trigram can use, as the JSON on its standard input, which `trigram import` makes, says.
Prints what it took, and what the files could not say. It is started by trigram, as python3 -I, and ends with the program's exit codes."""

import importlib
import json
import os
import pathlib
import sys
import traceback

FAILED = 1
UNUSABLE = 2
INTERRUPTED = 130

HERE = os.path.dirname(os.path.abspath(__file__))


def told(imported, names, out):
    lines = ["took:"] + [f"  - {one}" for one in imported.took]
    if imported.unknown:
        lines += ["could not know:"] + [f"  - {one}" for one in imported.unknown]
    return "\n".join(lines + ["wrote:"] + [f"  {os.path.join(out, name)}" for name in names])


def main():
    plan = json.load(sys.stdin)
    sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "plot")]
    import unusable
    import write
    try:
        kind = importlib.import_module("kinds." + plan["kind"])
        imported = kind.imported(plan["files"], plan["given"])
        names = write.write(imported, plan["kind"], plan["files"], plan["base"], pathlib.Path(plan["out"]))
        print(told(imported, names, plan["out"]))
    except unusable.Unusable as error:
        print(f"trigram: {error}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        print(f"trigram: {os.path.basename(frame.filename)}:{frame.lineno}: {type(error).__name__}: {error}", file=sys.stderr)
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
