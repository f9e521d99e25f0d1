"""Algorithms in Python: bits and bytes of their twins in C++, on real and on simulated ranks, and how they fail. Ends with 77
without torch."""

import collections
import importlib.util
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock

from failing_job import within_exchange
from simulate_test import HERE, LAUNCHER, Case

RESUMES = """
import torch, trigram
from trigram.algorithm import Algorithm
torch.set_num_threads(1)

class Slow(Algorithm):
    def setup(self, worker, buckets):
        self.sums = [torch.zeros_like(bucket.gradients) for bucket in buckets]

    def gradients_ready(self, worker, bucket):
        worker.comm.all_reduce(bucket.gradients, op="mean")
        bucket.gradients.copy_(self.sums[bucket.index].mul_(0.5).add_(bucket.gradients))

    def state_dict(self):
        return {"sums": self.sums}

    def load_state_dict(self, state):
        self.sums = [one.clone() for one in state["sums"]]

def train(model, optimizer, job, steps):
    for step in steps:
        optimizer.zero_grad()
        model(torch.full((1, 2), 1.0 + step + job.rank)).square().sum().backward()
        optimizer.step()

def begun():
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    return model, optimizer, trigram.with_trigram(model, [optimizer], Slow, backend="mpi:timeout=15s").trigram

model, optimizer, job = begun()
train(model, optimizer, job, range(3))
kept = {key: one.clone() for key, one in model.state_dict().items()}, torch.save(job.state_dict(), f"{job.rank}.pt")
train(model, optimizer, job, range(3, 6))
job.finish()
again, optimizer, job = begun()
again.load_state_dict(kept[0])
job.load_state_dict(torch.load(f"{job.rank}.pt"))
train(again, optimizer, job, range(3, 6))
job.finish()
assert all(map(torch.equal, model.parameters(), again.parameters()))
print("went on")
"""


def job_of(ranks, *words, folder):
    launcher = [*LAUNCHER, "-n", str(ranks)] if ranks > 1 else []
    return subprocess.run([*launcher, sys.executable, "-B", *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=240)


class Twins(Case):
    def real(self, ranks):
        ended = job_of(ranks, HERE / "real_and_simulated.py", self.folder, "twins", folder=self.folder)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        return [torch.load(self.folder / f"{rank}.pt") for rank in range(ranks)]

    def simulated(self, algorithm, ranks, options):
        seen = []

        def score(model):
            seen.append(torch.cat([one.detach().reshape(-1).clone() for one in model.parameters()]))
            return 0.5, 0.5

        run = self.simulate(algorithm=algorithm, score=score, ranks=ranks, optimizer=task.optimizer,
                            **{"steps": task.STEPS, "bucket_size": task.BUCKET} | options)
        return run, seen

    def test_have_the_same_bits_bytes_and_seconds_in_a_simulation(self):
        vgg = {"clock": "vgg16", "bucket_size": "10MiB", "steps": 4}
        for ranks, options in ((1, {}), (2, {"fidelity": "fluid"}), (4, {"gradients": "bf16"}), (8, {"hierarchy": "leader", "gradients": "fp16"}),
                               (1, vgg), (2, vgg), (4, vgg | {"gradients": "fp16"}), (8, vgg | {"hierarchy": "leader", "hierarchy_chunks": 3}),
                               (8, vgg | {"hierarchy": "all_nics", "fidelity": "fluid", "lanes": 2})):
            for name, algorithm in task.TWINS.items():
                with self.subTest(name, ranks=ranks, **options):
                    (theirs, expected), (ours, seen) = (self.simulated(one, ranks, options) for one in (name, algorithm))
                    self.assertEqual(len(seen), len(expected))
                    for a, b in zip(seen, expected):
                        self.assertTrue(torch.equal(a, b), float((a - b).abs().max()))
                    for column in ("bytes_sent", "bytes_between_nodes", "loss", "time_s", "wire_s"):
                        self.assertEqual(list(ours.steps[column]), list(theirs.steps[column]), column)
                    self.assertEqual(ours.steps["wire_s"].sum() > 0, ranks > 1)

    def test_have_the_same_bits_and_bytes_in_a_job(self):
        for ranks in (1, 2):  # four: simulate_test.py
            real = self.real(ranks)
            for name, variant in itertools.product(task.TWINS, ("", " of nodes")):
                with self.subTest(name + variant, ranks=ranks):
                    for one in real:
                        (theirs, _, expected), (ours, _, sent) = one[name + variant], one[f"{name} in Python{variant}"]
                        self.assertTrue(all(map(torch.equal, ours, theirs)))
                        self.assertEqual(sent, expected)
                        self.assertEqual(sum(sent) > 0, ranks > 1)


class Turns(Case):
    """On the clock of a model of many buckets, of which all but one have no elements."""

    def turns(self, algorithm, **options):
        """Changes of threads, and what came of it."""
        counted = []

        def give_turn(lane, what, original=simulated_lane.LaneThread.give_turn):
            counted.append(lane)
            return original(lane, what)

        with unittest.mock.patch.object(simulated_lane.LaneThread, "give_turn", give_turn):
            run = self.simulate(algorithm=algorithm, ranks=4, clock="vgg16", bucket_size=0, **options)
        return len(counted), run

    def test_change_in_a_later_step_where_there_are_elements_alone(self):
        turns = [self.turns(python_algorithms.AllReduce, steps=steps)[0] for steps in (2, 3, 4)]
        self.assertEqual(turns[1] - turns[0], turns[2] - turns[1])
        parameters = len(list(task.make().parameters()))
        self.assertLessEqual(turns[2] - turns[1], 4 * 2 * parameters)

    def test_change_where_a_silent_hook_asks_after_all(self):
        """In the midst of another rank's, with a thread's state of torch that is nobody else's, and random numbers of the rank's own."""
        class Asks(python_algorithms.AllReduce):
            fails = False

            def exchange(self, worker, bucket):
                super().exchange(worker, bucket)
                if worker.step == 2 and bucket.index % 3 == 0:
                    with torch.inference_mode():
                        if self.fails and worker.rank == 1:
                            raise OverflowError("the flux is 7")
                        sums = torch.full((3,), float(worker.rank))
                        worker.comm.all_reduce(sums)
                        assert sums.tolist() == [6, 6, 6]

        class Fails(Asks):
            fails = True

        _, plain = self.turns(python_algorithms.AllReduce, steps=4)
        _, asking = self.turns(Asks, steps=4)
        self.assertEqual(list(asking.steps["loss"]), list(plain.steps["loss"]))
        self.assertTrue(all(map(torch.equal, asking.model.parameters(), plain.model.parameters())))
        self.assertGreater(asking.steps["bytes_sent"][2], plain.steps["bytes_sent"][2])
        self.assertEqual(asking.steps["bytes_sent"][3], plain.steps["bytes_sent"][3])
        with self.assertRaisesRegex(OverflowError, "the flux is 7"):
            self.turns(Fails, steps=4)


class Page(Case):
    def test_has_the_two_side_by_side(self):
        page = (HERE.parents[1] / "docs" / "tutorials" / "algorithm_in_python.md").read_text("utf-8")
        in_python, in_cpp = (re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL)[1] for kind in ("python", "cpp"))
        self.assertIn(in_cpp, (HERE.parents[1] / "algorithms" / "local_sgd.cpp").read_text("utf-8"))
        found = {}
        exec(in_python, found)
        ours, theirs = (self.simulate(algorithm=one, steps=6) for one in (lambda: found["LocalSgd"](every=3, warmup=2), "local_sgd:every=3,warmup=2"))
        self.assertTrue(all(map(torch.equal, ours.model.parameters(), theirs.model.parameters())))
        self.assertEqual(list(ours.steps["bytes_sent"]), list(theirs.steps["bytes_sent"]))
        names = re.findall(r"^\| `(\w+)\(worker", page, re.MULTILINE)
        moments = [name for name, one in vars(algorithm.Algorithm).items() if callable(one) and "worker" in one.__code__.co_varnames]
        self.assertEqual(names, [name for name in moments if name != "quiesce"])


class Hooks(Case):
    def told(self, make):
        """How often what was told two ranks in three steps, and the number of buckets."""
        heard, buckets, begin = collections.Counter(), 0, SimulatedHooks.begin

        def hear(own, rank, words, serve):
            nonlocal buckets
            heard[words.get("hook") or ("task" if "task" in words else "exchange")] += 1
            buckets = len(words.get("counts", ())) or buckets
            return begin(own, rank, words, serve)

        with unittest.mock.patch.object(SimulatedHooks, "begin", hear):
            self.simulate(algorithm=make, ranks=2, steps=3, clock="vgg16", bucket_size="10MiB")
        self.assertGreater(buckets, 3)
        return dict(heard), buckets

    def test_of_an_ordinary_shape_only_exchanges_are_told(self):
        told, buckets = self.told(python_algorithms.AllReduce)
        self.assertEqual(told, {"setup": 2, "exchange": 2 * 3 * buckets})
        told, buckets = self.told(lambda: python_algorithms.LocalSgd(every=2))
        self.assertEqual(told, {"setup": 2, "communicates": 2 * 3, "exchange": 2 * buckets})

    def test_that_a_class_has_are_told(self):
        class Own(python_algorithms.AllReduce):
            def gradients_ready(self, worker, bucket):
                super().gradients_ready(worker, bucket)

            def finish(self, worker):
                self.ended = True

        told, buckets = self.told(Own)
        self.assertEqual(told, {"setup": 2, "gradients_ready": 6 * buckets, "task": 6 * buckets, "before_update": 6, "finish": 2})


class Clock(Case):
    def test_a_transfer_takes_its_time(self):
        """16 MiB between two nodes at 1 Gbps, in chunks of a half each way and twice: 134 ms."""
        count = 4 << 20

        class Sends(algorithm.Algorithm):
            def after_step(self, worker):
                begin = worker.now()
                worker.comm.all_reduce(torch.zeros(count))
                worker.record("seconds", worker.now() - begin)

        run = self.simulate(algorithm=Sends, ranks=2, steps=1, cluster="two_by_four:gpus_per_node=1,nic_bandwidth=1Gbps")
        self.assertAlmostEqual(float(run.steps["seconds"][0]), 4 * count / 125e6, delta=0.002)
        self.assertEqual(int(run.steps["bytes_sent"][0]), 4 * count)

    def test_arithmetic_takes_what_is_charged(self):
        class Computes(algorithm.Algorithm):
            def before_update(self, worker):
                worker.charge(flops=1.4e10)

        fast, slow = (self.simulate(algorithm=one, ranks=2, cluster="two_by_four:gpu_flops=14TFLOPS").summary["iteration_s"]
                      for one in (algorithm.Algorithm, Computes))
        self.assertAlmostEqual(slow - fast, 0.001, delta=2e-5)


class Modelled(unittest.TestCase):
    """A bucket of 12 elements that stands for one of 5000."""

    def setUp(self):
        borrowed = modelled.another_clock()
        borrowed.__enter__()
        self.addCleanup(borrowed.__exit__, None, None, None)
        self.x = algorithm.costing(torch.arange(12.0), 5000)

    def test_what_is_computed_of_it_costs_as_much(self):
        other = torch.ones(12)
        for one in (self.x.clone(), self.x + other, other - self.x, self.x.half(), torch.empty_like(self.x), self.x.view(3, 4).t(),
                    torch.where(self.x > 3, self.x, other), self.x.mul_(2)):
            self.assertEqual(algorithm.modelled_count(one), 5000)
        self.assertEqual(algorithm.modelled_count(other), 12)
        self.assertEqual(algorithm.modelled_count(algorithm.costing(torch.zeros(0), 7).clone()), 7)
        self.assertEqual(float(self.x.sum()), 2 * 66)

    def test_what_has_another_size_is_to_be_said(self):
        for one in (self.x[:4], self.x.norm(), self.x.topk(3).values, torch.cat([self.x, self.x]), self.x + algorithm.costing(torch.ones(12), 9)):
            with self.assertRaisesRegex(ValueError, "nobody knows; say it by trigram.algorithm.costing"):
                algorithm.modelled_count(one)
        part = algorithm.costing(self.x[:4], 1666)
        part.fill_(-1)
        self.assertEqual((algorithm.modelled_count(part), float(self.x[3])), (1666, -1))

    def test_what_costs_its_own_elements_takes_none_of_it(self):
        for write in (lambda one: one.copy_(self.x), lambda one: one.__setitem__(slice(0, 12), self.x), lambda one: torch.add(self.x, 1, out=one)):
            with self.assertRaisesRegex(ValueError, "a tensor of 12 elements, which costs as many, is written with 12 that cost as 5000"):
                write(torch.zeros(12))


class Costing(Case):
    """Of a method that sends a quarter of each bucket's elements, and says what they cost."""

    def test_is_the_identity_where_no_clock_is_borrowed(self):
        class Quarters(algorithm.GradientMethod):
            def exchange(self, worker, bucket):
                quarter = algorithm.costing(bucket.gradients[:max(1, len(bucket.gradients) // 4)], max(1, bucket.modelled_count // 4))
                if bucket.modelled_count == len(bucket.gradients):
                    torch.zeros(len(quarter)).copy_(quarter)  # which costs as many by itself
                worker.comm.all_reduce(quarter)

        x = torch.ones(4)
        self.assertIs(algorithm.costing(x, 7), x)
        with self.assertRaisesRegex(ValueError, "-1 elements cannot be sent"):
            algorithm.costing(x, -1)
        own = self.simulate(algorithm=Quarters, ranks=2, steps=2)
        other = self.simulate(algorithm=Quarters, ranks=2, steps=2, clock="vgg16")
        self.assertGreater(int(other.steps["bytes_sent"].iloc[-1]), 1000 * int(own.steps["bytes_sent"].iloc[-1]))
        self.assertIs(algorithm.costing(x, 7), x)


class Failures(Case):
    def fails(self, kind, text, moment):
        class Fails(algorithm.WeightMethod):
            exchange = moment

        before = threading.active_count()
        with self.assertRaisesRegex(kind, text) as caught:
            self.simulate(algorithm=Fails, ranks=4)
        self.assertLessEqual(threading.active_count(), before)
        return caught.exception

    def test_an_error_of_the_users(self):
        def divide(_, worker, bucket):
            worker.comm.all_reduce(bucket.weights)
            return 1 / (worker.step - 1)

        error = self.fails(ZeroDivisionError, "float division|division by zero", divide)
        self.assertTrue(any("in step 1" in note for note in getattr(error, "__notes__", [])), getattr(error, "__notes__", None))
        self.assertEqual(len(error.run.steps), 1)

    def test_an_interrupt(self):
        """Of a moment that never ends."""
        def never(_, worker, bucket):
            if worker.step == 2:
                threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            while worker.step == 2:
                pass

        begin = time.monotonic()
        error = self.fails(KeyboardInterrupt, "", never)
        self.assertLess(time.monotonic() - begin, 120)
        self.assertEqual(len(error.run.steps), 2)

    def test_what_state_dict_gives_comes_back(self):
        ended = job_of(2, "-c", RESUMES, folder=self.folder)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertEqual(ended.stdout.count("went on"), 2, ended.stdout)

    def test_calls_that_cannot_be(self):
        self.fails(ValueError, "broadcast: there is no rank 7 among 4", lambda _, worker, bucket: worker.comm.broadcast(bucket.weights, 7))
        self.fails(ValueError, "has gaps between its elements", lambda _, worker, bucket: worker.comm.all_reduce(torch.zeros(4, 4).t()))
        self.fails(ValueError, "no group is called 'all2'; there are all, node and leaders", self.in_no_group)

    def test_a_worker_of_another_lane(self):
        class Kept(algorithm.Algorithm):
            def after_step(self, worker):
                worker.start(None, lambda lane: worker.comm.barrier()).wait()

        with self.assertRaisesRegex(RuntimeError, "a Worker of lane 0 was used outside"):
            self.simulate(algorithm=Kept)

    @staticmethod
    def in_no_group(_, worker, bucket):
        worker.comm._name = "all2"
        worker.comm.barrier()

    def test_what_is_no_algorithm(self):
        for given, text in ((algorithm.Algorithm(), "each rank needs its own"), (dict, "made a dict; give a class"),
                            ("python_algorithm", "call trigram.simulate there, with its class")):
            with self.assertRaisesRegex(ValueError, text):
                self.simulate(algorithm=given)
        with self.assertRaisesRegex(ValueError, "refuses leader: its code has not said .* say hierarchical = True in the class"):
            self.simulate(algorithm=algorithm.Algorithm, ranks=8, hierarchy="leader")

    def test_an_error_ends_a_job(self):
        """Long before the others have waited in vain."""
        ended = job_of(2, "-c", within_exchange("mpi:timeout=300s", "raise KeyError('lost')"), folder=self.folder)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("KeyError: 'lost'", ended.stdout)
        self.assertNotIn("finished", ended.stdout)


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None:
        print("torch is missing")
        sys.exit(77)
    import torch

    import python_algorithms
    import real_and_simulated as task
    import simulate_test
    from trigram import algorithm, modelled, simulated_lane
    from trigram.simulated_hooks import SimulatedHooks

    simulate_test.task = task
    simulate_test.trigram = importlib.import_module("trigram")
    torch.set_num_threads(1)
    unittest.main()
