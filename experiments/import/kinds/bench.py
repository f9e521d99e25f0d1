"""Tables of `trigram bench --out`: rows of measurements."""

import csv

from imported import Imported, binary
from text_lines import lines_of
from unusable import Unusable


def imported(paths, given):
    if not given["op"]:
        raise Unusable("a table of bench does not name its collective; give --op, as --op all_reduce")
    result = Imported()
    for path in paths:
        table = csv.DictReader(line for _, line in lines_of(path) if line and not line.startswith("#"))
        if not {"size (B)", "time (us)"} <= set(table.fieldnames or ()):
            raise Unusable(f"'{path}' is no table of `trigram bench --out`: it lacks the columns 'size (B)' and 'time (us)'")
        before = len(result.rows)
        for row in table:
            try:
                result.rows.append({"source": f"bench {given['op']}", "op": given["op"], "size": binary(int(row["size (B)"])),
                                    "seconds": f"{float(row['time (us)']) * 1e-6:.6g}"})
            except (TypeError, ValueError) as error:
                raise Unusable(f"'{path}', row {len(result.rows) - before + 1}: {error}") from error
        result.took.append(f"'{path}': {len(result.rows) - before} sizes of {given['op']}")
    return result
