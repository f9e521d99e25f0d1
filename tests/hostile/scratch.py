"""A folder for one worker: the program works in `place`, beside things that it must leave alone (`canary`, its home and
the folder of temporary files); what it touched there is found by comparing listings."""

import os
import pathlib
import shutil
import stat

GIVEN = ("place/out/made", "place/results")  # what attempts name as --out, and the default
CACHES = (".cache", ".config")  # matplotlib keeps its fonts there


class Scratch:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.place, self.canary = self.root / "place", self.root / "canary"
        for folder in ("place", "canary/inner", "home", "tmp", "said"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        for name in ("run.json", "study.json", "notes.txt", "inner/steps.csv"):
            (self.canary / name).write_text("not yours\n")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.root / "home"), "TMPDIR": str(self.root / "tmp"),
                            "LC_ALL": "C.UTF-8"}

    def empty(self):
        """A fresh place and no temporary files."""
        for folder in (self.place, self.root / "tmp"):
            if any(os.scandir(folder)):
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(exist_ok=True)
        (self.place / "out").mkdir(exist_ok=True)

    def listing(self):
        """Everything that is not the program's to touch: path to kind, size and times."""
        found = {}
        for parent, folders, files in os.walk(os.fsencode(self.root)):
            where = os.path.relpath(parent, os.fsencode(self.root)).decode(errors="replace")
            if where == ".":
                folders[:] = [f for f in folders if f != b"said"]
            if where == "home":
                folders[:] = [f for f in folders if f.decode() not in CACHES]
            if where == "tmp":
                folders[:] = [f for f in folders if not f.startswith(b"ompi.")]  # Open MPI takes them away a little later
            folders[:] = [f for f in folders if f"{where}/{f.decode(errors='replace')}" not in GIVEN]
            for name in [*files, *folders]:
                path = os.path.join(parent, name)
                found[os.path.normpath(f"{where}/{name.decode(errors='replace')}")] = state_of(path)
        return found


def state_of(path):
    facts = os.lstat(path)
    if stat.S_ISDIR(facts.st_mode):
        return (facts.st_mode, facts.st_ino)
    return (facts.st_mode, facts.st_ino, facts.st_size, facts.st_mtime_ns)


def touched(before, after, allowed=()):
    """Paths that appeared, vanished or changed."""
    paths = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    return sorted(path for path in paths if not any(path == one or not one or path.startswith(one + "/") for one in allowed))
