"""The cluster that several calibrations of an emulated one amount to."""

import unittest

from validation.clusters import median_cluster


class MedianCluster(unittest.TestCase):
    def keys(self, *values):
        text = median_cluster([{"key": value} for value in values], "three")
        return text.splitlines()[1].removeprefix("key = ")

    def test_has_the_middle_of_quantities_whatever_their_units(self):
        self.assertEqual(self.keys("900us", "1.2ms", "1ms"), "1ms")
        self.assertEqual(self.keys("9.3e1Mbps", "1Gbps", "75Mbps"), "9.3e1Mbps")
        self.assertEqual(self.keys("4", "3", "5"), "4")

    def test_has_the_word_of_most(self):
        self.assertEqual(self.keys("node", "gpu", "node"), "node")

    def test_takes_rates_of_codecs_field_by_field_with_their_sizes(self):
        rates = [f"qsgd/encode/{call}ns/{element}ns/1..4194304 qsgd/decode/5ns/0.1ns/1..4194304"
                 for call, element in ((230, 1.3), (210, 1.1), (220, 1.5))]
        self.assertEqual(self.keys(*rates), "qsgd/encode/220ns/1.3ns/1..4194304 qsgd/decode/5ns/0.1ns/1..4194304")

    def test_takes_lists_field_by_field(self):
        self.assertEqual(self.keys("93Mbps 23Mbps", "95Mbps 25Mbps", "94Mbps 21Mbps"), "94Mbps 23Mbps")

    def test_leaves_out_what_few_calibrations_found(self):
        text = median_cluster([{"nic_window": "64KiB"}, {}, {}], "three")
        self.assertNotIn("nic_window", text)


if __name__ == "__main__":
    unittest.main()
