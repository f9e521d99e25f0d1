"""What the schemas of result files say of their fields, as tables of Markdown."""

import json

import program

JSON_TYPES = {"array": "list", "boolean": "true or false", "integer": "whole number"}


class Schema:
    """One file's schema, whose references lead into its own definitions or those of values.json beside it."""

    def __init__(self, folder, name):
        self._folder, self._files = folder, {}
        self._name, self.whole = name, self._read(name)

    def _read(self, name):
        return self._files.setdefault(name, json.loads((self._folder / name).read_text(encoding="utf-8")))

    def resolved(self, node):
        """The node, or what it refers to, with its own description."""
        if "$ref" not in node:
            return node
        name, _, pointer = node["$ref"].partition("#/definitions/")
        return self._read(name or self._name)["definitions"][pointer] | {key: node[key] for key in ("description",) if key in node}


def kind_of(node):
    if "enum" in node:
        return " or ".join(program.code(one) for one in node["enum"] if one)
    kinds = node.get("type", node.get("title", ""))
    return " or ".join(JSON_TYPES.get(one, one) for one in ([kinds] if isinstance(kinds, str) else kinds))


def row_of(name, node):
    return [program.code(name), f"{program.cell(node['description'])} ({kind_of(node)})"]


def rows_of(schema, node, place=""):
    """What is inside of an object, or of each value of a list, and inside of that."""
    for key, found in (node.get("properties") or schema.resolved(node.get("items", {})).get("properties", {})).items():
        one = schema.resolved(found)
        yield row_of(place + key, one)
        yield from rows_of(schema, one, place + key + ("[]." if "items" in one else "."))


def of(tree, name):
    """A table of the fields of a result file, and one for each of them that holds others: name, and meaning with type."""
    schema = Schema(tree / "experiments" / "schemas", name)
    tops = {key: schema.resolved(node) for key, node in schema.whole["properties"].items()}
    parts = [program.table(["field", "meaning"], [row_of(key, node) for key, node in tops.items()])]
    for key, node in tops.items():
        inner = list(rows_of(schema, node))
        if inner:
            title = f"In each value of `{key}`" if "items" in node else f"In `{key}`"
            parts.append(f"**{title}**\n\n" + program.table(["field", "meaning"], inner))
    return "\n".join(parts)
