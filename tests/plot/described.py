"""Holds result files against their schemas so strictly that a field which no schema names is found."""

import functools
import json

import drawing  # which finds the modules below
import fastjsonschema
import schemas


def strict(node):
    """The same schema, which refuses fields that it does not name."""
    if isinstance(node, list):
        return [strict(one) for one in node]
    if not isinstance(node, dict):
        return node
    closed = {key: strict(one) for key, one in node.items()}
    if "properties" in node and node.get("type") is not None:
        closed.setdefault("additionalProperties", False)
    return closed


def without_references(name, node):
    """With definitions in the place of what refers to them."""
    if isinstance(node, list):
        return [without_references(name, one) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        file, _, pointer = node["$ref"].partition("#/definitions/")
        return without_references(file or name, schemas.read(file or name)["definitions"][pointer])
    return {key: without_references(name, one) for key, one in node.items() if key != "definitions"}


@functools.cache
def compiled(name):
    return fastjsonschema.compile(strict(without_references(name, schemas.read(name))), formats={"printable": str.isprintable})


def described(path):
    """The content of the file. Throws AssertionError for what its schema does not describe."""
    value = json.loads(path.read_text(encoding="utf-8"))
    try:
        compiled(path.name)(value)
    except fastjsonschema.JsonSchemaValueException as error:
        raise AssertionError(f"{path}: {error.message}") from error
    return value
