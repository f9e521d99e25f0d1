"""Holds a result file against the schema that describes it (experiments/schemas), and says what is wrong in the schema's own words."""

import functools
import json
import pathlib

import fastjsonschema

from unusable import Unusable

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "schemas"
KINDS = {"object": "object", "array": "list", "string": "text", "number": "number", "integer": "whole number", "boolean": "truth value"}


def read(name):
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def by_address(address):
    return read(address.rsplit("/", 1)[1])


@functools.cache
def compiled(name, part=""):
    """What checks a value against a schema, or against one of its definitions."""
    schema = read(name)
    begin = {"$id": (FOLDER / name).as_uri(), "definitions": schema.get("definitions", {})}
    schema = begin | ({"$ref": f"#/definitions/{part}"} if part else schema)
    return fastjsonschema.compile(schema, handlers={"file": by_address}, formats={"printable": str.isprintable})


def meant(definition):
    """The noun for what a value must be."""
    if "enum" in definition:
        return " or ".join(str(one) for one in definition["enum"] if one != "")
    return definition.get("title") or KINDS.get(definition.get("type"), "value that is meant")


def inside(place, error):
    """Where in the file."""
    return place + "".join(letter if letter.isprintable() else "?" for letter in error.name[len("data"):])


def wrong(place, what, value):
    shown = repr(value)
    raise Unusable(f"{place}: {shown if len(shown) < 60 else shown[:57] + '...'} is no {what}")


def require(name, value, place, part=""):
    """Throws Unusable for the first value that is not as the schema, or its definition `part`, says."""
    try:
        compiled(name, part)(value)
    except fastjsonschema.JsonSchemaValueException as error:
        if error.rule == "required":
            missing = next(key for key in error.rule_definition if key not in error.value)
            raise Unusable(f"{inside(place, error)} has no field '{missing}'") from error
        wrong(inside(place, error), meant(error.definition), error.value)
