"""Each form of an instruction in the PTX of these executables, as add.rn.f32, is tried by a row of the interpreter's own tests.

    every_form_is_tried.py EXECUTABLE..."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
INSTRUCTION = re.compile(r"^\s*(?:@!?%\w+\s+)?(?:\{\s*)?([a-z]\w*(?:\.[\w:]+)*)[ \t;]", re.MULTILINE)
# Of comparisons the tests try each name with each type.
COMPARISON = re.compile(r"setp\.(\w+)\.(\w+)$")
INTEGER_NAMES = {"eq", "ne", "lt", "le", "gt", "ge"}
FLOAT_NAMES = INTEGER_NAMES | {name + "u" for name in INTEGER_NAMES} | {"num", "nan"}
TYPES = re.compile(r'expect_(integer|float)_comparisons(?:<\w+>)?\("(\w+)"')


def ptx_of(executable):
    """The texts that nvcc left uncompressed in it."""
    data = pathlib.Path(executable).read_bytes()
    return [text.split(b"\0", 1)[0].decode("latin-1") for text in data.split(b"\n.version ")[1:]]


def forms_of(executable):
    return {form for text in ptx_of(executable) for form in INSTRUCTION.findall(text)}


def is_tried(form, tests, types):
    """Whether a row has the form, or the table of comparisons makes it."""
    compared = COMPARISON.match(form)
    if compared and types.get(compared[2], "") and compared[1] in (INTEGER_NAMES if types[compared[2]] == "integer" else FLOAT_NAMES):
        return True
    return re.search(re.escape(form) + r"(?![\w.])", tests) is not None


def main():
    tests = "".join(path.read_text("utf-8") for path in sorted((ROOT / "tests/ptx").glob("*.cpp")))
    types = {name: kind for kind, name in TYPES.findall(tests)}
    forms = set().union(*(forms_of(executable) for executable in sys.argv[1:]))
    missing = sorted(form for form in forms if not is_tried(form, tests, types))
    print("\n".join(f"no test tries {form}" for form in missing) or f"{len(forms)} forms of instructions are tried")
    return 1 if missing or not forms else 0


if __name__ == "__main__":
    sys.exit(main())
