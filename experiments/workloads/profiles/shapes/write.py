#!/usr/bin/env python3
"""Writes the profile tables of the networks that this folder describes: write.py, or write.py --check."""

import pathlib
import sys

import bagua
import convolutional
import transformers

FOLDER = pathlib.Path(__file__).resolve().parent.parent


def main():
    """With --check nothing is written: says which files are not what would be."""
    tables = {**convolutional.tables(), **transformers.tables(), **bagua.tables()}
    stale = []
    for name, table in tables.items():
        path = FOLDER / f"{name}.csv"
        if path.exists() and path.read_text() == table.text():
            continue
        stale.append(path.name)
        if "--check" not in sys.argv[1:]:
            path.write_text(table.text())
    if "--check" in sys.argv[1:] and stale:
        sys.exit(f"{', '.join(stale)}: not what write.py writes; change the shapes, then run it")


main()
