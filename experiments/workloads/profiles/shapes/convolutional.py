"""Networks of images: VGG and ResNet, at 224 x 224."""

from table import Table

TWO_FLOPS = "FLOPs count a multiplication and an addition as two."
VGG_PAPER = "Simonyan & Zisserman, Very deep convolutional networks, ICLR 2015, arXiv:1409.1556, configuration {}."
RESNET_PAPER = "He et al., Deep residual learning, CVPR 2016, arXiv:1512.03385, with the stride of a block in its 3x3"
P100 = [
    TWO_FLOPS + " Compute time of a V100 in fp32, derived: TensorFlow's published",
    "benchmark has 144 images/s on one P100 at batch 32 (May 2017), times 15.7/10.6, the ratio of the peaks: 213 images/s.",
]


def vgg(convolutions, table):
    """`convolutions` of each of the five stages, then three matrices."""
    inputs, size = 3, 224
    for stage, count in enumerate(convolutions, start=1):
        outputs = min(64 * 2 ** (stage - 1), 512)
        for index in range(1, count + 1):
            table.convolution(f"conv{stage}_{index}", inputs, outputs, 3, size, bias=True)
            inputs = outputs
        size //= 2
    for index, (width, outputs) in enumerate([(inputs * size * size, 4096), (4096, 4096), (4096, 1000)], start=6):
        table.linear(f"fc{index}", "", width, outputs)
    return table


def resnet(blocks, table):
    """`blocks` of each of the four stages, each a bottleneck of three convolutions; names as torchvision's."""

    def normed(layer, *convolution):
        table.convolution(layer, *convolution)
        _, outputs, _, size = convolution
        table.norm(layer, "norm", outputs, size * size)

    normed("conv1", 3, 64, 7, 112)
    inputs, before = 64, 56
    for stage, count in enumerate(blocks, start=1):
        width, size = 64 * 2 ** (stage - 1), 56 // 2 ** (stage - 1)
        for block in range(count):
            name = f"layer{stage}.{block}"
            normed(f"{name}.conv1", inputs, width, 1, before)
            normed(f"{name}.conv2", width, width, 3, size)
            normed(f"{name}.conv3", width, 4 * width, 1, size)
            if block == 0:
                normed(f"{name}.downsample", inputs, 4 * width, 1, size)
            inputs, before = 4 * width, size
    table.linear("fc", "", inputs, 1000)
    return table


def tables():
    """Every network of this file, by name."""
    return {
        "vgg16": vgg(
            (2, 2, 3, 3, 3),
            Table(
                "VGG16 on ImageNet, 224x224 images, 16 weight layers, 138,357,544 parameters",
                [VGG_PAPER.format("D"), *P100],
                32,
                "0.150s",
            ),
        ),
        "vgg19": vgg(
            (2, 2, 4, 4, 4),
            Table(
                "VGG19 on ImageNet, 224x224 images, 19 weight layers, 143,667,240 parameters",
                [VGG_PAPER.format("E"), TWO_FLOPS],
                32,
            ),
        ),
        "resnet50": resnet(
            (3, 4, 6, 3),
            Table(
                "ResNet-50 on ImageNet, 224x224 images, 25,557,032 parameters",
                [
                    RESNET_PAPER,
                    "convolution, as torchvision has it. " + TWO_FLOPS + " Compute time of a V100:",
                    "409.45 images/s on one GPU in the raw data of GRACE, Xu et al., ICDCS 2021 (TensorFlow; its batch is not stated).",
                ],
                64,
                "0.1563s",
            ),
        ),
        "resnet101": resnet(
            (3, 4, 23, 3),
            Table(
                "ResNet-101 on ImageNet, 224x224 images, 44,549,160 parameters",
                [RESNET_PAPER, "convolution, as torchvision has it. " + TWO_FLOPS],
                64,
            ),
        ),
    }
