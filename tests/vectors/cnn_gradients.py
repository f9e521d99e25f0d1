#!/usr/bin/env python3
"""Writes cnn_gradients.json: loss, logits and gradients of a small convolutional network, by PyTorch in double.

Run it with Debian's python3-torch; with --check nothing is written, and it fails where the file says something else.
Weights and images are given by a formula (`values`), so that the file holds results alone."""

import json
import pathlib
import sys

try:
    import torch
except ImportError:
    sys.exit(77)

FILE = pathlib.Path(__file__).with_suffix(".json")
ROWS, HEIGHT, WIDTH, CHANNELS, CLASSES = 6, 7, 6, (3, 4), 5


def values(seed, *shape):
    count = torch.Size(shape).numel()
    flat = [(k * 7919 + seed * 104729) % 2003 / 1001.5 - 1 for k in range(count)]
    return torch.tensor(flat, dtype=torch.float32).double().reshape(shape)  # what a float holds


def parameters(norm):
    shapes, inputs = [], 1
    for filters in CHANNELS:
        shapes += [(filters, inputs, 3, 3)] + [(filters,)] * (2 if norm == "batch" else 1)
        inputs = filters
    shapes += [(CHANNELS[-1] * (HEIGHT // 4) * (WIDTH // 4), CLASSES), (CLASSES,)]
    return [values(seed, *shape).requires_grad_() for seed, shape in enumerate(shapes)]


def logits(norm, weights, images, frozen=None, seen=None):
    """With `frozen`, mean and variance of each block's channels, in place of those of the batch, which go to `seen`."""
    functional = torch.nn.functional
    rest, x = list(weights), images
    for block in range(len(CHANNELS)):
        filters = rest.pop(0)
        if norm == "none":
            x = functional.conv2d(x, filters, rest.pop(0), padding=1)
        else:
            x = functional.conv2d(x, filters, padding=1)
            if seen is not None:
                seen.append((x.mean((0, 2, 3)).detach(), x.var((0, 2, 3), unbiased=False).detach()))
            mean, variance = frozen[block] if frozen else (None, None)
            x = functional.batch_norm(x, mean, variance, rest.pop(0), rest.pop(0), training=not frozen)
        x = functional.max_pool2d(functional.relu(x), 2)
    return x.flatten(1) @ rest[0] + rest[1]


def case(norm):
    weights, images = parameters(norm), values(99, ROWS, 1, HEIGHT, WIDTH)
    statistics = []
    found = logits(norm, weights, images, seen=statistics)
    loss = torch.nn.functional.cross_entropy(found, torch.arange(ROWS) % CLASSES)
    loss.backward()
    frozen = logits(norm, weights, values(98, 2, 1, HEIGHT, WIDTH), frozen=statistics)
    return {"norm": norm, "loss": loss.item(), "logits": found.flatten().tolist(),
            "gradients": [weight.grad.flatten().tolist() for weight in weights],
            "frozen_logits": frozen.flatten().tolist()}


def main():
    cases = [case(norm) for norm in ("batch", "none")]
    if "--check" not in sys.argv[1:]:
        what = "loss, logits and gradients of two blocks and a fully connected layer, by cnn_gradients.py"
        FILE.write_text(json.dumps({"what": what, "cases": cases}, indent=1) + "\n")
        return
    kept = json.loads(FILE.read_text())["cases"]
    numbers = [torch.tensor([one["loss"], *one["logits"], *one["frozen_logits"], *sum(one["gradients"], [])],
                            dtype=torch.float64) for one in kept + cases]
    for before, now in zip(numbers, numbers[len(kept):]):
        if not torch.allclose(before, now, rtol=1e-9, atol=1e-11):
            sys.exit(f"{FILE.name}: PyTorch {torch.__version__} gives other numbers")


main()
