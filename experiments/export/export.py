"""Writes a run's trace as other tools read it, as the JSON on its standard input, which `trigram export` makes, says. Prints what was
written and what was left out. It is started by trigram, as python3 -I, and ends with the program's exit codes."""

import importlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def write(exported, plan, out):
    """All files or none; returns their names."""
    import new_file
    facts = {"kind": plan["kind"], "run": plan["run"], "left_out": exported.left_out, "wrote": sorted(exported.files)}
    files = {**exported.files, "export.json": (json.dumps(facts, indent=1) + "\n").encode()}
    with new_file.all_or_none():
        for name, content in files.items():
            new_file.write(out / name, lambda file, content=content: file.write(content))
    return sorted(exported.files)


def told(exported, names, out):
    shown = names if len(names) <= 8 else [*names[:3], f"... {len(names) - 4} more ...", names[-1]]
    lines = ["wrote:"] + [f"  {name if name.startswith('...') else out / name}" for name in shown]
    lines += ["took:"] + [f"  - {one}" for one in exported.took]
    return "\n".join(lines + (["left out:"] + [f"  - {one}" for one in exported.left_out] if exported.left_out else []))


def main():
    plan = json.load(sys.stdin)
    sys.path[:0] = [str(HERE), str(HERE.parent / "import"), str(HERE.parent / "plot")]
    import script_end
    out = pathlib.Path(plan["out"])

    def export():
        kind = importlib.import_module("kinds." + plan["kind"])
        exported = kind.exported(pathlib.Path(plan["run"]), plan["name"])
        print(told(exported, write(exported, plan, out), out))

    return script_end.code_of(export)


if __name__ == "__main__":
    sys.exit(main())
