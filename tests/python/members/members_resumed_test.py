"""Jobs that have lost all their members, and are started again in the same folder. Ends with 77 without torch."""

import pathlib
import signal
import sys
import tempfile
import time
import unittest

try:
    import torch
except ImportError:
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from case import Case  # noqa: E402
from members_case import PATIENCE, Members  # noqa: E402

EVERY, HELD = 4, 10
METHODS = ["bytegrad:error_feedback=on", "low_precision_decentralized", "diloco:every=3"]


class Resumed(Case):
    def members(self, folder, begin_with=2, algorithm="all_reduce", **told):
        members = Members(folder, begin_with, algorithm, **told)
        self.addCleanup(members.kill)
        return members

    def folder_of(self, name):
        folder = self.folder / name
        folder.mkdir()
        return folder

    def undisturbed(self, algorithm, **told):
        members = self.members(self.folder_of("undisturbed"), algorithm=algorithm, **told)
        self.assertEqual([code for code, _ in members.end().values()], [0, 0])
        return self.weights(members)

    def weights(self, members):
        """By rank."""
        return [one["weights"] for one in sorted(members.left().values(), key=lambda one: one["rank"])]

    def ended_by(self, number, folder, algorithm="all_reduce", **told):
        """Two members end by that signal in step 10, once the checkpoint after step 8 is there."""
        members = self.members(folder, algorithm=algorithm, checkpoint_every=EVERY, border_every=1, holds_at=HELD, **told)
        deadline = time.monotonic() + PATIENCE
        while not (self.are_held(members) and len(self.parts(folder, 2 * EVERY)) == 4) and time.monotonic() < deadline:
            time.sleep(0.05)
        for one in members.all.values():
            one.signal(number)
        return {number: code for number, (code, _) in members.end().items()}

    def are_held(self, members):
        return all(any(line.startswith(f"step {HELD} ") for line in one.said) for one in members.all.values())

    def parts(self, folder, step):
        return sorted((folder / "meeting" / "checkpoints").glob(f"*-{step}/[0-9]*"))

    def resumed(self, folder, step, begin_with=2, algorithm="all_reduce", **told):
        """The members of the second start, which begins with that step."""
        members = self.members(folder, begin_with, algorithm, checkpoint_every=EVERY, **told)
        ends = members.end()
        self.assertEqual([code for code, _ in ends.values()], [0] * begin_with, ends)
        self.assertEqual({said.split(" as ")[0].splitlines()[-1] for _, said in ends.values()}, {f"step {step}"}, ends)
        return members

    def check(self, algorithm, number, code, step, **told):
        ended = self.ended_by(number, self.folder_of("ended"), algorithm, **told)
        self.assertEqual(ended, {0: code, 1: code})
        resumed = self.weights(self.resumed(self.folder / "ended", step, algorithm=algorithm, **told))
        for mine, wanted in zip(resumed, self.undisturbed(algorithm, **told)):
            self.assertTrue(mine.equal(wanted), f"{float((mine - wanted).abs().max())} apart")

    def test_asked_to_end(self):
        self.check(METHODS[0], signal.SIGTERM, 0, HELD + 1)

    def test_killed_in_bf16(self):
        """Of which members hold masters, whatever the method."""
        for algorithm in ("all_reduce", "local_sgd:every=3"):
            with self.subTest(algorithm), tempfile.TemporaryDirectory() as scratch:
                self.folder = pathlib.Path(scratch)
                self.check(algorithm, signal.SIGKILL, -signal.SIGKILL, 2 * EVERY, type="bfloat16")

    def test_a_spoiled_checkpoint_is_passed_over_and_others_may_come(self):
        self.ended_by(signal.SIGKILL, self.folder)
        part = self.parts(self.folder, 2 * EVERY)[0]
        part.write_bytes(part.read_bytes()[:-1] + b"?")
        members = self.resumed(self.folder, EVERY, begin_with=3)
        self.assertIn("is not what was written there; an older checkpoint is looked for", "".join("".join(one.said) for one in members.all.values()))
        first, *others = self.weights(members)
        self.assertTrue(len(others) == 2 and all(one.equal(first) for one in others))


for method in METHODS:
    name = "test_killed_" + "".join(one if one.isalnum() else "_" for one in method)
    setattr(Resumed, name, lambda self, method=method: self.check(method, signal.SIGKILL, -signal.SIGKILL, 2 * EVERY))


if __name__ == "__main__":
    unittest.main()
