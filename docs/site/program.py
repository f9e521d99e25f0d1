"""What the program says of its flags, products and parameters, as tables of Markdown."""

import functools
import json
import os
import subprocess


@functools.lru_cache(maxsize=None)
def said(*words):
    return json.loads(subprocess.run([os.environ["TRIGRAM_PROGRAM"], *words], check=True, capture_output=True, text=True).stdout)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def table(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def code(text):
    return f"`{cell(text)}`" if text else ""


def flags(_, subcommand):
    """A table for each group of flags."""
    groups = {}
    for flag in said(subcommand, "--help=json")["flags"]:
        groups.setdefault(flag["group"], []).append(
            [code("--" + flag["key"]), cell(flag["type"]), code(flag["default"]), cell(flag["description"])])
    if not groups:
        return "It has no flags beside `--help`.\n"
    titled = ((f"**{title[0].upper()}{title[1:]}**\n\n" if title else "") + table(["flag", "type", "default", "meaning"], rows)
              for title, rows in groups.items())
    return "\n".join(titled)


def parameter_table(all_parameters):
    return table(["key", "type", "default", "meaning"],
                 [[code(one["key"]), cell(one["type"]), code(one["default"]), cell(one["description"])] for one in all_parameters])


def parameters(_, kind, name):
    return parameter_table(said("list", kind, name, "--json")[kind][0]["parameters"])


def product(one):
    lines = [f"### {one['name']}", "", cell(one["summary"][:1].upper() + one["summary"][1:]) + "."]
    for key, title in [("relaxation", "Relaxation"), ("stands_for", "Stands for"), ("when", "When"), ("when_not", "When not"),
                       ("paper", "Paper")]:
        if one.get(key):
            lines.append(f"\n{title}: {code(one[key]) if key == 'stands_for' else cell(one[key])}")
    if one.get("parameters"):
        lines += ["", parameter_table(one["parameters"])]
    return "\n".join(lines) + "\n"


def products(_, *kinds):
    """Everything that is registered, kind by kind; of files, their first comments."""
    parts = []
    for kind, entries in said("list", "--json").items():
        if kinds and kind not in kinds:
            continue
        parts.append(f"## {kind.replace('-', ' ').capitalize()}\n")
        if any("parameters" in one for one in entries):
            parts += map(product, entries)
        else:
            parts.append(table(["name", "what it is"], [[code(one["name"]), cell(one["summary"])] for one in entries]))
    return "\n".join(parts)
