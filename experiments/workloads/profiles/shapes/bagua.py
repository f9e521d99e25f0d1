"""Two networks of Bagua's evaluation, whose parameters and FLOPs are published and whose shapes are not."""

from table import Table
from transformers import COUNTED, Width, output

PUBLISHED = "Gan et al., Bagua, VLDB 2022, arXiv:2107.01499, which lists its models: {}"


def alexnet(table):
    """One tower, as torchvision has it."""
    for index, (inputs, outputs, kernel, size) in enumerate(
        [(3, 64, 11, 55), (64, 192, 5, 27), (192, 384, 3, 13), (384, 256, 3, 13), (256, 256, 3, 13)], start=1
    ):
        table.convolution(f"alexnet.conv{index}", inputs, outputs, kernel, size, bias=True)
    for index, (width, outputs) in enumerate([(256 * 6 * 6, 4096), (4096, 4096), (4096, 1000)], start=6):
        table.linear(f"alexnet.fc{index}", "", width, outputs)


def lstm(table, layers, inputs, width, positions):
    """Four gates of two matrices and two biases each, applied at every position, as PyTorch and cuDNN have them."""
    for index in range(layers):
        name = f"lstm{index}"
        for part, length in (("input", inputs), ("hidden", width)):
            flops = 2 * 4 * width * length * positions
            activations = (4 if part == "input" else 2) * width * positions
            table.tensor(name, f"{part}.weight", (4 * width, length), True, flops, activations)
            table.tensor(name, f"{part}.bias", (4 * width,), False)
        inputs = width


def lstm_alexnet(table):
    """Both towers, one behind the other."""
    alexnet(table)
    lstm(table, layers=2, inputs=1872, width=2048, positions=729)
    return table


def front(table, channels, bins, width, positions):
    """Two 3x3 convolutions with strides of two over frames and bins of a spectrogram, and a matrix."""
    inputs = 1
    for index, shrinks in enumerate((2, 1), start=1):
        elements = channels * shrinks * positions * shrinks * bins // 4
        flops = 2 * 9 * inputs * elements
        table.tensor(f"front.conv{index}", "weight", (channels, inputs, 3, 3), True, flops, elements)
        table.tensor(f"front.conv{index}", "bias", (channels,), False)
        inputs = channels
    table.linear("front.linear", "", channels * bins // 4, width, positions)


def attention(table, name, width, memory):
    """Of `width.positions` onto `memory` positions, with the norm before it."""
    table.norm(name, "norm", width.model, width.positions)
    table.linear(name, "query", width.model, width.model, width.positions)
    for part in ("key", "value"):
        table.linear(name, part, width.model, width.model, memory)
    if memory == width.positions:
        return output(table, name, "output", width)
    scores = width.positions * memory
    table.linear(
        name, "output", width.model, width.model, width.positions, 4 * scores * width.model, 2 * width.heads * scores
    )


def feed_forward(table, name, width):
    """Wider and back, with the norm before it."""
    table.norm(name, "norm", width.model, width.positions)
    table.linear(name, "expand", width.model, width.inner, width.positions)
    table.linear(name, "contract", width.inner, width.model, width.positions)


def transformer_asr(table, vocabulary=5200):
    """The matrix of characters is used twice: its second use, the scores of all characters, is booked with the last norm."""
    heard, written = Width(512, 2048, 8, 1210), Width(512, 2048, 8, 100)
    front(table, 64, 80, heard.model, heard.positions)
    for index in range(12):
        attention(table, f"encoder{index}.attention", heard, heard.positions)
        feed_forward(table, f"encoder{index}.feed_forward", heard)
    table.norm("encoder", "norm", heard.model, heard.positions)
    table.tensor("characters", "weight", (vocabulary, written.model), True, 0, written.model * written.positions)
    for index in range(6):
        attention(table, f"decoder{index}.attention", written, written.positions)
        attention(table, f"decoder{index}.cross_attention", written, heard.positions)
        feed_forward(table, f"decoder{index}.feed_forward", written)
    scores = vocabulary * written.positions
    table.tensor(
        "final", "norm.weight", (written.model,), False, 2 * written.model * scores, written.model * written.positions + scores
    )
    table.tensor("final", "norm.bias", (written.model,), False)
    return table


def tables():
    """Every network of this file, by name."""
    return {
        "lstm_alexnet": lstm_alexnet(
            Table(
                "LSTM and AlexNet, 126,800,680 parameters; shapes of the LSTM assumed",
                [
                    PUBLISHED.format("LSTM+AlexNet with 126.8 M parameters and 97.12 GFLOPs,"),
                    "trained on data of a company. Assumed here: AlexNet is torchvision's (61,100,840 parameters), and comes first; the LSTM is",
                    "two layers of width 2,048, whose 1,872 inputs and 729 positions meet both figures within 0.1 %. The batch, too, is assumed.",
                    "FLOPs count a multiplication and an addition as two.",
                ],
                32,
            )
        ),
        "transformer_asr": transformer_asr(
            Table(
                "Transformer for speech (AISHELL-2), 66,410,688 parameters; shapes assumed",
                [
                    PUBLISHED.format("Transformer on AISHELL-2 with 66.5 M parameters and"),
                    "145 GFLOPs. Assumed here: 12 and 6 layers of width 512, 8 heads, feed-forward 2048, behind two convolutions that halve a spectrogram",
                    "of 80 bins in time and in frequency; 5,200 characters, whose matrix also gives the scores. 1,210 positions heard (4,840 frames) and 100",
                    "written meet both figures within 0.5 %. The batch, too, is assumed. " + COUNTED,
                ],
                16,
            )
        ),
    }
