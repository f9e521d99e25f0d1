"""A table of layers in the making: rows of one layer follow each other, in forward order."""

from math import prod

COLUMNS = "layer,tensor,parameters,dimensions,decays,forward_flops,activations"


class Table:
    """One network. FLOPs and activations are of one sample; a multiplication and an addition are two FLOPs."""

    def __init__(self, summary, sources, batch, compute=None):
        """`compute`: measured seconds of a step's forward and backward of `batch` samples, as "0.53s"."""
        self.summary = summary
        self.sources = sources
        self.batch = batch
        self.compute = compute
        self.rows = []

    def tensor(self, layer, name, dimensions, decays=True, flops=0, activations=0):
        """A parameter, and what its layer does with it; biases and gains of norms do not decay."""
        shape = "x".join(str(length) for length in dimensions)
        self.rows.append(
            f"{layer},{name},{prod(dimensions)},{shape},{int(decays)},{flops or ''},{activations or ''}"
        )

    def linear(self, layer, name, inputs, outputs, positions=1, more_flops=0, more_activations=0, bias=True):
        """A matrix and its bias, applied at every position; `more_…` is what happens beside it without parameters."""
        flops = 2 * inputs * outputs * positions + more_flops
        self.tensor(layer, joined(name, "weight"), (outputs, inputs), True, flops, outputs * positions + more_activations)
        if bias:
            self.tensor(layer, joined(name, "bias"), (outputs,), False)

    def convolution(self, layer, inputs, outputs, kernel, size, bias=False):
        """Square kernel onto a map of size x size; what decides is the map that comes out."""
        flops = 2 * inputs * kernel * kernel * outputs * size * size
        self.tensor(layer, "weight", (outputs, inputs, kernel, kernel), True, flops, outputs * size * size)
        if bias:
            self.tensor(layer, "bias", (outputs,), False)

    def norm(self, layer, name, width, positions, bias=True):
        """Gain and shift of a normalisation that puts out width x positions elements."""
        self.tensor(layer, joined(name, "weight"), (width,), False, 0, width * positions)
        if bias:
            self.tensor(layer, joined(name, "bias"), (width,), False)

    def text(self):
        """The file."""
        lines = [f"# summary: {self.summary}", *(f"# source: {source}" for source in self.sources)]
        lines.append(f"# batch: {self.batch}")
        if self.compute:
            lines.append(f"# compute: {self.compute}")
        return "\n".join([*lines, COLUMNS, *self.rows]) + "\n"


def joined(name, part):
    """ "query" and "weight": "query.weight"; a layer's only matrix has no name of its own."""
    return f"{name}.{part}" if name else part
