"""Commands of a loop, which ends with the first that fails."""

import os
import subprocess
import sys


def run(*words, environment=()):
    command = list(map(str, words))
    ended = subprocess.run(command, env=os.environ | dict(environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ended.returncode != 0:
        sys.exit(f"loop: {' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}")
