#!/usr/bin/env python3
"""Writes small networks of many kinds and with unusual operators as ONNX, with random weights, and beside them the
published networks of the pool that sizes_zoo.py writes. Run by Debian's python3 with python3-torchvision and
python3-onnx, in the root of the repository. A network that is there is not written again.

    python3 kinds_zoo.py OUT_DIR [NAME ...]    each as OUT_DIR/NAME.onnx; OUT_DIR.csv has network,family,values

The column values says of each integer input how many values its elements can have, as input0=1000; else it is empty.
"""
import csv
import functools
import hashlib
import math
import sys
import warnings
import zlib
from pathlib import Path
from typing import NamedTuple

import onnx
import torch
from torch import nn

import kinds_graphs
import kinds_modules as kinds
import sizes_zoo

warnings.filterwarnings("ignore")


class Indices(NamedTuple):
    """An integer input: its shape, and how many values its elements can have. Any other input is given by its shape."""
    shape: tuple
    values: int


def add_images(add):
    add("decoder", "dcgan", kinds.dcgan, ("4", (32, 4, 3), [(1, 32, 1, 1)], 13), ("16", (100, 16, 4), [(1, 100, 1, 1)], 14),
        ("48", (100, 48, 4), [(1, 100, 1, 1)], 16), ("128", (100, 128, 5), [(1, 100, 1, 1)], 15))
    add("decoder", "vaedecoder", kinds.vae_decoder, ("8", (8, 8), [(1, 8)], 13), ("64", (20, 64), [(1, 20)], 15))
    add("decoder", "fcn", kinds.fcn, ("8", (8,), [(1, 3, 96, 96)], 13), ("24", (24,), [(1, 3, 128, 128)], 14))
    add("unet", "unet_nearest", kinds.Unet, ("4", (4, 3, "nearest"), [(1, 3, 48, 48)], 13),
        ("16", (16, 4, "nearest"), [(1, 3, 96, 96)], 15))
    add("unet", "unet_bilinear", kinds.Unet, ("4", (4, 3, "bilinear"), [(1, 3, 64, 64)], 13),
        ("16", (16, 4, "bilinear"), [(1, 3, 128, 128)], 16), ("32", (32, 4, "bilinear"), [(1, 3, 192, 192)], 14))
    add("unet", "unet_bicubic", kinds.Unet, ("6", (6, 3, "bicubic"), [(1, 3, 64, 64)], 14))
    own, group = functools.partial(nn.InstanceNorm2d, affine=True), functools.partial(nn.GroupNorm, 4)
    add("style", "style_in", kinds.style, ("4", (4, own, 1), [(1, 3, 32, 32)], 13),
        ("16", (16, own, 3), [(1, 3, 96, 96)], 15), ("32", (32, own, 3), [(1, 3, 128, 128)], 13))
    add("style", "style_gn", kinds.style, ("8", (8, group, 2), [(1, 3, 48, 48)], 14),
        ("16", (16, group, 2), [(1, 3, 96, 96)], 16))
    add("superresolution", "espcn", kinds.espcn, ("8", (8, 2), [(1, 1, 32, 32)], 13), ("64", (64, 3), [(1, 1, 64, 64)], 16))
    add("superresolution", "pixelshuffle_only", kinds.pixel_shuffle, ("4", (4,), [(1, 3, 128, 128)], 14))
    add("grouped", "groupshuffle", kinds.grouped, ("24", (24, 3, 3), [(1, 3, 32, 32)], 13),
        ("96", (96, 8, 6), [(1, 3, 64, 64)], 15))
    add("excitation", "senet", kinds.excitation, ("16", (16, 3, nn.Sigmoid), [(1, 3, 32, 32)], 13),
        ("64", (64, 6, nn.Hardsigmoid), [(1, 3, 64, 64)], 14))
    add("face", "face_prelu", kinds.face, ("4", (4, 3), [(1, 3, 32, 32)], 13), ("16", (16, 4), [(1, 3, 32, 32)], 15))
    add("sampler", "gridsample", kinds.SpatialTransformer, ("28", (8, 28, 1), [(1, 1, 28, 28)], 16),
        ("160", (16, 160, 3), [(1, 3, 160, 160)], 17))
    add("sampler", "warp", kinds.warp, ("128x16", (), [(1, 16, 128, 128), (1, 128, 128, 2)], 16))
    add("selection", "topk", kinds.best, ("2k", (16, 50), [(1, 16, 16, 16)], 13), ("57k", (16, 300), [(1, 16, 80, 80)], 15))
    add("selection", "argmax", kinds.segmentation, ("48", (12, 1), [(1, 3, 48, 48)], 13),
        ("160", (21, 2), [(1, 3, 160, 160)], 15))
    add("boxes", "boxes", kinds.boxes, ("400", (16,), [(1, 16, 20, 20)], 13), ("6400", (32,), [(1, 32, 80, 80)], 16))
    add("volume", "voxel", kinds.voxels, ("4", (4, 2), [(1, 1, 12, 12, 12)], 13), ("8", (8, 3), [(1, 1, 24, 24, 24)], 14),
        ("16", (16, 3), [(1, 1, 32, 32, 32)], 16), ("24", (24, 3), [(1, 1, 48, 48, 48)], 15))


def add_sequences(add):
    add("vocoder", "vocoder", kinds.vocoder, ("32", (32, 40), [(1, 40, 16)], 13), ("128", (128, 80), [(1, 80, 24)], 15))
    add("sound", "wideconv", kinds.wide_convolution, ("8", (8, 129, 10), [(1, 1, 2000)], 13),
        ("40", (40, 251, 20), [(1, 1, 8000)], 15))
    add("wavenet", "wavenet", kinds.wavenet, ("8", (8, 6), [(1, 1, 256)], 13), ("32", (32, 10), [(1, 1, 1000)], 15),
        ("64", (64, 10), [(1, 1, 4000)], 17))
    add("keyword", "kws", kinds.keyword_spotting, ("16", (16, 2), [(1, 1, 49, 10)], 13), ("64", (64, 4), [(1, 1, 49, 10)], 16))
    add("text", "text", kinds.text, ("1k", (1000, 16, 4), [Indices((1, 32), 1000)], 13),
        ("10k", (10000, 64, 20, 64), [Indices((1, 128), 10000)], 15),
        ("50k", (50000, 256, 100, 256), [Indices((1, 512), 50000)], 17))
    add("text", "textcnn", kinds.text_cnn, ("16", (2000, 16, 16), [Indices((1, 32), 2000)], 13),
        ("100", (20000, 128, 100), [Indices((1, 64), 20000)], 14))
    add("recurrent", "lstm", kinds.tagger, ("24", (nn.LSTM, 500, 16, 24, 1, False), [Indices((1, 12), 500)], 13),
        ("64_bi", (nn.LSTM, 5000, 50, 64, 1, True), [Indices((1, 30), 5000)], 14),
        ("128_2", (nn.LSTM, 10000, 100, 128, 2, False), [Indices((1, 50), 10000)], 15),
        ("256_bi2", (nn.LSTM, 20000, 100, 256, 2, True), [Indices((1, 80), 20000)], 17))
    add("recurrent", "gru", kinds.sensor, ("16", (nn.GRU, 6, 16, 1, False, 6), [(1, 20, 6)], 13),
        ("96_2", (nn.GRU, 40, 96, 2, False, 12), [(1, 49, 40)], 14),
        ("320_bi", (nn.GRU, 80, 320, 1, True, 40), [(1, 100, 80)], 16))
    add("recurrent", "rnn", kinds.sensor, ("64", (nn.RNN, 16, 64, 1, False, 4), [(1, 60, 16)], 15))
    add("transformer", "former", kinds.of_words, ("32", (1000, 32, 2, 1), [Indices((1, 16), 1000)], 13),
        ("96", (5000, 96, 3, 2), [Indices((1, 48), 5000)], 14), ("96_ln17", (5000, 96, 3, 2), [Indices((1, 48), 5000)], 17),
        ("192", (8000, 192, 6, 4), [Indices((1, 128), 8000)], 17), ("384", (16000, 384, 6, 6), [Indices((1, 128), 16000)], 16))
    add("einsum", "einsum", kinds.of_vectors, ("32", (12, 32, 4, 1), [(1, 24, 12)], 13),
        ("128", (64, 128, 4, 2), [(1, 100, 64)], 15), ("64_long", (16, 64, 2, 2), [(1, 400, 16)], 17))
    add("einsum", "linattention", kinds.linear_attention, ("32", (32, 2), [(1, 200, 32)], 14))
    add("sums", "sums", kinds.sums, ("100x6", (6,), [(1, 100, 6)], 13), ("2000x32", (32,), [(1, 2000, 32)], 15))
    add("sums", "cumsum", kinds.cumulated, ("500x64", (32, 64), [(1, 500, 32)], 14))
    add("sums", "logsumexp", kinds.log_sum, ("300", (24, 100), [(1, 300, 24)], 13))


def add_vectors(add):
    add("mlp", "mlp_bn", kinds.mlp, ("32", ([16, 32, 32], nn.BatchNorm1d, nn.ReLU), [(1, 16)], 13),
        ("512", ([256, 512, 512, 512], nn.BatchNorm1d, nn.ELU), [(1, 256)], 14))
    add("mlp", "mlp_ln_gelu", kinds.mlp, ("128", ([64, 128, 128], nn.LayerNorm, nn.GELU), [(1, 64)], 13),
        ("1024", ([512, 1024, 1024], nn.LayerNorm, nn.GELU), [(1, 512)], 17))
    add("mlp", "mlp_softplus", kinds.mlp, ("64", ([3] + [64] * 6, kinds.no_norm, nn.Softplus), [(1, 3)], 13))
    add("mlp", "nerf_softplus", kinds.mlp, ("64", ([39] + [64] * 4, kinds.no_norm, nn.Softplus), [(1024, 39)], 15))
    add("mlp", "mlp_mish", kinds.mlp, ("256", ([128] + [256] * 3, kinds.no_norm, nn.Mish), [(1, 128)], 16))
    add("mlp", "siren", kinds.siren, ("32", (32, 3), [(1, 256, 2)], 14), ("128", (128, 4), [(1, 1024, 2)], 16))
    add("recommender", "recommender", kinds.recommender,
        ("4", (4, 1000, 8, [32, 16], 5), [Indices((1, 4), 1000), (1, 5)], 13),
        ("26", (26, 10000, 16, [256, 128], 13), [Indices((1, 26), 10000), (1, 13)], 14),
        ("60_b64", (60, 2000, 16, [256, 64], 13), [Indices((64, 60), 2000), (64, 13)], 17))
    add("recommender", "interactions", kinds.interactions, ("40", (40, 20000, 32), [Indices((1, 40), 20000)], 15))
    add("graph", "gcn", kinds.gcn, ("100", (32, 16, 2), [(1, 100, 100), (1, 100, 32)], 13),
        ("500", (32, 16, 2), [(1, 500, 500), (1, 500, 32)], 14), ("2000", (32, 32, 2), [(1, 2000, 2000), (1, 2000, 32)], 15))
    add("graph", "gat", kinds.gat, ("200", (32, 16), [(1, 200, 200), (1, 200, 32)], 16))
    add("graph", "mpnn", kinds.MessagePassing, ("50", (50, 200, 16), [(50, 16)], 16),
        ("1000", (1000, 4000, 32), [(1000, 32)], 16))
    add("selection", "retrieval", kinds.retrieval, ("20k", (32, 20000), [(1, 32)], 14))
    add("softmax", "softmax", kinds.softmax, ("10k", (nn.Softmax, 16, 10000), [(1, 16)], 13),
        ("100k", (nn.Softmax, 64, 100000), [(1, 64)], 15))
    add("softmax", "logsoftmax", kinds.softmax, ("100k", (nn.LogSoftmax, 8, 100000), [(1, 8)], 17))


def zoo():
    """(family, name, maker, inputs, version of ONNX's operators) of each network that is a PyTorch module."""
    rows = []

    def add(family, name, make, *variants):
        """Adds networks that differ in size; each variant is the end of the name, the maker's values, inputs, version."""
        for suffix, values, inputs, opset in variants:
            rows.append((family, f"{name}_{suffix}", functools.partial(make, *values), inputs, opset))

    add_images(add)
    add_sequences(add)
    add_vectors(add)
    return rows


def initialise(module):
    """Random weights with which the numbers neither vanish nor grow from layer to layer."""
    for part in module.modules():
        if isinstance(part, (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Linear)):
            nn.init.kaiming_normal_(part.weight, nonlinearity="linear")
            if part.bias is not None:
                nn.init.normal_(part.bias, std=.1)
        elif isinstance(part, (nn.ConvTranspose1d, nn.ConvTranspose2d)):
            terms = part.in_channels * math.prod(kernel / step for kernel, step in zip(part.kernel_size, part.stride))
            nn.init.normal_(part.weight, std=terms ** -.5)
        elif isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            nn.init.normal_(part.running_mean, std=.1)
            nn.init.uniform_(part.running_var, .5, 2)


def build(row):
    """The module of a row of zoo(), with weights by a seed from the name, and inputs for it."""
    _, name, make, inputs, _ = row
    torch.manual_seed(zlib.crc32(name.encode()))
    module = make().eval()
    initialise(module)
    return module, tuple(torch.randint(given.values, given.shape) if isinstance(given, Indices) else torch.randn(given)
                         for given in inputs)


def export(row, path):
    module, inputs = build(row)
    part = path.with_suffix(".part")
    with torch.no_grad():
        torch.onnx.export(module, inputs, str(part), opset_version=row[4],
                          input_names=[f"input{i}" for i in range(len(inputs))])
    part.rename(path)


def save(make, path):
    part = path.with_suffix(".part")
    onnx.save(make(), str(part))
    part.rename(path)


def networks():
    """(name, family, values of the integer inputs, a function that writes it to a path) of each network."""
    rows = [(name, family, "", functools.partial(sizes_zoo.export, make, shape))
            for family, name, make, shape in sizes_zoo.anchors()]
    for row in zoo():
        values = " ".join(f"input{i}={given.values}" for i, given in enumerate(row[3]) if isinstance(given, Indices))
        rows.append((row[1], row[0], values, functools.partial(export, row)))
    return rows + [(name, family, "", functools.partial(save, make)) for family, name, make in kinds_graphs.graphs()]


def main():
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    rows = networks()
    for name, _, _, write in rows:
        path = folder / f"{name}.onnx"
        if (not names or name in names) and not path.exists():
            write(path)
    rows.sort(key=lambda row: hashlib.sha256(row[0].encode()).hexdigest())  # mixes the families
    with open(f"{folder}.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("network", "family", "values")] + [row[:3] for row in rows])


if __name__ == "__main__":
    main()
