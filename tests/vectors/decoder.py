#!/usr/bin/python3
"""Writes decoder.json: the loss and the gradients of a small decoder by PyTorch's own layers, in double, at weights and
characters that the file holds. With Debian's python3-torch: tests/vectors/decoder.py > tests/vectors/decoder.json"""

import json

import torch
from torch.nn import functional

CHARACTERS, WIDTH, HEADS, CONTEXT, BLOCKS, SEQUENCES = 7, 6, 3, 5, 2, 3


class Decoder(torch.nn.Module):
    """Encoder layers of PyTorch that see no later character are the layers of a decoder."""

    def __init__(self):
        super().__init__()
        self.characters = torch.nn.Embedding(CHARACTERS, WIDTH)
        self.positions = torch.nn.Embedding(CONTEXT, WIDTH)
        self.blocks = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0, activation="relu", batch_first=True, norm_first=True)
            for _ in range(BLOCKS))
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.head = torch.nn.Linear(WIDTH, CHARACTERS)

    def forward(self, characters):
        later = torch.triu(torch.ones(CONTEXT, CONTEXT, dtype=torch.bool), diagonal=1)
        x = self.characters(characters) + self.positions(torch.arange(CONTEXT))
        for block in self.blocks:
            x = block(x, src_mask=later)
        return self.head(self.norm(x))

    def tensors(self):
        """As decoder_parameters lists them; of a Linear PyTorch keeps [out, in]."""
        yield self.characters.weight, False
        yield self.positions.weight, False
        for block in self.blocks:
            attention = block.self_attn
            yield from ((block.norm1.weight, False), (block.norm1.bias, False), (attention.in_proj_weight, True),
                        (attention.in_proj_bias, False), (attention.out_proj.weight, True), (attention.out_proj.bias, False))
            yield from ((block.norm2.weight, False), (block.norm2.bias, False), (block.linear1.weight, True),
                        (block.linear1.bias, False), (block.linear2.weight, True), (block.linear2.bias, False))
        yield from ((self.norm.weight, False), (self.norm.bias, False), (self.head.weight, True), (self.head.bias, False))


def numbers(tensor, turned, digits):
    values = (tensor.T if turned else tensor).detach().flatten().tolist()
    return [float(f"{value:.{digits}g}") for value in values]


def main():
    torch.manual_seed(3)
    model = Decoder().double().train()
    for tensor, _ in model.tensors():  # gains and biases that show, and numbers of four digits
        drawn = 0.5 * torch.randn_like(tensor) + (1 if tensor is model.norm.weight else 0)
        tensor.data = torch.tensor([float(f"{value:.4g}") for value in drawn.flatten().tolist()], dtype=torch.float64).view_as(tensor)
    text = torch.randint(CHARACTERS, (SEQUENCES, CONTEXT + 1))
    characters, following = text[:, :-1], text[:, 1:]
    logits = model(characters)
    loss = functional.cross_entropy(logits.reshape(-1, CHARACTERS), following.reshape(-1))
    loss.backward()
    print(json.dumps({
        "meta": f"tests/vectors/decoder.py, torch {torch.__version__.split('+')[0]} on the CPU, in double",
        "sizes": {"characters": CHARACTERS, "width": WIDTH, "heads": HEADS, "context": CONTEXT, "blocks": BLOCKS, "sequences": SEQUENCES},
        "characters": characters.flatten().tolist(),
        "next": following.flatten().tolist(),
        "loss": loss.item(),
        "logits": numbers(logits, False, 9),
        "weights": [numbers(tensor, turned, 4) for tensor, turned in model.tensors()],
        "gradients": [numbers(tensor.grad, turned, 9) for tensor, turned in model.tensors()],
    }))


main()
