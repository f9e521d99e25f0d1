"""The code blocks of pages: what each is, and what is to become of it.

A block of a shell is run in a folder that its page's blocks share; the block of text behind it is what it prints. A block of
Python is run by itself. Where the line ahead of a block ends with a name, "`mine.cfg`:", the block is that file: a part of the
tree's, where it has one, else it is written for those that follow. A comment in the line ahead decides otherwise:
`<!-- whole -->` leaves it to the test of everything, `<!-- not run: WHY -->` to nobody, `<!-- excerpt -->` says that the block
shows a form, and `<!-- part of: FILE -->` that the tree's file has it."""

import re
from dataclasses import dataclass

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([\w./-]+\.\w+)`[^`\n]*:\n?$")
MARK = re.compile(r"<!-- (whole|excerpt|not run: .+|part of: \S+) -->\n$")


@dataclass
class Block:
    page: str
    line: int
    language: str
    text: str
    kind: str          # run, printed, python, file, part, left
    whole: bool = False
    file: str = ""
    reason: str = ""

    def __str__(self):
        return f"{self.page}:{self.line}"


def kind_of(language, file, mark, after_shell):
    if mark.startswith("part of: "):
        return "part"
    if mark.startswith(("not run: ", "excerpt")):
        return "left"
    if file:
        return "file"
    if language == "text" and after_shell:
        return "printed"
    return {"sh": "run", "python": "python"}.get(language, "unknown")


def blocks_of(page, text):
    """All of one page, in order. Directives of the site and diagrams are none: the site's own test builds them."""
    found, after_shell = [], False
    for fence in FENCE.finditer(text):
        ahead = text[:fence.start()]
        marked = MARK.search(ahead)
        mark = marked[1] if marked else ""
        named = NAMED.search((ahead[:marked.start()] if marked else ahead).rstrip("\n") + "\n")
        language = fence[1]
        file = named[1] if named and language != "sh" else ""
        if language == "mermaid" or language.startswith("{"):
            continue
        block = Block(page, ahead.count("\n") + 1, language, fence[2], kind_of(language, file, mark, after_shell), mark == "whole",
                      mark[9:] if mark.startswith("part of: ") else file, mark)
        after_shell = block.kind == "run"
        found.append(block)
    return found
