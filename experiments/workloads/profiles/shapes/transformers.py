"""Transformers: BERT, GPT-2, LLaMA, ViT. Attention is counted whole, without what a causal mask could save."""

from dataclasses import dataclass

from table import Table

COUNTED = "FLOPs count a multiplication and an addition as two, and attention whole, masked or not."


@dataclass
class Width:
    """Of a model: elements of a position, of its feed-forward layers, heads, and positions of a sample."""

    model: int
    inner: int
    heads: int
    positions: int

    def attention_flops(self):
        """Scores and their product with the values."""
        return 2 * 2 * self.positions**2 * self.model

    def attention_activations(self):
        """Scores before and after the softmax."""
        return 2 * self.heads * self.positions**2


def bert_block(table, name, width):
    """Query, key, value and output apart; the norms come after."""
    for part in ("query", "key", "value"):
        table.linear(f"{name}.attention", part, width.model, width.model, width.positions)
    output(table, f"{name}.attention", "output", width)
    table.norm(f"{name}.attention", "norm", width.model, width.positions)
    table.linear(f"{name}.feed_forward", "expand", width.model, width.inner, width.positions)
    table.linear(f"{name}.feed_forward", "contract", width.inner, width.model, width.positions)
    table.norm(f"{name}.feed_forward", "norm", width.model, width.positions)


def output(table, layer, name, width, bias=True):
    """The matrix behind attention, whose own work is booked with it."""
    table.linear(
        layer,
        name,
        width.model,
        width.model,
        width.positions,
        width.attention_flops(),
        width.attention_activations(),
        bias,
    )


def joint_block(table, name, width):
    """Query, key and value in one matrix; the norms come before: GPT-2, ViT."""
    table.norm(f"{name}.attention", "norm", width.model, width.positions)
    table.linear(f"{name}.attention", "query_key_value", width.model, 3 * width.model, width.positions)
    output(table, f"{name}.attention", "output", width)
    table.norm(f"{name}.feed_forward", "norm", width.model, width.positions)
    table.linear(f"{name}.feed_forward", "expand", width.model, width.inner, width.positions)
    table.linear(f"{name}.feed_forward", "contract", width.inner, width.model, width.positions)


def gated_block(table, name, width):
    """No biases, norms of gains alone, and a gate beside the expansion: LLaMA."""
    table.norm(f"{name}.attention", "norm", width.model, width.positions, bias=False)
    for part in ("query", "key", "value"):
        table.linear(f"{name}.attention", part, width.model, width.model, width.positions, bias=False)
    output(table, f"{name}.attention", "output", width, bias=False)
    table.norm(f"{name}.feed_forward", "norm", width.model, width.positions, bias=False)
    for part in ("gate", "expand"):
        table.linear(f"{name}.feed_forward", part, width.model, width.inner, width.positions, bias=False)
    table.linear(f"{name}.feed_forward", "contract", width.inner, width.model, width.positions, bias=False)


def bert(layers, width, table):
    """Embeddings, blocks, pooler; the head of a task is left out."""
    table.tensor("embeddings", "word", (30522, width.model), True, 0, width.model * width.positions)
    table.tensor("embeddings", "position", (512, width.model))
    table.tensor("embeddings", "token_type", (2, width.model))
    for part in ("weight", "bias"):
        table.tensor("embeddings", f"norm.{part}", (width.model,), False)
    for index in range(layers):
        bert_block(table, f"block{index}", width)
    table.linear("pooler", "", width.model, width.model)
    return table


def gpt2(layers, width, table, vocabulary=50257):
    """The matrix of words is used twice: its second use, the scores of all words, is booked with the last norm."""
    table.tensor("embeddings", "word", (vocabulary, width.model), True, 0, width.model * width.positions)
    table.tensor("embeddings", "position", (width.positions, width.model))
    for index in range(layers):
        joint_block(table, f"block{index}", width)
    scores = vocabulary * width.positions
    table.tensor(
        "final", "norm.weight", (width.model,), False, 2 * width.model * scores, width.model * width.positions + scores
    )
    table.tensor("final", "norm.bias", (width.model,), False)
    return table


def llama(layers, width, table, vocabulary=32000):
    """Words in and scores of words out are two matrices."""
    table.tensor("embeddings", "word", (vocabulary, width.model), True, 0, width.model * width.positions)
    for index in range(layers):
        gated_block(table, f"block{index}", width)
    table.norm("final", "norm", width.model, width.positions, bias=False)
    table.linear("head", "", width.model, vocabulary, width.positions, bias=False)
    return table


def vit(layers, width, table, patch=16):
    """Patches of 224 x 224 images and one position for the class."""
    patches = width.positions - 1
    pixels = 3 * patch * patch
    table.tensor(
        "embeddings",
        "patch.weight",
        (width.model, 3, patch, patch),
        True,
        2 * pixels * width.model * patches,
        width.model * width.positions,
    )
    table.tensor("embeddings", "patch.bias", (width.model,), False)
    table.tensor("embeddings", "class", (1, width.model))
    table.tensor("embeddings", "position", (width.positions, width.model))
    for index in range(layers):
        joint_block(table, f"block{index}", width)
    table.norm("final", "norm", width.model, width.positions)
    table.linear("head", "", width.model, 1000)
    return table


def tables():
    """Every network of this file, by name."""
    return {
        "bert_base": bert(
            12,
            Width(768, 3072, 12, 384),
            Table(
                "BERT-Base (uncased), sequence length 384, 109,482,240 parameters",
                [
                    "Devlin et al., NAACL 2019, arXiv:1810.04805: 12 layers, width 768, 12 heads, feed-forward 3072, vocabulary 30522,",
                    "with the pooler and without the head of a task. Each block is two layers, attention and feed_forward. " + COUNTED,
                ],
                12,
            ),
        ),
        "bert_large": bert(
            24,
            Width(1024, 4096, 16, 384),
            Table(
                "BERT-Large (uncased) finetuned on SQuAD, sequence length 384, 335,141,888 parameters",
                [
                    "Devlin et al., NAACL 2019, arXiv:1810.04805: 24 layers, width 1024, 16 heads, feed-forward 4096, vocabulary 30522.",
                    "Embeddings 31,782,912 + 24 x 12,596,224 + pooler 1,049,600; the 2,050 parameters of a span head are left out.",
                    "Each block is two layers, attention and feed_forward. Compute time: 61 s an epoch of 115 iterations with asynchronous",
                    "averaging, which never waits, on V100 at batch 6 (Bagua's published benchmark, tutorials, 2021): 0.53 s.",
                ],
                6,
                "0.53s",
            ),
        ),
        "gpt2_small": gpt2(
            12,
            Width(768, 3072, 12, 1024),
            Table(
                "GPT-2 small, 1,024 positions, 124,439,808 parameters",
                [
                    "Radford et al., Language models are unsupervised multitask learners, 2019, sizes of the published weights: 12 layers,",
                    "width 768, 12 heads, vocabulary 50257, whose matrix also gives the scores. " + COUNTED,
                ],
                8,
            ),
        ),
        "gpt2_xl": gpt2(
            48,
            Width(1600, 6400, 25, 1024),
            Table(
                "GPT-2 XL, 1,024 positions, 1,557,611,200 parameters",
                [
                    "Radford et al., Language models are unsupervised multitask learners, 2019, sizes of the published weights: 48 layers,",
                    "width 1600, 25 heads, vocabulary 50257, whose matrix also gives the scores. " + COUNTED,
                ],
                1,
            ),
        ),
        "llama_7b": llama(
            32,
            Width(4096, 11008, 32, 2048),
            Table(
                "LLaMA 7B, 2,048 positions, 6,738,415,616 parameters",
                [
                    "Touvron et al., LLaMA, 2023, arXiv:2302.13971: 32 layers, width 4096, 32 heads, vocabulary 32000; the feed-forward",
                    "width is 11008, that of the published weights. " + COUNTED,
                ],
                1,
            ),
        ),
        "vit_b16": vit(
            12,
            Width(768, 3072, 12, 197),
            Table(
                "ViT-B/16 on ImageNet, 224x224 images, 86,567,656 parameters",
                [
                    "Dosovitskiy et al., An image is worth 16x16 words, ICLR 2021, arXiv:2010.11929: 12 layers, width 768, 12 heads,",
                    "feed-forward 3072, and one matrix of 1,000 classes. " + COUNTED,
                ],
                64,
            ),
        ),
    }
