"""Cells in groups: what comes first, how many lie together, and what is left to do, against closed forms."""

import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, os.fspath(ROOT / "experiments" / "executors"))

import study_groups
from study_cells import Cell


def cell(name, row="a", like=None, seconds=None):
    return Cell(name, row, like or row, seconds, False, "")


def cost(row, like, seconds):
    return f'{{"cell":"x","row":"{row}","like":"{like}","seconds":{seconds},"memory":1}}\n'


def all_groups(groups):
    found = []
    while group := groups.next():
        found.append([one.name for one in group])
    return found


class Groups(unittest.TestCase):
    def test_a_group_lasts_as_long_as_a_task_should(self):
        for seconds, task, expected in ((0.02, 1, 50), (0.25, 1, 4), (0.3, 1, 4), (1, 1, 1), (300, 1, 1), (0.02, 0, 1)):
            groups = study_groups.Groups([cell(f"a{i}", seconds=seconds) for i in range(100)], task)
            sizes = [len(group) for group in all_groups(groups)]
            self.assertEqual(sum(sizes), 100)
            self.assertEqual(set(sizes[:-1]), {expected} if len(sizes) > 1 else set(), (seconds, task))

    def test_while_nobody_knows_a_cell_goes_alone_and_one_of_each_row_first(self):
        cells = [cell(f"{row}{i}", row) for row in "abc" for i in range(3)]
        self.assertEqual(all_groups(study_groups.Groups(cells, 1)),
                         [["a0"], ["b0"], ["c0"], ["a1"], ["a2"], ["b1"], ["b2"], ["c1"], ["c2"]])

    def test_what_was_made_says_what_comes_first_and_how_many_lie_together(self):
        cells = [cell(f"a{i}", "a") for i in range(5)] + [cell(f"b{i}", "b", like) for i, like in enumerate(["b, n = 1", "b, n = 2", "b, n = 2"])]
        groups = study_groups.Groups(cells, 1)
        self.assertEqual([groups.next()[0].name, groups.next()[0].name], ["a0", "b0"])
        groups.add_costs(cost("a", "a", 0.5) + cost("b", "b, n = 1", 4))
        self.assertEqual(all_groups(groups), [["b1"], ["b2"], ["a1", "a2"], ["a3", "a4"]])

    def test_groups_are_longer_while_there_is_much_to_do(self):
        groups = study_groups.Groups([cell(f"a{i}") for i in range(1001)], 1, lambda: 2)
        groups.next()
        groups.add_costs(cost("a", "a", 0.125))
        sizes = [len(group) for group in all_groups(groups)]
        self.assertEqual(sum(sizes), 1000)
        self.assertEqual(sizes[:3], [80, 80, 80], "ten seconds, while an eighth of what is left is more")
        self.assertEqual(sizes[5], -(-600 // 8), "then an eighth of it, since two tasks at a time are to have four each")
        self.assertEqual(sizes[-2], 8, "and a second in the end")
        self.assertEqual(sizes, sorted(sizes, reverse=True))

    def test_runs_like_it_tell_more_than_its_row_and_its_plan(self):
        expected = study_groups.Expectations()
        self.assertIsNone(expected.of(cell("x")))
        self.assertEqual(expected.of(cell("x", seconds=9)), 9)
        expected.add("a", "a, n = 1", 1)
        expected.add("a", "a, n = 1", 3)
        expected.add("a", "a, n = 2", 10)
        self.assertEqual(expected.of(cell("x", "a", "a, n = 1", seconds=9)), 2)
        self.assertEqual(expected.of(cell("x", "a", "a, n = 3", seconds=9)), 14 / 3)
        self.assertEqual(expected.of(cell("x", "b", "b", seconds=9)), 9)
        self.assertEqual(expected.of(cell("x", "b", "b")), 14 / 3)

    def test_what_is_left_is_the_sum_of_what_waits_and_what_runs(self):
        groups = study_groups.Groups([cell(f"a{i}") for i in range(10)], 1)
        first = groups.next()
        self.assertIsNone(groups.seconds_left([first]))
        groups.add_costs(cost("a", "a", 0.5))
        running = groups.next()
        self.assertEqual(len(running), 2)
        self.assertAlmostEqual(groups.seconds_left([running]), 9 * 0.5)


if __name__ == "__main__":
    unittest.main()
