"""Samplers that balance costs: what they promise, and Bagua's own steps where it keeps the same promise (its classes,
run at 3e480d2). Ends with 77 without torch."""

import importlib.util
import random
import sys
import unittest

# Costs, ranks, seed's order of Bagua's steps, and what its ranks get. Its costs are as they were with its random numbers added.
BAGUA = [
    ([4, 7, 5, 3, 0, 6, 1, 8, 9, 2], [1, 3, 2, 4, 0], [[9, 5, 0, 7, 4], [3, 1, 2, 8, 6]]),
    ([7, 1, 6, 2, 8, 0, 5, 3, 4, 9], None, [[5, 1, 3, 7, 8, 6, 2, 0, 4, 9]]),
    ([836, 571, 491, 982, 353, 33, 960, 851, 648, 922, 71], [3, 0, 1, 2], [[6, 5, 2, 0], [3, 10, 1, 7], [5, 4, 8, 9]]),
    ([477 + 279, 689 + 244, 665 + 337, 24 + 350, 813 + 235, 935 + 3, 56 + 47, 235 + 287, 268 + 388, 306 + 425, 181 + 190], [3, 0, 1, 2],
     [[2, 6, 7, 0], [4, 10, 8, 1], [6, 3, 9, 5]]),
]
COSTS = [783, 90, 842, 989, 709, 882, 49, 294, 191, 340, 15, 907, 89, 357, 3, 481, 884, 883, 457, 892]


def up_to_1800(indices):
    """Batches whose costs are 1800 together at most."""
    batches, together = [], 1801
    for index in indices:
        together += COSTS[index]
        if together > 1800:
            batches.append([])
            together = COSTS[index]
        batches[-1].append(index)
    return batches


class Samplers(unittest.TestCase):
    def of_ranks(self, costs, ranks, epoch=0, **options):
        """What each rank gets."""
        samplers = [data.LoadBalancingDistributedSampler(costs, costs.__getitem__, ranks=ranks, rank=rank, **options) for rank in range(ranks)]
        for sampler in samplers:
            sampler.set_epoch(epoch)
        self.assertEqual({len(sampler) for sampler in samplers}, {len(list(samplers[0]))})
        return [list(sampler) for sampler in samplers]

    def test_steps_are_baguas_but_for_samples_that_come_twice(self):
        for costs, order, given in BAGUA:
            ours = load_balancing.steps_of_similar_cost(costs, len(given), drop_last=False)
            theirs = list(zip(*given))
            whole = len(costs) // len(given)
            for place, number in enumerate(order or range(len(theirs))):
                if number < whole:
                    self.assertEqual(sorted(ours[number]), sorted(theirs[place]), (costs, number))

    def test_costs_are_equal(self):
        draw = random.Random(5)
        for ranks in (1, 2, 3, 8):
            for count in (8, 17, 100):
                costs = draw.sample(range(1000), count)
                given = self.of_ranks(costs, ranks, drop_last=True)
                sums = [sum(costs[index] for index in indices) for indices in given]
                self.assertLessEqual(max(sums) - min(sums), max(costs) - min(costs))
                ordered = sorted(costs)
                for step in zip(*given):
                    places = [ordered.index(costs[index]) for index in step]
                    self.assertLess(max(places) - min(places), ranks)

        self.assertEqual({sum(indices) for indices in self.of_ranks(list(range(24)), 4)}, {sum(range(24)) // 4})

    def test_every_sample_comes_and_every_rank_has_as_many(self):
        for count in (1, 3, 8, 11):
            given = self.of_ranks(list(range(count)), 4, epoch=3, randomness=0.5)
            self.assertEqual({index for indices in given for index in indices}, set(range(count)))
            self.assertEqual({len(indices) for indices in given}, {-(-count // 4)})
        dropped = [index for indices in self.of_ranks(list(range(11)), 4, drop_last=True) for index in indices]
        self.assertEqual((len(dropped), len(set(dropped))), (8, 8))

    def test_epochs_differ_and_repeat(self):
        costs = list(range(40))
        first, second = (self.of_ranks(costs, 2, epoch=epoch) for epoch in (1, 2))
        self.assertNotEqual(first, second)
        self.assertEqual(first, self.of_ranks(costs, 2, epoch=1))
        self.assertNotEqual(first, self.of_ranks(costs, 2, epoch=1, seed=9))
        still = [self.of_ranks(costs, 2, epoch=epoch, shuffle=False) for epoch in (1, 2)]
        self.assertEqual(still[0], still[1])
        meetings = [{frozenset(step) for step in zip(*self.of_ranks(costs, 2, epoch=epoch, randomness=0.3))} for epoch in (1, 2)]
        self.assertNotEqual(meetings[0], meetings[1])

    def test_what_leaves_a_rank_without_samples_is_refused(self):
        for costs, options, text in (([], {}, "0 samples are too few for 4 ranks: some would get none; give more$"),
                                     ([1, 2], {"drop_last": True}, "2 samples are too few for 4 ranks.*, or drop_last=False"),
                                     ([1, 2], {"randomness": 2}, r"randomness=2 is not in \[0, 1\]")):
            with self.assertRaisesRegex(ValueError, text):
                self.of_ranks(costs, 4, **options)
        with self.assertRaisesRegex(ValueError, "rank 4 is none of 0 to 3"):
            data.LoadBalancingDistributedSampler([1] * 9, cost=float, ranks=4, rank=4)

    def test_ranks_have_as_many_batches(self):
        """Of what drop_last leaves, Bagua's ranks have 4 and 11 batches in its own test, and wait for each other for ever."""
        for drop_last, choose in ((False, max), (True, min)):
            samplers = [data.LoadBalancingDistributedSampler(COSTS, COSTS.__getitem__, ranks=3, rank=rank, shuffle=False) for rank in range(3)]
            made = [up_to_1800(list(sampler)) for sampler in samplers]
            self.assertEqual([len(one) for one in made], [3, 2, 3])
            for sampler, own in zip(samplers, made):
                batches = data.LoadBalancingDistributedBatchSampler(sampler, up_to_1800, drop_last=drop_last)
                self.assertEqual(list(batches), (own + own)[:choose(3, 2)])
                self.assertEqual(len(batches), choose(3, 2))
                loaded = [batch.tolist() for batch in torch.utils.data.DataLoader(COSTS, batch_sampler=batches)]
                self.assertEqual(loaded, [[COSTS[index] for index in batch] for batch in batches])
        sampler = data.LoadBalancingDistributedSampler(COSTS, COSTS.__getitem__, ranks=2, rank=0)
        with self.assertRaisesRegex(ValueError, r"batches\(\) makes no batch of the 10 samples of rank 0"):
            data.LoadBalancingDistributedBatchSampler(sampler, lambda indices: [])


if __name__ == "__main__":
    if not importlib.util.find_spec("torch"):
        sys.exit(77)
    import torch

    from trigram import data
    from trigram.data import load_balancing
    unittest.main()
