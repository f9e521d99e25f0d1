"""What the program accepts, read from what it prints itself: subcommands and flags from --help, products and their
parameters from list. So whatever is added to the program is attacked without an edit here."""

import dataclasses
import json
import re
import subprocess

TYPES = "integer|number|text|quantity|on\\|off"


@dataclasses.dataclass(frozen=True)
class Flag:
    """One value that a user gives: --name of a subcommand, or a parameter of a product."""
    name: str
    type: str
    fallback: str


@dataclasses.dataclass(frozen=True)
class Product:
    kind: str  # as list names it: backends, algorithms, ...
    name: str
    parameters: tuple


@dataclasses.dataclass(frozen=True)
class Subcommand:
    name: str
    positional: tuple  # what words without a flag are, in their order
    flags: tuple

    def values(self):
        """All that it takes: flags, and the words without one."""
        return [*self.flags, *(Flag(word, "text", "") for word in self.positional)]

    def has(self, flag):
        return any(one.name == flag for one in self.flags)


class Catalogue:
    def __init__(self, program):
        self.program = str(program)
        names = re.findall(r"^  (\w+) ", self._says("--help").split("flags:")[0], re.MULTILINE)
        self.subcommands = [self._subcommand(name) for name in names]
        self.products = parse_products(self._says("list", "--json"))
        if not self.subcommands or not self.products:
            raise SystemExit(f"{program}: --help and list do not read as expected")

    def subcommand(self, name):
        return next(one for one in self.subcommands if one.name == name)

    def kinds(self):
        return sorted({product.kind for product in self.products})

    def of_kind(self, kind):
        return [product for product in self.products if product.kind == kind]

    def holders(self, parameter):
        """Products that have a parameter of that name."""
        return [p for p in self.products if any(one.name == parameter for one in p.parameters)]

    def _says(self, *words):
        said = subprocess.run([self.program, *words], capture_output=True, text=True, check=True, timeout=60)
        return said.stdout

    def _subcommand(self, name):
        text = self._says(name, "--help")
        usage = re.search(r"^usage: trigram \w+((?: [A-Z]+)*)", text, re.MULTILINE)
        flags = []
        for flag, kind, rest in re.findall(rf"^  --([\w-]+) ({TYPES})(.*(?:\n {{6,}}.*)*)", text, re.MULTILINE):
            fallback = re.search(r"\[([^\]]*)\]\s*$", rest)
            flags.append(Flag(flag, kind, fallback.group(1) if fallback else ""))
        return Subcommand(name, tuple(usage.group(1).split()) if usage else (), tuple(flags))


def parse_products(text):
    """Products of `list --json`."""
    return [Product(kind, one["name"], tuple(Flag(p["key"], p["type"], p["default"]) for p in one.get("parameters", ())))
            for kind, entries in json.loads(text).items() for one in entries]
