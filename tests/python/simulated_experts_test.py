"""Models whose ranks meet in the midst of forward and backward, on simulated ranks: the weights of a real job, the bytes and
times of closed forms, and what is refused. Ends with 77 without torch."""

import importlib.util
import pathlib
import subprocess
import sys
import unittest

import case

HERE = pathlib.Path(__file__).resolve().parent
LAUNCHER = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]


class Case(case.Case):
    def simulate(self, make=None, **options):
        given = {"ranks": 8, "steps": 2, "optimizer": task.optimizer, "clock": 0.001, "cluster": "two_by_four"} | options
        return trigram.simulate(make or task.make, given.pop("loss", task.loss), given.pop("data", task.data), **given)


class Real(Case):
    def test_weights_are_those_of_a_real_job(self):
        """Of the layers that all ranks have and of rank 0's experts, to the last bit, though others computed in between."""
        ended = subprocess.run([*LAUNCHER, "-n", str(task.RANKS), sys.executable, "-B", HERE / "simulated_experts.py", self.folder],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        of_parts, begun = torch.load(self.folder / "0.pt"), task_begun()
        for parts, real in of_parts.items():
            run = self.simulate(ranks=task.RANKS, steps=task.STEPS, bucket_size="128B", accumulate=parts)
            for name, one in run.model.state_dict().items():
                self.assertTrue(torch.equal(one, real[name]), (parts, name, one, real[name]))
            for name in ("before.weight", "experts.gate.weight", "experts.experts.0.0.weight"):
                self.assertFalse(torch.equal(real[name], begun[name]), name)
        self.assertFalse(torch.equal(of_parts[1]["before.weight"], of_parts[2]["before.weight"]))


def task_begun():
    """The weights that all begin with."""
    with trigram.comm.standing_in(lambda: trigram.simulated_comm.alike(0, task.RANKS)):
        return task.make().state_dict()


class Traffic(Case):
    """Of a step: four times all_to_all (to the experts and back, forward and backward), each of C d f32 from every rank for
    each of E experts, of which those on the rank itself travel nowhere; and 8 bytes of capacity in an all_reduce."""

    def alone(self, choices, factor):
        """A model that has nothing but experts."""
        def make():
            torch.manual_seed(3)
            layer = nn.MoE(task.WIDTH, lambda: torch.nn.Linear(task.WIDTH, task.WIDTH), experts=task.EXPERTS, communicator=trigram.comm.join(),
                           choices=choices, capacity_factor=factor, least_capacity=1)
            return layer
        return make

    def run_of(self, choices, factor, **options):
        return self.simulate(self.alone(choices, factor), loss=lambda model, x: model(x.requires_grad_()).output.pow(2).mean(),
                             **options)  # as behind a layer, to which a gradient goes back

    def test_bytes_are_those_of_the_closed_form(self):
        for choices, factor, slots, parts in ((1, 1.0, 2, 1), (2, 1.0, 4, 1), (2, 1.25, 5, 1), (1, 4.0, 8, 1), (2, 1.0, 4, 3)):
            with self.subTest(choices=choices, factor=factor, parts=parts):
                rows = self.run_of(choices, factor, accumulate=parts).steps
                sent = parts * 4 * slots * task.WIDTH * 4 * task.EXPERTS  # to all ranks, the own among them
                inside, between = sent * 3 // 8, sent * 4 // 8
                of_capacity = [parts * 8 * times for times in range(3)]  # a ring passes 8 bytes on, at most twice
                for row in rows.to_dict("records"):
                    self.assertIn(row["model_bytes"] - inside - between, of_capacity)
                    self.assertIn(row["model_bytes_between_nodes"] - between, of_capacity)
                    gate = row["bytes_sent"] - row["model_bytes"]  # which is averaged by a ring
                    self.assertEqual(gate, 2 * 7 * task.WIDTH * task.EXPERTS * 4 // 8)

    def test_time_is_that_of_the_slowest_link(self):
        """All four ranks of a node send through one NIC, what leaves the node at its bandwidth, one all_to_all after another."""
        slow = "two_by_four:nic_bandwidth=1Mbps,node_bandwidth=100GB/s,nic_latency=0s"
        seconds = {}
        for factor, slots in ((1.0, 4), (2.0, 8)):
            seconds[slots] = float(self.run_of(2, factor, cluster=slow).steps["model_s"].mean())
        between = 4 * 4 * task.WIDTH * 4 * task.EXPERTS * 4 / 8  # more bytes of a rank with four slots more
        self.assertAlmostEqual((seconds[8] - seconds[4]) / (4 * between * 8 / 1e6), 1, delta=0.02)

    def test_models_that_send_nothing_have_no_columns_of_it(self):
        def make():
            torch.manual_seed(3)
            return torch.nn.Linear(task.WIDTH, 2)
        run = self.simulate(make, loss=lambda model, x: model(x).mean())
        self.assertNotIn("model_bytes", run.steps.columns)


class Clock(Case):
    def compute(self, factor, ranks):
        run = self.simulate(lambda: task.make(factor=factor), clock="flops", ranks=ranks, steps=1, cluster="two_by_four:gpu_flops=1GFLOPS,kernel_launch=0s")
        return float((run.steps["compute_s"] - run.steps["model_s"])[0])

    def test_flops_are_those_of_all_slots_on_any_number_of_ranks(self):
        """Four slots more at each expert for each choice: two products in forward, twice that in backward; and what copies rows."""
        products = 2 * 4 * task.EXPERTS * 2 * 2 * 7 * task.WIDTH * 3 / 1e9
        more = self.compute(4.0, 1) - self.compute(2.0, 1)
        self.assertTrue(1 <= more / products < 1.5, more / products)
        self.assertAlmostEqual(self.compute(2.0, 8) / self.compute(2.0, 1), 1, delta=0.02)


class Refused(Case):
    def refused(self, kind, text, make=None, **options):
        with self.assertRaisesRegex(kind, text):
            self.simulate(make, **options)

    def test_what_cannot_be_simulated(self):
        self.refused(ValueError, "parameter 'experts.experts.0.0.weight' is on one rank only, and optimizers of Trigram", optimizer="sgd")
        self.refused(RuntimeError, "all_reduce was called outside of loss.model, batch.", score=lambda model: task.loss(model, task.data(0, 0)))
        self.refused(ValueError, "3 experts cannot lie evenly on 8 ranks", lambda: nn.MoE(4, lambda: torch.nn.Linear(4, 4), experts=3,
                                                                                         communicator=trigram.comm.join()))
        self.refused(ValueError, "simulated ranks have one communicator", lambda: trigram.comm.join().split(0))

        def beside(model, x):
            trigram_comm = model.normed.communicator
            return trigram_comm.begin_all_reduce(x)
        self.refused(ValueError, "begin_all_reduce runs beside the model", loss=beside, clock=0.001)

    def test_an_error_in_the_midst_of_a_step(self):
        def data(rank, step):
            return task.data(rank, step) if (rank, step) != (3, 1) else 1 / 0

        with self.assertRaises(ZeroDivisionError) as caught:
            self.simulate(data=data)
        self.assertLessEqual(len(caught.exception.run.steps), 1)
        self.assertEqual([one.name for one in threading.enumerate() if one is not threading.main_thread()], [])


if __name__ == "__main__":
    if not all(importlib.util.find_spec(name) for name in ("pandas", "torch")):
        sys.exit(77)
    import threading

    import torch

    import simulated_experts as task
    import trigram
    import trigram.comm
    import trigram.simulated_comm
    from trigram import nn
    torch.set_num_threads(1)
    unittest.main()
