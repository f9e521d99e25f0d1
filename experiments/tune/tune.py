"""Searches for the flags of a run that make it fastest, as the JSON on its standard input, which `trigram tune` makes, says. Leaves
best.cfg, trials.csv, tune.json and summary.txt. It is started by trigram, as python3 -I; ends with the program's exit codes, and
with 3 where optuna is missing."""

import json
import os
import pathlib
import signal
import sys

FAILED = 1
UNUSABLE = 2
NO_OPTUNA = 3
INTERRUPTED = 130

HERE = os.path.dirname(os.path.abspath(__file__))


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    plan = json.load(sys.stdin)
    sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "plot")]
    signal.signal(signal.SIGTERM, interrupt)
    try:
        import optuna
    except ImportError:
        return NO_OPTUNA
    import conduct
    import unusable
    import runs
    runs.end_with_parent(signal.SIGTERM)
    folder = pathlib.Path(plan["out"])
    try:
        said = conduct.search_and_judge(plan, folder)
    except (runs.Refused, unusable.Unusable) as error:
        print(f"trigram: {error}", file=sys.stderr)
        return UNUSABLE
    except runs.Failed as error:
        print(f"trigram: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(f"trigram: interrupted; finished runs are kept in {folder}, the same command continues", file=sys.stderr)
        return INTERRUPTED
    return tell(said)


def tell(text):
    try:
        print(text, end="", flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is tried again at the end
        print(f"trigram: cannot print all to standard output: {error.strerror}", file=sys.stderr)
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
