"""A Sphinx extension: marks in pages become what the program says of itself, and what no site can show becomes what it can.

`<!-- flags: run -->` becomes the table of that subcommand's flags, `<!-- products -->` everything that is registered,
`<!-- parameters: backends sim -->` the parameters of one product,
`<!-- fields: run.json -->` what the schema of that result file says of each field,
`<!-- study: latency -->` what its notes say it asks and cannot tell, `<!-- decisions: 3 27 -->` these sections of
DECISIONS.md, and `<!-- decision-index -->` a list of all of them by room. Diagrams of Mermaid become those of Graphviz, and
links to folders those of their pages."""

import os
import re
import textwrap
from pathlib import Path

import decisions
import fields
import notes
import program

EXPANDED = {"flags": program.flags, "products": program.products, "parameters": program.parameters,
            "fields": fields.of, "study": notes.study, "decisions": decisions.sections, "decision-index": decisions.index}


def expanded(text, tree):
    def by_mark(found):
        return EXPANDED[found[1]](tree, *(found[2] or "").split())

    return re.sub(rf"^<!-- ({'|'.join(EXPANDED)})(?:: (.*?))? -->$", by_mark, text, flags=re.MULTILINE)


def as_graphviz(found):
    """A flowchart of boxes and arrows, in the form of core/README.md's, which the house rules hold it to."""
    lines = ["```{graphviz}", "digraph { node [shape=box, fontname=\"sans-serif\", fontsize=11]; edge [fontname=\"sans-serif\", fontsize=10];"]
    for line in found[1].splitlines():
        box = re.match(r'\s*(\w+)(\(?\[)"(.*)"\]\)?$', line)
        if box:
            label = "\\n".join("\\n".join(textwrap.wrap(part, 44)) for part in box[3].split("<br/>"))
            lines.append(f'"{box[1]}" [label="{label}"{", style=rounded" if box[2] == "([" else ""}];')
            continue
        words = re.split(r"\s*-->(?:\|(.*?)\|)?\s*", line.strip())
        for start, label, end in zip(words[::2], words[1::2], words[2::2]):
            lines.append(f'"{start}" -> "{end}"' + (f' [label="{label}"];' if label else ";"))
    return "\n".join([*lines, "}", "```"])


def without_folders(text, folder):
    """Links to folders lead to their README; where there is none, words stay and the link goes."""
    def linked(found):
        if not (folder / found[2]).is_dir():
            return found[0]
        return f"[{found[1]}]({found[2].rstrip('/')}/README.md)" if (folder / found[2] / "README.md").is_file() else found[1]

    return re.sub(r"\[([^\]\n]+)\]\((?!\w+:)([\w./-]+)\)", linked, text)


def prepare(app, docname, source):
    tree = Path(app.srcdir)
    text = expanded(source[0], tree)
    if text != source[0]:  # a page that was read before is read again when what it expands has changed
        for origin in (os.environ["TRIGRAM_PROGRAM"], tree / "DECISIONS.md", *tree.glob("experiments/studies/*.md"), *tree.glob("experiments/schemas/*.json")):
            app.env.note_dependency(str(origin))
    text = re.sub(r"```mermaid\n(.*?)```", as_graphviz, text, flags=re.DOTALL)
    source[0] = without_folders(text, (tree / docname).parent)


def setup(app):
    app.connect("source-read", prepare)
    return {"parallel_read_safe": True}
