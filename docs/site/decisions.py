"""Sections of DECISIONS.md by their numbers, and the index of them by the pages that ask for them."""

import re

SECTION = re.compile(r"^## (\d+)\. (.*)\n", re.MULTILINE)


def written(tree):
    """Number: (title, text)."""
    parts = SECTION.split((tree / "DECISIONS.md").read_text("utf-8"))
    return {int(number): (title, text.strip()) for number, title, text in zip(parts[1::3], parts[2::3], parts[3::3])}


def rooms(tree):
    """Page: (its title, the numbers that it asks for)."""
    found = {}
    for page in sorted((tree / "docs/explanation/decisions").glob("*.md")):
        text = page.read_text("utf-8")
        mark = re.search(r"<!-- decisions: (.*?) -->", text, re.DOTALL)
        if mark:
            found[page.name] = (re.match(r"# (.*)", text)[1], [int(word) for word in mark[1].split() if word.isdigit()])
    return found


def unplaced(tree):
    """Numbers that no room has yet."""
    placed = [number for _, numbers in rooms(tree).values() for number in numbers]
    twice = sorted({number for number in placed if placed.count(number) > 1})
    unknown = sorted(set(placed) - set(written(tree)))
    if twice or unknown:
        raise ValueError(f"docs/explanation/decisions: {twice} stand in two rooms, {unknown} are no sections of DECISIONS.md")
    return sorted(set(written(tree)) - set(placed))


def from_here(text):
    """Links are written for the root of the tree."""
    return re.sub(r"\]\((?!\w+:|#)", "](../../../", text)


def sections(tree, *words):
    numbers = unplaced(tree) if words == ("rest",) else [int(word) for word in words]
    everything = written(tree)
    return "\n\n".join(f"## {number}. {everything[number][0]}\n\n{from_here(everything[number][1])}" for number in numbers)


def index(tree):
    everything = written(tree)
    lines = ["| decision | room |", "|---|---|"]
    place = {number: (title, page) for page, (title, numbers) in rooms(tree).items() for number in numbers}
    for number, (title, _) in everything.items():
        room, page = place.get(number, ("Not yet in a room", "rest.md"))
        lines.append(f"| {number}. {title} | [{room}](decisions/{page}) |")
    return "\n".join(lines)
