"""Writes what was imported: profile.csv, cluster.cfg, measurements.csv and import.json, each whole or not at all."""

import csv
import io
import json

import new_file

FIRST_COLUMNS = ["source", "op", "size", "seconds"]


def files_of(imported, base):
    """Texts by file name. `base` has the keys of a cluster that was given, for what the files do not say."""
    texts = {}
    if imported.profile:
        texts["profile.csv"] = imported.profile
    if imported.cluster:
        texts["cluster.cfg"] = cluster_text(imported, base)
    if imported.rows:
        texts["measurements.csv"] = table_text(imported.rows)
    return texts


def cluster_text(imported, base):
    lines = [f"# {imported.summary or 'Imported.'}"]
    for key, value in base.items():
        if key not in imported.cluster:
            lines.append(f"{key} = {value}")
    for key, (value, source) in imported.cluster.items():
        lines += ["", f"# {source}", f"{key} = {value}"]
    if imported.unknown:
        lines += ["", "# What the files could not say:"] + [f"# - {one}" for one in imported.unknown]
    return "\n".join(lines) + "\n"


def table_text(rows):
    columns = FIRST_COLUMNS + sorted({key for row in rows for key in row} - set(FIRST_COLUMNS))
    text = io.StringIO()
    table = csv.DictWriter(text, [one for one in columns if any(row.get(one) not in (None, "") for row in rows)], lineterminator="\n",
                           extrasaction="ignore")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def write(imported, kind, files, base, out):
    """Writes into the folder `out` and returns the names of the files."""
    texts = files_of(imported, base)
    facts = {"kind": kind, "files": files, "took": imported.took, "unknown": imported.unknown, "flags": imported.flags,
             "traced": imported.traced and dict(zip(("step_s", "least_s", "most_s"), imported.traced)), "wrote": sorted(texts)}
    texts["import.json"] = json.dumps(facts, indent=1) + "\n"
    with new_file.all_or_none():
        for name, text in texts.items():
            new_file.write(out / name, lambda file, text=text: file.write(text.encode()))
    return sorted(texts)
