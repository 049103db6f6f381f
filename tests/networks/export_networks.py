"""Writes the ONNX exports that the tests of the ONNX reader read, with random weights, into the folder given, and beside
each NAME.counts.json: what PyTorch itself multiplies while it runs the network, its parameters, and its outputs' shapes.

Run by Debian's python3 with python3-torchvision: python3 export_networks.py OUT_DIR [NAME ...]
A NAME is one of those below, or `families` for one network of each further family that torchvision has,
or of those that are named behind it.
"""
import json
import math
import sys
import warnings
from pathlib import Path

import torch
import torchvision
from torch.utils._python_dispatch import TorchDispatchMode

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


class Detector(torch.nn.Module):
    """SSDLite on MobileNetV3 (Howard et al., 2019) up to its raw scores and boxes, each map laid out as a row: without
    anchors, and without the choice among overlapping boxes."""

    def __init__(self):
        super().__init__()
        whole = torchvision.models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None)
        self.backbone = whole.backbone
        self.heads = torch.nn.ModuleList([whole.head.classification_head.module_list, whole.head.regression_head.module_list])

    def forward(self, x):
        maps = list(self.backbone(x).values())
        return torch.cat([torch.flatten(part(at), 1) for head in self.heads for part, at in zip(head, maps)], 1)


class Crnn(torch.nn.Module):
    """CRNN (Shi, Bai and Yao, 2017, Table 1), which reads a line of text 32 pixels high. Its two recurrent layers look along
    the line in both directions; in their place a recogniser without them has convolutions along the line."""

    def __init__(self, recurrent):
        super().__init__()
        channels = [(3, 64, "2x2"), (64, 128, "2x2"), (128, 256, ""), (256, 256, "2x1"), (256, 512, "norm"), (512, 512, "norm 2x1")]
        layers = []
        for inputs, outputs, then in channels:
            layers += [torch.nn.Conv2d(inputs, outputs, 3, 1, 1)]
            layers += [torch.nn.BatchNorm2d(outputs)] * ("norm" in then) + [torch.nn.ReLU()]
            if "2x" in then:
                layers += [torch.nn.MaxPool2d(2) if "2x2" in then else torch.nn.MaxPool2d((2, 2), (2, 1), (0, 1))]
        layers += [torch.nn.Conv2d(512, 512, 2, 1, 0), torch.nn.ReLU()]
        self.features = torch.nn.Sequential(*layers)
        self.recurrent = torch.nn.LSTM(512, 256, 2, bidirectional=True) if recurrent else None
        along = {"kernel_size": (1, 3), "padding": (0, 1)}
        self.along = torch.nn.Sequential(torch.nn.Conv2d(512, 512, **along), torch.nn.ReLU(),
                                         torch.nn.Conv2d(512, 512, **along), torch.nn.ReLU())
        self.classes = torch.nn.Linear(512, 37) if recurrent else torch.nn.Conv2d(512, 37, 1)

    def forward(self, x):
        x = self.features(x)
        if self.recurrent is None:
            return self.classes(self.along(x)).softmax(1)
        return self.classes(self.recurrent(x.squeeze(2).permute(2, 0, 1))[0]).softmax(2)


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
ON_REQUEST = {"alexnet": of_torchvision("alexnet"), "googlenet": googlenet, "ssdlite_mobilenet_v3": Detector,
              "crnn": lambda: Crnn(True), "crnn_convolutional": lambda: Crnn(False)}
FAMILIES = """convnext_tiny efficientnet_v2_s maxvit_t mnasnet0_75 regnet_x_400mf regnet_y_800mf resnext50_32x4d swin_t
vgg11_bn vit_b_32 wide_resnet50_2 inception_v3 mc3_18 r2plus1d_18 r3d_18 s3d deeplabv3_mobilenet_v3_large
fcn_resnet50 lraspp_mobilenet_v3_large raft_small fasterrcnn_mobilenet_v3_large_320_fpn fcos_resnet50_fpn
keypointrcnn_resnet50_fpn maskrcnn_resnet50_fpn retinanet_resnet50_fpn ssd300_vgg16 ssdlite320_mobilenet_v3_large""".split()


def of_family(name):
    """With no weights of anybody's; Inception without its second head, which is for training."""
    options = {"weights": None}
    if "rcnn" in name or name.startswith(("fcos", "retinanet", "ssd", "deeplab", "fcn", "lraspp")):
        options["weights_backbone"] = None
    if name == "inception_v3":
        options.update(aux_logits=False, init_weights=False)
    return torchvision.models.get_model(name, **options)


def inputs_of(name):
    if name.startswith("crnn"):
        return (torch.zeros(1, 3, 32, 320),)
    if name in ("mc3_18", "r2plus1d_18", "r3d_18", "s3d"):  # frames come behind channels
        return (torch.zeros(1, 3, 16, *(2 * [224 if name == "s3d" else 112])),)
    if name.startswith("raft"):
        return torch.zeros(1, 3, 128, 160), torch.zeros(1, 3, 128, 160)
    return (torch.zeros(1, 3, 224, 224),)


def tensors_in(values):
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_in(value)


class Multiplied(TorchDispatchMode):
    """Counts multiply-adds of what runs within: every network ends in these operators. What depends on no input is
    computed when a runtime loads the network, and is none of them."""

    def __init__(self, inputs):
        super().__init__()
        self.products = 0
        self.depend = {tensor.data_ptr() for tensor in inputs}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        depends = any(tensor.data_ptr() in self.depend for tensor in tensors_in(args))
        made = function(*args, **(kwargs or {}))
        for tensor in tensors_in([made]):  # memory that was freed is given out again
            (self.depend.add if depends else self.depend.discard)(tensor.data_ptr())
        name = function.__name__.split(".")[0] if depends else ""
        if name in ("convolution", "_convolution"):
            self.products += (args[0] if args[6] else made).numel() * math.prod(args[1].shape[1:])
        elif name in ("mm", "bmm"):
            self.products += made.numel() * args[0].shape[-1]
        elif name in ("addmm", "baddbmm"):
            self.products += made.numel() * args[1].shape[-1]
        return made


def shapes_of(made):
    if isinstance(made, torch.Tensor):
        return [list(made.shape)]
    return [shape for value in (made.values() if isinstance(made, dict) else made) for shape in shapes_of(value)]


def count(network, inputs, path):
    with Multiplied(inputs) as multiplied:  # with gradients: without, transformers take one fused operator
        made = network(*inputs)
    counts = {"products": multiplied.products, "parameters": sum(p.numel() for p in network.parameters()),
              "outputs": shapes_of(made)}
    path.write_text(json.dumps(counts) + "\n")


def export(network, path, opset, inputs=(torch.zeros(1, 3, 224, 224),), **options):
    names = {"input_names": ["input"], "output_names": ["output"]} if len(inputs) == 1 else {}
    # PRESERVE keeps batch norms apart; without it the exporter folds them into convolutions.
    torch.onnx.export(network, inputs, str(path), opset_version=opset, training=torch.onnx.TrainingMode.PRESERVE,
                      do_constant_folding=False, **names, **options)
    count(network, inputs, path.with_suffix(".counts.json"))


def make_distinct(network):
    # The exporter stores equal tensors once, and fresh batch norms all have the same: trained ones have not.
    with torch.no_grad():
        for tensor in list(network.parameters()) + [b for b in network.buffers() if b.is_floating_point()]:
            tensor.add_(1e-3 * torch.rand_like(tensor))


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    names = sys.argv[2:] or list(NETWORKS)
    if names[0] == "families":
        for name in names[1:] or FAMILIES:
            network = of_family(name).eval()
            make_distinct(network)
            try:
                export(network, folder / f"{name}.onnx", 16, inputs_of(name))
            except torch.onnx.errors.OnnxExporterError as error:
                print(f"{name} cannot be exported: {error}")
        return
    for name in names:
        network = {**NETWORKS, **ON_REQUEST}[name]().eval()
        make_distinct(network)
        export(network, folder / f"{name}.onnx", 13, inputs_of(name))
        if name in ("mobilenet_v2", "mobilenet_v3_large"):
            for opset in (9, 11, 16):
                if name == "mobilenet_v2" or opset > 9:
                    export(network, folder / f"{name}.opset{opset}.onnx", opset)
        if name in ("mobilenet_v2", "shufflenet_v2_x1_0"):
            export(network, folder / f"{name}.dynamic.onnx", 13,
                   dynamic_axes={"input": {0: "batch", 2: "height", 3: "width"}})


if __name__ == "__main__":
    main()
