"""Makes a study, or a fit, by the executor that the JSON on its standard input names, as `trigram study --executor` and
`trigram calibrate --executor` write it. It is started by trigram, as python3 -I, and ends with the program's exit codes."""

import importlib
import json
import os
import signal
import sys

FAILED = 1
USAGE = 2
INTERRUPTED = 130


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    plan = json.load(sys.stdin)
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    signal.signal(signal.SIGTERM, interrupt)
    import study_cells
    program = study_cells.program_of(plan)
    try:
        return importlib.import_module("on_" + plan["executor"].partition(":")[0]).make(plan, program)
    except study_cells.Refused as error:
        print(f"trigram: {error}", file=sys.stderr)
        return USAGE
    except study_cells.ExecutorIsGone as error:
        print(f"trigram: {error}", file=sys.stderr)
        return study_cells.EXECUTOR_IS_GONE
    except study_cells.Failed as error:
        print(f"trigram: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"trigram: interrupted; finished runs are kept in {plan['folder']}, the same command continues", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
