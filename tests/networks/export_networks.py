"""Writes the ONNX exports that the tests of the ONNX reader read, with random weights, into the folder given.

Run by Debian's python3 with python3-torchvision: python3 export_networks.py OUT_DIR [NAME ...]
"""
import sys
import warnings
from pathlib import Path

import torch
import torchvision

warnings.filterwarnings("ignore")


class MobileNetV1(torch.nn.Module):
    """Howard et al., 2017, Table 1; torchvision has none."""

    def __init__(self):
        super().__init__()
        channels = [(32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2)]
        channels += [(512, 512, 1)] * 5 + [(512, 1024, 2), (1024, 1024, 1)]
        layers = self.block(3, 32, 3, 2, 1)
        for inputs, outputs, stride in channels:
            layers += self.block(inputs, inputs, 3, stride, inputs) + self.block(inputs, outputs, 1, 1, 1)
        self.features = torch.nn.Sequential(*layers)
        self.classifier = torch.nn.Linear(1024, 1000)

    @staticmethod
    def block(inputs, outputs, kernel, stride, groups):
        convolution = torch.nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
        return [convolution, torch.nn.BatchNorm2d(outputs), torch.nn.ReLU()]

    def forward(self, x):
        return self.classifier(self.features(x).mean([2, 3]))


def vit_tiny():
    """ViT-Ti/16 of Touvron et al., ICML 2021, Table 1."""
    return torchvision.models.VisionTransformer(
        image_size=224, patch_size=16, num_layers=12, num_heads=3, hidden_dim=192, mlp_dim=768)


def of_torchvision(name):
    return lambda: getattr(torchvision.models, name)(weights=None)


def googlenet():
    return torchvision.models.googlenet(weights=None, aux_logits=False, init_weights=False)


NETWORKS = {name: of_torchvision(name) for name in (
    "resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small", "squeezenet1_0",
    "efficientnet_b0", "shufflenet_v2_x1_0", "densenet121")}
NETWORKS["mobilenet_v1"] = MobileNetV1
NETWORKS["vit_tiny"] = vit_tiny
# Larger ones, which are exported when they are named.
ON_REQUEST = {"alexnet": of_torchvision("alexnet"), "googlenet": googlenet}


def export(network, path, opset, **options):
    # PRESERVE keeps batch norms apart; without it the exporter folds them into convolutions.
    torch.onnx.export(network, torch.zeros(1, 3, 224, 224), str(path), opset_version=opset,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                      input_names=["input"], output_names=["output"], **options)


def make_distinct(network):
    # The exporter stores equal tensors once, and fresh batch norms all have the same: trained ones have not.
    with torch.no_grad():
        for tensor in list(network.parameters()) + [b for b in network.buffers() if b.is_floating_point()]:
            tensor.add_(1e-3 * torch.rand_like(tensor))


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    for name in sys.argv[2:] or NETWORKS:
        network = {**NETWORKS, **ON_REQUEST}[name]().eval()
        make_distinct(network)
        export(network, folder / f"{name}.onnx", 13)
        if name in ("mobilenet_v2", "mobilenet_v3_large"):
            for opset in (9, 11, 16):
                if name == "mobilenet_v2" or opset > 9:
                    export(network, folder / f"{name}.opset{opset}.onnx", opset)
        if name in ("mobilenet_v2", "shufflenet_v2_x1_0"):
            export(network, folder / f"{name}.dynamic.onnx", 13,
                   dynamic_axes={"input": {0: "batch", 2: "height", 3: "width"}})


if __name__ == "__main__":
    main()
