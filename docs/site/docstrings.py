"""A Sphinx extension: docstrings of the package, written as plain text with indented code, read as reStructuredText."""

import re


def indent_of(line):
    return len(line) - len(line.lstrip())


def as_restructured(_app, _what, _name, _thing, _options, lines):
    """Ahead of an indented block stands what makes it code; `*` and `|` in words are words."""
    made, inside = [], False
    for at, line in enumerate(lines):
        indented = bool(line.strip()) and indent_of(line) > 0
        if indented and not inside:
            made += ["", "::", ""] if made and made[-1].strip() else ["::", ""]
        if line.strip():
            if inside and not indented:
                made.append("")
            inside = indented
        made.append(line if indented else re.sub(r"(?<![\w\\`])(\*{1,2})(?=\w)|(?<=\w)_(?=\s|$)", lambda found: "\\" + found[0], line))
    lines[:] = made


def setup(app):
    app.connect("autodoc-process-docstring", as_restructured)
    return {"parallel_read_safe": True}
