#!/usr/bin/env python3
"""Writes networks under a millisecond and of about a second on one core as ONNX, with random weights, and beside them
published networks of the pool datasets/data/networks, which tie both pools together. Run by Debian's python3 with
python3-torchvision. A network that is there is not written again.

    python3 sizes_zoo.py OUT_DIR [NAME ...]    each as OUT_DIR/NAME.onnx; OUT_DIR.csv has network,family,size
"""
import csv
import functools
import hashlib
import sys
import warnings
from pathlib import Path

import torch
from torch import nn
from torchvision import models
from torchvision.models.video import resnet as video

import networks_zoo
from networks_zoo import MobileNetV1, convolution

warnings.filterwarnings("ignore")
POOL, SEED, ANCHORS = Path("datasets/data/networks"), 1, 30
# Begin the names of those that take about a second.
SECOND = ("audio_dilated", "audio_encoder", "generator_192", "gru_1024", "large", "lstm_1024", "lstm_640", "superres_32",
          "superres_64", "transformer_256", "transformer_384", "transformer_512", "transformer_768", "unet_32", "unet_48",
          "volume_mc3", "volume_r3d")


def norm_1d(inputs, outputs, kernel, stride=1, dilation=1, groups=1):
    return nn.Sequential(nn.Conv1d(inputs, outputs, kernel, stride, dilation * (kernel // 2), dilation, groups, bias=False),
                         nn.BatchNorm1d(outputs), nn.ReLU())


def norm_3d(inputs, outputs, stride=1):
    return nn.Sequential(nn.Conv3d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm3d(outputs), nn.ReLU())


class Classifier(nn.Module):
    """Layers, the mean over all positions, and a linear layer."""

    def __init__(self, features, width, classes):
        super().__init__()
        self.features, self.classifier = features, nn.Linear(width, classes)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(2).mean(2))


def keyword_spotting(width, blocks):
    """DS-CNN (Zhang et al., Hello Edge, 2017), as in MLPerf Tiny (Banbury et al., 2021)."""
    layers = [nn.Conv2d(1, width, (10, 4), 2, (5, 1), bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    for _ in range(blocks):
        layers += [convolution(width, width, 3, groups=width), convolution(width, width, 1)]
    return Classifier(nn.Sequential(*layers), width, 12)


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = convolution(inputs, outputs, 3, stride)
        self.second = nn.Sequential(nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        return torch.relu(self.second(self.first(x)) + self.shortcut(x))


def resnet8(width):
    """ResNet of MLPerf Tiny for images of 32 × 32."""
    return Classifier(nn.Sequential(convolution(3, width), ResidualBlock(width, width, 1),
                                    ResidualBlock(width, 2 * width, 2), ResidualBlock(2 * width, 4 * width, 2)),
                      4 * width, 10)


def dense(widths, norm=False):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b)] + ([nn.BatchNorm1d(b)] if norm else []) + [nn.ReLU()]
    return nn.Sequential(*layers[:-2 if norm else -1])


def autoencoder(inputs, width):
    """The dense autoencoder of MLPerf Tiny's anomaly detection."""
    return dense([inputs] + [width] * 4 + [8] + [width] * 4 + [inputs], norm=True)


class Recurrent(nn.Module):
    def __init__(self, kind, inputs, units, layers, both_ways=False):
        super().__init__()
        self.layers = kind(inputs, units, layers, batch_first=True, bidirectional=both_ways)
        self.classifier = nn.Linear(units * (1 + both_ways), 32)

    def forward(self, x):
        return self.classifier(self.layers(x)[0])


def audio_classifier(width, layers):
    """1-D convolutions on sound as it is sampled (Dai et al., ICASSP 2017), narrow."""
    features = [norm_1d(1, width, 17, 4)]
    for i in range(layers):
        a, b = width << (i // 2), width << ((i + 1) // 2)
        features.append(norm_1d(a, b, 3, 2))
    return Classifier(nn.Sequential(*features), width << (layers // 2), 10)


def audio_encoder(width):
    """The convolutions of wav2vec 2.0 (Baevski et al., NeurIPS 2020, §2)."""
    layers, inputs = [], 1
    for kernel, stride in ((10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2)):
        layers += [nn.Conv1d(inputs, width, kernel, stride, bias=False), nn.BatchNorm1d(width), nn.GELU()]
        inputs = width
    return nn.Sequential(*layers)


class Dilated(nn.Module):
    """Residual dilated convolutions (Bai, Kolter and Koltun, 2018, Fig. 1)."""

    def __init__(self, width, layers):
        super().__init__()
        self.entry = norm_1d(1, width, 3)
        self.layers = nn.ModuleList([norm_1d(width, width, 3, dilation=1 << (i % 8)) for i in range(layers)])

    def forward(self, x):
        x = self.entry(x)
        for layer in self.layers:
            x = x + layer(x)
        return x


def volume_classifier(width):
    return Classifier(nn.Sequential(norm_3d(1, width, 2), norm_3d(width, 2 * width, 2), norm_3d(2 * width, 2 * width)),
                      2 * width, 10)


class Unet(nn.Module):
    """Ronneberger et al., MICCAI 2015, Fig. 1, with padded convolutions."""

    def __init__(self, width, levels):
        super().__init__()
        widths = [width << i for i in range(levels)]
        double = lambda a, b: nn.Sequential(convolution(a, b), convolution(b, b))
        self.down = nn.ModuleList([double(a, b) for a, b in zip([3] + widths, widths)])
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ModuleList([nn.ConvTranspose2d(2 * w, w, 2, 2) for w in widths[-2::-1]])
        self.join = nn.ModuleList([double(2 * w, w) for w in widths[-2::-1]])
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        kept = []
        for i, layer in enumerate(self.down):
            x = layer(x if i == 0 else self.pool(x))
            kept.append(x)
        for up, join, other in zip(self.up, self.join, kept[-2::-1]):
            x = join(torch.cat([other, up(x)], 1))
        return self.head(x)


class TransformerLayer(nn.Module):
    """Vaswani et al., NeurIPS 2017, §3, with the norms behind (as in BERT)."""

    def __init__(self, width, heads):
        super().__init__()
        self.width, self.heads = width, heads
        self.of_all, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.back = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])

    def forward(self, x):
        tokens = x.size(1)
        q, k, v = (part.reshape(1, tokens, self.heads, self.width // self.heads).transpose(1, 2)
                   for part in self.of_all(x).split(self.width, 2))
        weights = torch.softmax(q @ k.transpose(2, 3) * (self.width // self.heads) ** -0.5, 3)
        x = self.norms[0](x + self.out((weights @ v).transpose(1, 2).reshape(1, tokens, self.width)))
        return self.norms[1](x + self.back(nn.functional.gelu(self.wide(x))))


def transformer(width, layers):
    return nn.Sequential(*[TransformerLayer(width, max(2, width // 64)) for _ in range(layers)])


class SuperResolution(nn.Module):
    """EDSR (Lim et al., CVPR Workshops 2017, Fig. 3): residual blocks without norms, then a larger image."""

    def __init__(self, width, blocks):
        super().__init__()
        self.entry = nn.Conv2d(3, width, 3, 1, 1)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Conv2d(width, width, 3, 1, 1), nn.ReLU(),
                                                   nn.Conv2d(width, width, 3, 1, 1)) for _ in range(blocks)])
        self.larger = nn.Upsample(scale_factor=2, mode="nearest")
        self.out = nn.Conv2d(width, 3, 3, 1, 1)

    def forward(self, x):
        x = self.entry(x)
        for block in self.blocks:
            x = x + block(x)
        return self.out(self.larger(x))


def generator(width, levels):
    """DCGAN (Radford et al., 2016, Fig. 1) from a small map."""
    layers = []
    for i in range(levels - 1, 0, -1):
        layers += [nn.ConvTranspose2d(width << i, width << (i - 1), 4, 2, 1, bias=False), nn.BatchNorm2d(width << (i - 1)),
                   nn.ReLU()]
    return nn.Sequential(*layers, nn.ConvTranspose2d(width, 3, 4, 2, 1), nn.Tanh())


def zoo():
    """(family, name, maker, shape of the input) of each network. A family has networks of both sizes where there are such,
    so that holding one out leaves nothing that is like it."""
    rows = []

    def add(family, name, shape, make, *values):
        rows.append((family, f"{family}_{name}", functools.partial(make, *values), shape))

    for width, blocks in ((16, 2), (32, 4), (64, 4)):
        add("keyword", f"{width}x{blocks}", (1, 1, 49, 10), keyword_spotting, width, blocks)
    for resolution in (32, 48, 64):
        add("wakeword", f"r{resolution}", (1, 3, resolution, resolution), MobileNetV1, 0.25)
    for width, resolution in ((8, 32), (16, 24), (16, 32)):
        add("resnet8", f"{width}_r{resolution}", (1, 3, resolution, resolution), resnet8, width)
    for inputs, width in ((320, 64), (640, 128), (640, 256)):
        add("autoencoder", f"{inputs}_{width}", (1, inputs), autoencoder, inputs, width)
    for widths in ((16, 32, 4), (128, 128, 128, 10), (784, 512, 256, 10), (256, 256, 256, 256, 256, 256, 64)):
        add("mlp", "_".join(map(str, widths)), (1, widths[0]), dense, widths)
    for family, kind in (("lstm", nn.LSTM), ("gru", nn.GRU)):
        for inputs, units, layers, both_ways, steps in ((16, 32, 1, False, 16), (40, 64, 1, True, 12),
                                                       (80, 1024, 4, False, 700 if family == "lstm" else 1000)):
            add(family, f"{units}x{layers}{'_both' if both_ways else ''}_t{steps}", (1, steps, inputs), Recurrent, kind,
                inputs, units, layers, both_ways)
    add("lstm", "640x4_both_t900", (1, 900, 80), Recurrent, nn.LSTM, 80, 640, 4, True)
    for width, layers, samples in ((4, 4, 2000), (8, 6, 4000)):
        add("audio", f"{width}x{layers}_s{samples}", (1, 1, samples), audio_classifier, width, layers)
    add("audio", "encoder_768_s240000", (1, 1, 240000), audio_encoder, 768)
    add("audio", "dilated_256x24_s24000", (1, 1, 24000), Dilated, 256, 24)
    for width, size in ((4, 12), (8, 16)):
        add("volume", f"{width}_r{size}", (1, 1, size, size, size), volume_classifier, width)
    add("volume", "r3d18_t20_r144", (1, 3, 20, 144, 144), video.r3d_18)
    add("volume", "mc3_18_t16_r144", (1, 3, 16, 144, 144), video.mc3_18)
    for width, levels, resolution in ((4, 3, 16), (4, 3, 32), (32, 5, 704), (48, 4, 544)):
        add("unet", f"{width}x{levels}_r{resolution}", (1, 3, resolution, resolution), Unet, width, levels)
    for width, layers, tokens in ((128, 2, 8), (128, 2, 24), (256, 12, 2304), (384, 12, 1536), (512, 8, 2048), (768, 12, 896)):
        add("transformer", f"{width}x{layers}_t{tokens}", (1, tokens, width), transformer, width, layers)
    for width, blocks, resolution in ((8, 2, 24), (64, 16, 304), (32, 8, 768)):
        add("superres", f"{width}x{blocks}_r{resolution}", (1, 3, resolution, resolution), SuperResolution, width, blocks)
    for width, levels, resolution in ((4, 3, 4), (192, 4, 32)):
        add("generator", f"{width}x{levels}_r{resolution}", (1, width << (levels - 1), resolution, resolution), generator,
            width, levels)
    for name, resolution in (("resnet50", 1024), ("mobilenet_v2", 2560), ("densenet121", 1120),
                             ("efficientnet_b0", 2048), ("regnet_x_3_2gf", 1152), ("resnet18", 1536)):
        add("large", f"{name}_r{resolution}", (1, 3, resolution, resolution),
            lambda name=name: getattr(models, name)(weights=None))
    add("large", "vgg13_r640", (1, 3, 640, 640), lambda: Classifier(models.vgg13(weights=None).features, 512, 1000))
    return rows


def anchors():
    """(family, name, maker, shape) of published networks of the pool: one of each of ANCHORS equal parts of them by
    latency, drawn by the seed."""
    with open(POOL / "libtorch-eager_t1_b1" / "latencies.csv", newline="") as file:
        latency = {row["architecture"]: float(row["latency_ms"]) for row in csv.DictReader(file)}
    published = sorted(((latency[name], family, name, make, r) for family, name, make, r in networks_zoo.zoo()
                        if name in latency), key=lambda row: row[0])
    chosen = []
    for part in range(ANCHORS):
        own = published[part * len(published) // ANCHORS:(part + 1) * len(published) // ANCHORS]
        _, family, name, make, r = min(own, key=lambda row: hashlib.sha256(f"{SEED} {row[2]}".encode()).hexdigest())
        chosen.append((family, name, functools.partial(make, r), (1, 3, r, r)))
    return chosen


def export(make, shape, path):
    torch.manual_seed(1)
    part = path.with_suffix(".part")
    torch.onnx.export(make().eval(), torch.zeros(*shape), str(part), opset_version=13,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False, input_names=["input"],
                      output_names=["output"])
    part.rename(path)


def main():
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    usual = anchors()
    known, rows = {row[:2] for row in usual}, usual + zoo()
    for _, name, make, shape in rows:
        path = folder / f"{name}.onnx"
        if (not names or name in names) and not path.exists():
            export(make, shape, path)
    rows.sort(key=lambda row: hashlib.sha256(row[1].encode()).hexdigest())  # mixes the families
    with open(f"{folder}.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("network", "family", "size")] + [
            (name, family, "usual" if (family, name) in known else "second" if name.startswith(SECOND) else "tiny")
            for family, name, _, _ in rows])


if __name__ == "__main__":
    main()
