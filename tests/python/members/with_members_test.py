"""Members of a real job that are lost, leave and join: what they have trained is what the simulator makes of the same schedule, to the bit."""

import pathlib
import signal
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    sys.exit(77)

import trigram

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from case import Case  # noqa: E402
from member_script import BATCH, SAMPLES, data, loss, make  # noqa: E402
from members_case import Members  # noqa: E402

STEPS = 12
SCHEDULE = "at 4 lose 1\nat 6 join 1\nat 9 leave 0\n"
METHODS = ["all_reduce", "bytegrad:error_feedback=on", "local_sgd:every=2", "diloco:every=3", "decentralized", "qsgd"]


def simulated(algorithm, schedule, folder, ranks):
    """The weights of the mean model."""
    path = pathlib.Path(folder) / "members.txt"
    path.write_text(schedule)
    return trigram.simulate(make, loss, data, algorithm=algorithm, ranks=ranks, steps=STEPS, optimizer="momentum:momentum=0.9", lr=0.1,
                            membership=path, bucket_size="128B", progress=False)


class OneSchedule(Case):
    """For the simulator and for processes."""

    def trained(self, algorithm, schedule, begin_with=3, joining=1):
        path = self.folder / "members.txt"
        path.write_text(schedule)
        members = Members(self.folder, begin_with, algorithm, membership=path, steps=STEPS)
        self.addCleanup(members.kill)
        for _ in range(joining):
            members.start()
        ends = members.end()
        return ends, members.left()

    def check(self, algorithm):
        ends, left = self.trained(algorithm, SCHEDULE)
        self.assertEqual([ends[number][0] for number in range(4)], [0, -signal.SIGKILL, 0, 0], ends)
        self.assertEqual(sorted(left), [2, 3])
        run = simulated(algorithm, SCHEDULE, self.folder, 3)
        whole = torch.cat([one.detach().reshape(-1) for one in run.model.parameters()])
        mean = (sum(one["weights"].double() for one in left.values()) / len(left)).float()
        self.assertTrue(torch.equal(whole, mean), f"{algorithm}: {float((whole - mean).abs().max())} apart")
        self.assertEqual(left[3]["taken"].keys(), set(range(6, STEPS)))


for method in METHODS:
    name = "test_" + "".join(one if one.isalnum() else "_" for one in method)
    setattr(OneSchedule, name, lambda self, method=method: self.check(method))


if __name__ == "__main__":
    unittest.main()
