"""Cases of with_trigram_job.py on either network: weights that are compared between the two, and what one of them refuses."""

import os
import unittest.mock

import torch

from job_case import BACKEND, JobCase, Net, loss_of, plain, seeded, wrapped

METHODS = {"all_reduce": {}, "all_reduce by halves": {"all_reduce": "rabenseifner", "lanes": 2}, "bytegrad:error_feedback=on": {}, "qsgd": {},
           "local_sgd:every=2": {}, "decentralized:topology=ring": {}, "low_precision_decentralized": {}, "power_sgd": {},
           "all_reduce by nodes": {"hierarchy": "leader", "backend": f"{BACKEND},ranks_per_node=2"},
           "all_reduce by nodes in chunks": {"hierarchy": "all_nics", "hierarchy_chunks": 2, "backend": f"{BACKEND},ranks_per_node=2"}}


class Bits(JobCase):
    def case_weights_are_kept(self):
        """By method, in a file of this backend and rank."""
        weights = {}
        for method, flags in METHODS.items():
            model = self.train(method.split(" ")[0], **flags)
            model.trigram.finish()
            weights[method] = [one.detach().clone() for one in model.parameters()], list(model.trigram.steps()["bytes_sent"])
        model = seeded(Net)
        wrapped(model, [], "one_bit_adam:warmup=2", learning_rate=0.01)
        for number in range(4):
            loss_of(model, self.rank, number).backward()
            model.trigram.step()
        model.trigram.finish()
        weights["one_bit_adam"] = list(model.parameters()), []
        torch.save(weights, f"{BACKEND.split(':')[0]}-{self.ranks}-{self.rank}.pt")

    def case_ranks_meet_as_they_were_started(self):
        if not BACKEND.startswith("torch"):
            raise unittest.SkipTest("of ranks that torch.distributed connects")

        def refused(text, **options):
            model = seeded(Net)
            self.raises(ValueError, text, lambda: wrapped(model, [plain(model)], **options))

        with unittest.mock.patch.dict(os.environ, WORLD_SIZE="9"):
            refused(f"9 processes (WORLD_SIZE), but torch.distributed connects {self.ranks}")
        refused("seed=0 on rank 0 but seed=1 on rank 1", seed=min(self.rank, 1))
