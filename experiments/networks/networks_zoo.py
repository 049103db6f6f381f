#!/usr/bin/env python3
"""Writes published networks at several widths and resolutions as ONNX, with random weights, into the folder given.

Run by Debian's python3 with python3-torchvision. A network that is there is not written again.

    python3 networks_zoo.py OUT_DIR [FAMILY ...]    each as OUT_DIR/NAME.onnx
    python3 networks_zoo.py --list                  prints NAME,FAMILY of each
"""
import functools
import sys
import warnings
from pathlib import Path

import torch
from torch import nn
from torchvision import models
from torchvision.models import convnext, densenet, mobilenetv3, resnet, vgg

warnings.filterwarnings("ignore")
CLASSES = 1000


def convolution(inputs, outputs, kernel=3, stride=1, groups=1):
    """A convolution with batch normalisation and ReLU."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(outputs), nn.ReLU())


class MobileNetV1(nn.Module):
    """Howard et al., 2017, Table 1; torchvision has none."""

    def __init__(self, width):
        super().__init__()
        plan = [(32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2)]
        plan += [(512, 512, 1)] * 5 + [(512, 1024, 2), (1024, 1024, 1)]
        layers = [convolution(3, int(32 * width), stride=2)]
        for inputs, outputs, stride in plan:
            a, b = int(inputs * width), int(outputs * width)
            layers += [convolution(a, a, 3, stride, groups=a), convolution(a, b, 1)]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(int(1024 * width), CLASSES)

    def forward(self, x):
        return self.classifier(self.features(x).mean([2, 3]))


class Vgg(nn.Module):
    """Simonyan and Zisserman, ICLR 2015, Table 1, configuration A, B or D, with narrower layers and, since the images are
    smaller, 1,024 instead of 4,096 units behind the convolutions."""

    def __init__(self, configuration, width, batch_norm, resolution):
        super().__init__()
        plan = [c if c == "M" else int(c * width) for c in vgg.cfgs[configuration]]
        self.features = vgg.make_layers(plan, batch_norm)
        units = int(512 * width) * (resolution // 32) ** 2
        self.classifier = nn.Sequential(nn.Linear(units, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(),
                                        nn.Linear(1024, CLASSES))

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class Separable(nn.Sequential):
    """ReLU, depthwise separable convolution, batch normalisation, twice (Zoph et al., CVPR 2018, Appendix A.4)."""

    def __init__(self, inputs, outputs, kernel, stride=1):
        layers = []
        for a, b, s in ((inputs, outputs, stride), (outputs, outputs, 1)):
            layers += [nn.ReLU(), nn.Conv2d(a, a, kernel, s, kernel // 2, groups=a, bias=False),
                       nn.Conv2d(a, b, 1, bias=False), nn.BatchNorm2d(b)]
        super().__init__(*layers)


class NasnetCell(nn.Module):
    """The normal cell of NASNet-A (Zoph et al., CVPR 2018, Fig. 4) on one input; a stride halves the image first."""

    def __init__(self, inputs, channels, stride):
        super().__init__()
        self.entry = nn.Sequential(nn.ReLU(), nn.Conv2d(inputs, channels, 1, stride, bias=False),
                                   nn.BatchNorm2d(channels))
        self.paths = nn.ModuleList([Separable(channels, channels, kernel) for kernel in (5, 3, 5, 3, 3)])
        self.pool = nn.AvgPool2d(3, 1, 1, count_include_pad=False)

    def forward(self, x):
        h = self.entry(x)
        return torch.cat([self.paths[0](h) + self.paths[1](h), self.paths[2](h) + self.paths[3](h),
                          self.pool(h) + h, self.pool(h) + self.pool(h), self.paths[4](h) + h], 1)


class NasnetLike(nn.Module):
    def __init__(self, channels, repeats):
        super().__init__()
        layers, inputs = [convolution(3, channels, stride=2)], channels
        for stage in range(4):
            for cell in range(repeats):
                layers.append(NasnetCell(inputs, channels * 2 ** stage, 2 if cell == 0 else 1))
                inputs = 5 * channels * 2 ** stage
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(inputs, CLASSES)

    def forward(self, x):
        return self.classifier(self.features(x).mean([2, 3]))


class MixerLayer(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.tokens = nn.Sequential(nn.Linear(tokens, width // 2), nn.GELU(), nn.Linear(width // 2, tokens))
        self.channels = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.tokens(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norms[1](x))


class Mixer(nn.Module):
    """MLP-Mixer (Tolstikhin et al., NeurIPS 2021, Fig. 1)."""

    def __init__(self, resolution, patch, width, depth):
        super().__init__()
        self.stem = nn.Conv2d(3, width, patch, patch)
        self.layers = nn.Sequential(*[MixerLayer((resolution // patch) ** 2, width) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.classifier = nn.Linear(width, CLASSES)

    def forward(self, x):
        x = self.layers(self.stem(x).flatten(2).transpose(1, 2))
        return self.classifier(self.norm(x).mean(1))


def mobilenet_v3(arch, width):
    settings, last = mobilenetv3._mobilenet_v3_conf(arch, width_mult=width)  # pylint: disable=protected-access
    return models.MobileNetV3(settings, last)


def vit(resolution, width, depth, heads):
    return models.VisionTransformer(image_size=resolution, patch_size=16, num_layers=depth, num_heads=heads,
                                    hidden_dim=width, mlp_dim=4 * width)


def small_convnext(width, depths):
    """ConvNeXt (Liu et al., CVPR 2022), narrower than its smallest."""
    widths = [width * 2 ** i for i in range(4)] + [None]
    return convnext.ConvNeXt([convnext.CNBlockConfig(widths[i], widths[i + 1], depths[i]) for i in range(4)])


def plain(name, **options):
    return lambda resolution: getattr(models, name)(weights=None, **options)


def zoo():
    """(family, name without resolution, maker of a network for a resolution, resolutions)."""
    basic, bottleneck = resnet.BasicBlock, resnet.Bottleneck
    rows = [("resnet", "resnet10", lambda r: resnet.ResNet(basic, [1, 1, 1, 1]), (128, 224)),
            ("resnet", "resnet18", plain("resnet18"), (96, 160, 224)),
            ("resnet", "resnet34", plain("resnet34"), (96, 160)),
            ("resnet", "resnet26", lambda r: resnet.ResNet(bottleneck, [2, 2, 2, 2]), (128, 192)),
            ("resnet", "resnet50", plain("resnet50"), (96, 128, 160)),
            ("resnet", "resnet101", plain("resnet101"), (96,)),
            ("resnext", "resnext50_32x4d", plain("resnext50_32x4d"), (96, 128)),
            ("resnext", "resnext26_32x4d",
             lambda r: resnet.ResNet(bottleneck, [2, 2, 2, 2], groups=32, width_per_group=4), (128, 160)),
            ("resnet", "wide_resnet50_2", plain("wide_resnet50_2"), (96,)),
            ("alexnet", "alexnet", plain("alexnet"), (224,)),
            ("inception", "googlenet", plain("googlenet", init_weights=False), (96, 128, 160, 224)),
            ("inception", "inception_v3", plain("inception_v3", init_weights=False), (128, 160)),
            ("squeezenet", "squeezenet1_0", plain("squeezenet1_0"), (96, 128, 160)),
            ("squeezenet", "squeezenet1_1", plain("squeezenet1_1"), (128, 160, 224)),
            ("densenet", "densenet121", plain("densenet121"), (96, 128, 160, 224)),
            ("densenet", "densenet169", plain("densenet169"), (96, 128)),
            ("densenet", "densenet201", plain("densenet201"), (96,)),
            ("densenet", "densenet121_k16", lambda r: densenet.DenseNet(16, (6, 12, 24, 16), 32), (128, 224))]
    for name, configuration, width, norm, resolutions in (
            ("vgg11_w0.5", "A", 0.5, False, (96, 128)), ("vgg11_bn_w0.5", "A", 0.5, True, (128,)),
            ("vgg13_w0.5", "B", 0.5, False, (96,)), ("vgg16_bn_w0.5", "D", 0.5, True, (96, 128)),
            ("vgg16_w0.25", "D", 0.25, False, (128, 160)), ("vgg11", "A", 1, False, (96,))):
        rows.append(("vgg", name, functools.partial(Vgg, configuration, width, norm), resolutions))
    for width, resolutions in ((0.25, (224,)), (0.5, (128, 224)), (0.75, (160,)), (1, (128, 160, 192, 224))):
        rows.append(("mobilenet_v1", f"mobilenet_v1_w{width}", lambda r, w=width: MobileNetV1(w), resolutions))
    for width, resolutions in ((0.35, (224,)), (0.5, (128, 224)), (0.75, (160,)), (1.0, (96, 128, 160, 192, 224)),
                               (1.4, (160,))):
        rows.append(("mobilenet_v2", f"mobilenet_v2_w{width}", plain("mobilenet_v2", width_mult=width), resolutions))
    for size, width, resolutions in (("large", 1.0, (128, 160, 224)), ("large", 0.75, (192,)),
                                     ("small", 1.0, (128, 224)), ("small", 0.75, (160,)), ("small", 0.5, (224,))):
        rows.append(("mobilenet_v3", f"mobilenet_v3_{size}_w{width}",
                     lambda r, s=size, w=width: mobilenet_v3(f"mobilenet_v3_{s}", w), resolutions))
    for width, resolutions in ((0.5, (128, 224)), (0.75, (160,)), (1.0, (128, 192, 224)), (1.3, (160,))):
        rows.append(("mnasnet", f"mnasnet_w{width}", lambda r, w=width: models.MNASNet(w), resolutions))
    for width, resolutions in (("0_5", (128, 224)), ("1_0", (128, 160, 224)), ("1_5", (160,)), ("2_0", (128, 192))):
        rows.append(("shufflenet_v2", f"shufflenet_v2_x{width}", plain(f"shufflenet_v2_x{width}"), resolutions))
    for name, resolutions in (("b0", (96, 128, 160, 224)), ("b1", (128, 160)), ("b2", (128,))):
        rows.append(("efficientnet", f"efficientnet_{name}", plain(f"efficientnet_{name}"), resolutions))
    for name, resolutions in (("x_400mf", (128, 160, 224)), ("y_400mf", (128, 160, 224)), ("x_800mf", (160,)),
                              ("y_800mf", (128,)), ("x_1_6gf", (128,)), ("y_1_6gf", (128,))):
        rows.append(("regnet", f"regnet_{name}", plain(f"regnet_{name}"), resolutions))
    for width, depth, heads, resolutions in ((192, 12, 3, (96, 128, 160, 224)), (192, 6, 3, (160, 224)),
                                             (256, 8, 4, (128, 192))):
        rows.append(("vit", f"vit_{width}x{depth}", lambda r, w=width, d=depth, h=heads: vit(r, w, d, h), resolutions))
    for width, depth, patch, resolutions in ((192, 8, 16, (128, 160, 224)), (256, 6, 16, (128, 192)),
                                             (128, 8, 8, (96,))):
        rows.append(("mixer", f"mixer_{width}x{depth}_p{patch}",
                     lambda r, p=patch, w=width, d=depth: Mixer(r, p, w, d), resolutions))
    for channels, repeats, resolutions in ((12, 2, (128, 192)), (16, 2, (128, 160)), (20, 3, (96, 128))):
        rows.append(("nasnet", f"nasnet_like_{channels}x{repeats}",
                     lambda r, c=channels, n=repeats: NasnetLike(c, n), resolutions))
    for width, depths, resolutions in ((40, (2, 2, 6, 2), (128, 192)), (48, (2, 2, 8, 2), (128, 160))):
        rows.append(("convnext", f"convnext_{width}", lambda r, w=width, d=depths: small_convnext(w, d), resolutions))
    return [(family, f"{name}_r{r}", make, r) for family, name, make, resolutions in rows for r in resolutions]


def export(make, resolution, path):
    torch.manual_seed(1)
    network = make(resolution).eval()
    # PRESERVE keeps batch norms apart; without it the exporter folds them into convolutions.
    part = path.with_suffix(".part")
    torch.onnx.export(network, torch.zeros(1, 3, resolution, resolution), str(part), opset_version=13,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False, input_names=["input"],
                      output_names=["output"])
    part.rename(path)


def main():
    arguments = sys.argv[1:]
    if arguments == ["--list"]:
        for family, name, _, _ in zoo():
            print(f"{name},{family}")
        return
    folder, families = Path(arguments[0]), arguments[1:]
    folder.mkdir(parents=True, exist_ok=True)
    for family, name, make, resolution in zoo():
        path = folder / f"{name}.onnx"
        if (not families or family in families) and not path.exists():
            export(make, resolution, path)


if __name__ == "__main__":
    main()
