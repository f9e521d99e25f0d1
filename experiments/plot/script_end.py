"""How scripts end that the program starts: with its exit codes, and with one line on standard error where something is wrong."""

import os
import sys
import traceback

from unusable import Unusable

FAILED = 1
UNUSABLE = 2
INTERRUPTED = 130


def words_of(error):
    """An error that nobody expected, with its place in the scripts."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{os.path.basename(frame.filename)}:{frame.lineno}: {type(error).__name__}: {error}"


def code_of(work):
    """The exit code, after `work()` was done or has failed."""
    try:
        work()
    except Unusable as error:
        print(f"trigram: {error}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        print(f"trigram: {words_of(error)}", file=sys.stderr)
        return FAILED
    return 0
