"""Tables of PyTorch models, against closed forms, and read by the program. Ends with 77 without torch."""

import csv
import importlib.util
import pathlib
import sys
import tempfile
import unittest
import warnings


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = pathlib.Path(scratch.name) / "model.csv"
        warnings.simplefilter("ignore")

    def rows(self, model, batch, **options):
        table = trigram.profile_of(model, batch, self.path, **options)
        self.lines = table.read_text().splitlines()
        return list(csv.DictReader(line for line in self.lines if not line.startswith("#")))

    def flops(self, model, batch, **options):
        return {row["layer"]: float(row["forward_flops"]) for row in self.rows(model, batch, **options) if row["forward_flops"]}

    def tensors(self, rows):
        return [(f"{row['layer']}.{row['tensor']}", tuple(map(int, row["dimensions"].split("x"))), row["decays"]) for row in rows]


class Counted(Case):
    def test_products_and_convolutions(self):
        """Two a multiply-add of a sample, and one for each element of a bias's or an activation's kernel of its own."""
        model = nn.Sequential(nn.Conv2d(3, 8, 5, stride=2, groups=1), nn.Flatten(), nn.Linear(8 * 14 * 14, 10))
        counted = self.flops(model, torch.zeros(4, 3, 32, 32))
        self.assertEqual(counted, {"0": 2 * 8 * 14 * 14 * 3 * 25, "2": 2 * 10 * 8 * 14 * 14})
        self.assertIn("# batch: 4", self.lines)
        grouped = nn.Conv2d(8, 8, 3, groups=4, bias=False)
        self.assertEqual(self.flops(grouped, torch.zeros(2, 8, 6, 6)), {"Conv2d": 2 * 8 * 16 * 2 * 9})
        upwards = nn.ConvTranspose2d(4, 6, 2, stride=2, bias=False)
        self.assertEqual(self.flops(upwards, torch.zeros(2, 4, 5, 5)), {"ConvTranspose2d": 2 * 25 * 4 * 6 * 4})

    def test_a_table_that_comes_with_trigram(self):
        """VGG16 as torchvision has it, against the program's own table of shapes."""
        sizes, modules, channels = [64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0], [], 3
        for size in sizes:
            modules += [nn.Conv2d(channels, size, 3, padding=1, device="meta"), nn.ReLU()] if size else [nn.MaxPool2d(2)]
            channels = size or channels
        model = nn.Sequential(*modules, nn.Flatten(), nn.Linear(25088, 4096, device="meta"), nn.Linear(4096, 4096, device="meta"),
                              nn.Linear(4096, 1000, device="meta"))
        ours = self.rows(model, torch.zeros(2, 3, 224, 224, device="meta"))
        shipped = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "workloads" / "profiles" / "vgg16.csv"
        theirs = list(csv.DictReader(line for line in shipped.read_text().splitlines() if not line.startswith("#")))
        self.assertEqual([row["parameters"] for row in ours], [row["parameters"] for row in theirs])
        for one, other in zip(ours, theirs):
            if other["forward_flops"] and float(other["forward_flops"]) > 1e7:
                self.assertAlmostEqual(float(one["forward_flops"]) / float(other["forward_flops"]), 1, delta=0.02)

    def test_attention_whose_projection_is_never_called(self):
        """Its weight is there, and its work is that of the module which has the rest."""
        model = nn.MultiheadAttention(32, 4, batch_first=True)
        x = torch.zeros(2, 7, 32)
        rows = self.rows(model, x, loss=lambda model, x: model(x, x, x, need_weights=False)[0].sum())
        self.assertEqual([name for name, _, _ in self.tensors(rows)], ["MultiheadAttention.in_proj_weight", "MultiheadAttention.in_proj_bias",
                                                                       "out_proj.weight", "out_proj.bias"])
        products = 2 * 7 * 32 * 32 * 4 + 2 * 2 * 7 * 7 * 32
        self.assertTrue(products <= float(rows[0]["forward_flops"]) < 1.2 * products, rows[0])
        self.assertEqual(rows[2]["forward_flops"], "0")

    def test_each_trained_parameter_once_in_order(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.own = nn.Parameter(torch.zeros(3))
                self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
                self.frozen, self.unused = nn.Linear(4, 4).requires_grad_(False), nn.Linear(2, 2, bias=False)
                self.second.weight = self.first.weight

            def forward(self, *, x):
                return self.frozen(self.second(self.first(x)))

        model = Net().eval()
        rows = self.rows(model, {"x": torch.zeros(2, 4)})
        self.assertEqual(self.tensors(rows), [("Net.own", (3,), "0"), ("first.weight", (4, 4), "1"), ("first.bias", (4,), "0"),
                                              ("second.bias", (4,), "0"), ("unused.weight", (2, 2), "1")])
        # What is frozen runs within Net, which has a parameter of its own.
        self.assertEqual(self.flops(model, {"x": torch.zeros(2, 4)}), {"Net": 32, "first": 32, "second": 32, "unused": 0})
        self.assertFalse(model.training or any(module._forward_hooks for module in model.modules()))

    def test_what_cannot_be_counted(self):
        for text, model, batch in (("nothing to train", nn.ReLU(), torch.zeros(1)), ("no tensor of the batch", nn.Linear(1, 1), [])):
            with self.assertRaisesRegex(ValueError, text):
                self.rows(model, batch)
        model = nn.Linear(3, 3)
        with self.assertRaises(RuntimeError):
            self.rows(model, torch.zeros(2, 4))
        self.assertFalse(model._forward_hooks)


class Read(Case):
    def test_a_billion_parameters_that_nobody_allocates(self):
        layers = [nn.TransformerEncoderLayer(2048, 32, 8192, batch_first=True, device="meta") for _ in range(24)]
        model = nn.Sequential(*layers)
        self.rows(model, torch.zeros(4, 512, 2048, device="meta"))
        run = trigram.run(workload=f"profile:file={self.path},compute=roofline", ranks=64, cluster="dgx_h100:nodes=8", steps=1, progress=False)
        self.assertEqual(run.facts["workload"]["modelled_parameters"], sum(one.numel() for one in model.parameters()))
        self.assertGreater(run.facts["workload"]["modelled_parameters"], 1.2e9)
        # Six FLOPs a parameter and token, and attention's own, at 100 % of the modelled peak: no less time than that.
        self.assertGreater(run.summary["iteration_s"], 6 * 1.2e9 * 4 * 512 / 1e15)

    def test_seconds_that_were_measured(self):
        model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2, bias=False))
        rows = self.rows(model, torch.zeros(3, 2), seconds={"0": (0.001, 0.002), "1": (0.003, 0.004)})
        self.assertEqual([(row["forward_ms"], row["backward_ms"]) for row in rows], [("1", "2"), ("", ""), ("3", "4")])
        run = trigram.run(workload=f"profile:file={self.path}", ranks=1, steps=1, progress=False, optimizer="sgd")
        self.assertAlmostEqual(run.summary["breakdown"]["compute_s"], 0.010, delta=1e-4)
        with self.assertRaisesRegex(ValueError, r"layer '1' has \(1, -1\); give seconds of forward and of backward"):
            self.rows(model, torch.zeros(3, 2), seconds={"0": (1, 1), "1": (1, -1)})


if __name__ == "__main__":
    if not all(importlib.util.find_spec(name) for name in ("pandas", "torch")):
        sys.exit(77)
    import torch
    from torch import nn

    import trigram
    torch.set_num_threads(1)
    unittest.main()
