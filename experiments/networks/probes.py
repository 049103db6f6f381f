#!/usr/bin/env python3
"""Writes networks made to be measured as ONNX, with random weights, into the folder given: each is one kind of layer over
and over again, at one size, behind a first convolution that makes the channels.

Run by Debian's python3 with python3-torch.

    python3 probes.py OUT_DIR    each as OUT_DIR/probe_KIND_cCHANNELS_rRESOLUTION.onnx
"""
import sys
import warnings
from pathlib import Path

import torch
from torch import nn

warnings.filterwarnings("ignore")
SIZES = [(24, 112), (64, 56), (128, 28), (256, 14), (512, 7)]  # channels, height and width


class SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, channels // 4, 1), nn.Conv2d(channels // 4, channels, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.up(torch.relu(self.down(x.mean([2, 3], keepdim=True)))))


class Sum(nn.Module):
    def forward(self, x):
        return x + torch.relu(x)


class Concatenation(nn.Module):
    """Two halves behind each other, and a 1×1 convolution on one."""

    def __init__(self, channels):
        super().__init__()
        self.mixed = nn.Conv2d(channels // 2, channels // 2, 1)

    def forward(self, x):
        first, second = x.chunk(2, 1)
        return torch.cat([self.mixed(second), first], 1)


class Tokens(nn.Module):
    """A linear layer and a layer norm on the positions."""

    def __init__(self, channels):
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(channels), nn.Linear(channels, channels)

    def forward(self, x):
        return x + self.linear(self.norm(x.flatten(2).transpose(1, 2))).transpose(1, 2).reshape(x.shape)


def convolution(channels, kernel, groups=1):
    return nn.Sequential(nn.Conv2d(channels, channels, kernel, 1, kernel // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(channels), nn.ReLU())


# Makes a layer of so many channels; how many of it stand behind each other.
KINDS = {
    "conv1x1": (lambda c: convolution(c, 1), 8),
    "conv3x3": (lambda c: convolution(c, 3), 4),
    "conv5x5": (lambda c: convolution(c, 5), 2),
    "depthwise3x3": (lambda c: convolution(c, 3, c), 12),
    "depthwise5x5": (lambda c: convolution(c, 5, c), 8),
    "grouped3x3": (lambda c: convolution(c, 3, 8), 8),
    "maxpool3x3": (lambda c: nn.MaxPool2d(3, 1, 1), 8),
    "avgpool3x3": (lambda c: nn.AvgPool2d(3, 1, 1), 8),
    "activation": (lambda c: nn.Hardswish(), 16),
    "sum": (lambda c: Sum(), 12),
    "concatenation": (Concatenation, 8),
    "squeeze": (SqueezeExcite, 8),
    "tokens": (Tokens, 8),
}


def probes():
    for kind, (make, count) in KINDS.items():
        for channels, resolution in SIZES:
            yield (f"probe_{kind}_c{channels}_r{resolution}", resolution,
                   lambda make=make, count=count, channels=channels: nn.Sequential(
                       nn.Conv2d(3, channels, 3, 1, 1), *[make(channels) for _ in range(count)], nn.AdaptiveAvgPool2d(1),
                       nn.Flatten(), nn.Linear(channels, 10)))


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    for name, resolution, make in probes():
        path = out / f"{name}.onnx"
        if path.exists():
            continue
        part = path.with_suffix(".part")
        torch.onnx.export(make().eval(), torch.zeros(1, 3, resolution, resolution), str(part), opset_version=13,
                          training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False, input_names=["input"],
                          output_names=["output"])
        part.rename(path)
    print(f"{len(list(out.glob('*.onnx')))} networks in {out}")


if __name__ == "__main__":
    main()
