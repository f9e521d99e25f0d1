"""A network of ResNet-50's size (He et al. 2016, arXiv:1512.03385), of nothing but torch: 25,557,032 parameters."""

import torch

PARAMETERS = 25_557_032


class Bottleneck(torch.nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.narrow = Normalized(inputs, width, 1)
        self.convolve = Normalized(width, width, 3, stride)
        self.widen = Normalized(width, outputs, 1)
        self.shortcut = Normalized(inputs, outputs, 1, stride) if stride > 1 or inputs != outputs else torch.nn.Identity()

    def forward(self, x):
        y = self.widen(self.convolve(self.narrow(x).relu()).relu())
        return (y + self.shortcut(x)).relu()


class Normalized(torch.nn.Sequential):
    def __init__(self, inputs, outputs, size, stride=1):
        super().__init__(torch.nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), torch.nn.BatchNorm2d(outputs))


def resnet50():
    layers = [Normalized(3, 64, 7, 2), torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for blocks, width, stride in ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, stride if block == 0 else 1))
            inputs = 4 * width
    model = torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(inputs, 1000))
    assert sum(one.numel() for one in model.parameters()) == PARAMETERS
    return model
