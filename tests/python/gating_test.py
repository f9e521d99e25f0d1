"""The gates of a mixture of experts, beside what Bagua's own give for the same logits and random numbers
(bagua/moe_gating.json). Ends with 77 without torch."""

import importlib.util
import json
import pathlib
import sys
import unittest

BAGUA = json.loads((pathlib.Path(__file__).parent / "bagua" / "moe_gating.json").read_text("utf-8"))


class Gating(unittest.TestCase):
    def choices(self, given):
        """[(token, expert, slot, weight)] of those that were kept."""
        rows = zip(*(one.flatten().tolist() for one in (given.experts, given.slots, given.weights, given.kept)))
        tokens = given.experts.shape[1]
        return sorted((place % tokens, expert, slot, weight) for place, (expert, slot, weight, kept) in enumerate(rows) if kept)

    def same(self, case, given, choices):
        tokens, experts = len(case["logits"]), len(case["logits"][0])
        self.assertEqual(nn.capacity_of(tokens, experts, choices, case["capacity_factor"], case["least"]), case["capacity"])
        self.assertAlmostEqual(float(given.balance_loss), case["balance_loss"], delta=1e-5)
        self.assertEqual(int(given.counts.sum()), choices * tokens)
        ours, theirs = self.choices(given), sorted(map(tuple, case["choices"]))
        self.assertEqual([one[:3] for one in ours], [one[:3] for one in theirs])
        for mine, other in zip(ours, theirs):
            self.assertAlmostEqual(mine[3], other[3], delta=1e-5 * other[3] + 1e-7)

    def test_top_1(self):
        for case in BAGUA["top1"]:
            self.same(case, nn.top1(torch.tensor(case["logits"]), case["capacity"], torch.tensor(case["priority"])), 1)

    def test_top_2(self):
        for case in BAGUA["top2"]:
            given = nn.top2(torch.tensor(case["logits"]), case["capacity"], torch.tensor(case["noise"]))
            self.same(case, given, 2)

    def test_more_slots_than_tokens(self):
        """Where Bagua fails: selected index k out of range."""
        given = nn.top1(torch.eye(3), 8, torch.rand(3, 3))
        self.assertEqual([choice[:3] for choice in self.choices(given)], [(0, 0, 0), (1, 1, 0), (2, 2, 0)])
        self.assertAlmostEqual(float(given.balance_loss), 1, delta=1e-6)

    def test_without_random_numbers_the_first_are_kept(self):
        given = nn.top1(torch.tensor([[2.0, 0.0]] * 5), 3)
        self.assertEqual(given.kept.tolist(), [[True, True, True, False, False]])
        self.assertEqual(given.counts.tolist(), [5, 0])


if __name__ == "__main__":
    if not importlib.util.find_spec("torch"):
        sys.exit(77)
    import torch

    from trigram import nn
    unittest.main()
