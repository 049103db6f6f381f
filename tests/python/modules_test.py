"""tenshot.space_from_modules against torch: /usr/bin/python3 modules_test.py FOLDER_OF_MODULE PROGRAM SOURCE_FOLDER

For every architecture of a space that is made from modules, the multiply-adds and the parameters that tenshot counts are
those of the torch network. Without torch the test says so and exits with 77, which ctest counts as skipped."""
import itertools
import json
import pathlib
import sys
import tempfile
import unittest

try:
    import torch
    from torch import nn
except ImportError:
    print("skipped: torch not found; apt install python3-torch")
    sys.exit(77)

sys.path.insert(0, sys.argv[1])
import made_up_board  # noqa: E402
import tenshot  # noqa: E402


class SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.factors = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, channels // 4, 1), nn.ReLU(),
                                     nn.Conv2d(channels // 4, channels, 1), nn.Hardsigmoid())

    def forward(self, x):
        return x * self.factors(x)


class Bottleneck(nn.Module):
    """Of MobileNetV3: expand, depthwise, project; added to its input where the shapes are equal."""

    def __init__(self, inputs, outputs, kernel, stride=1, expansion=3, squeeze=False):
        super().__init__()
        wide = expansion * inputs
        self.layers = nn.Sequential(
            nn.Conv2d(inputs, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, wide, kernel, stride, kernel // 2, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            *([SqueezeExcite(wide)] if squeeze else []),
            nn.Conv2d(wide, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.layers(x) if self.shortcut else self.layers(x)


class Branches(nn.Module):
    """Two ways from one point, concatenated, after a shuffle of groups."""

    def __init__(self, channels):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(channels, channels, 1, groups=4), nn.ChannelShuffle(4))
        self.left = nn.Conv2d(channels, channels // 2, 3, padding="same", dilation=2)
        self.right = nn.Sequential(nn.MaxPool2d(3, 1, 1), nn.Conv2d(channels, channels // 2, 1))

    def forward(self, x):
        x = nn.functional.relu(self.first(x))
        return torch.cat([self.left(x), self.right(x)], dim=1)


class Sum(nn.Module):
    """Ways of unlike operators, added."""

    def __init__(self, channels):
        super().__init__()
        self.left = nn.Conv2d(channels, channels, (1, 5), padding=(0, 2))
        self.right = nn.AvgPool2d(3, 1, 1)

    def forward(self, x):
        return torch.add(self.left(x), self.right(x))


class Head(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.linear = nn.Linear(channels, classes)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        x = x.mean([2, 3])
        return self.linear(self.dropout(x.view(x.size(0), -1)))


def make_parts():
    stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish())
    layers = [
        {"k3": Bottleneck(16, 24, 3, 2), "k5": Bottleneck(16, 24, 5, 2, expansion=6)},
        {"k3": Bottleneck(24, 24, 3), "k5_se": Bottleneck(24, 24, 5, squeeze=True), "branches": Branches(24),
         "sum": Sum(24), "skip": nn.Identity()}]
    return stem, layers, Head(24, 10)


def count(network, image):
    """Multiply-adds of convolutions and linear layers, and parameters."""
    multiply_adds = []

    def add(module, inputs, output):
        window = module.weight[0].numel()  # of one output element: what it is the sum of
        multiply_adds.append(output.numel() * window)

    hooks = [module.register_forward_hook(add) for module in network.modules()
             if isinstance(module, (nn.Conv2d, nn.Linear))]
    with torch.no_grad():
        network.eval()(image)
    for hook in hooks:
        hook.remove()
    return sum(multiply_adds), sum(parameter.numel() for parameter in network.parameters())


class ModulesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def refused(self, module, words):
        with self.assertRaisesRegex(ValueError, words):
            tenshot.space_from_modules("wrong", [{"fine": nn.Conv2d(3, 3, 1)}, {"odd": module}], input=(3, 8))

    def test_every_architecture_counts_as_its_torch_network_does(self):
        stem, layers, head = make_parts()
        path = self.folder / "made.json"
        document = tenshot.space_from_modules("made", layers, input=(3, 32), stem=stem, head=head, path=path)
        self.assertEqual(json.loads(path.read_text()), document)
        self.assertEqual(document["classes"], 10)
        space = tenshot.Space(str(path))
        self.assertEqual((space.name, space.size, space.decisions), ("made", 10, [2, 5]))
        for names in itertools.product(*layers):
            network = nn.Sequential(stem, *(layer[name] for layer, name in zip(layers, names)), head)
            architecture = "|".join(names)
            with self.subTest(architecture=architecture):
                expected = count(network, torch.zeros(1, 3, 32, 32))
                self.assertEqual((space.multiply_adds(architecture), space.parameters(architecture)), expected)

    def test_what_it_executes_is_named_in_order(self):
        stem, layers, head = make_parts()
        path = self.folder / "made.json"
        tenshot.space_from_modules("made", layers, input=(3, 32), stem=stem, head=head, path=path)
        lines = tenshot.Space(str(path)).operators("k3|skip")
        self.assertEqual(lines[0], "convolution 3x3 stride 2x2 1x3x32x32 -> 1x16x16x16 float32")
        self.assertEqual([line.split()[0] for line in lines],
                         ["convolution", "batch_norm", "activation"] * 3 + ["convolution", "batch_norm", "global_pool"]
                         + ["reshape", "linear"])

    def test_shapes_that_an_onnx_file_leaves_open_are_given(self):
        """As a file of torch's own exporter, against the same network at a fixed size."""
        network, axes = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU()), {"image": {2: "height", 3: "width"}}
        for name, size, dynamic in (("fixed", 20, None), ("open", 16, axes)):
            torch.onnx.export(network, torch.zeros(1, 3, size, size), self.folder / f"{name}.onnx", input_names=["image"],
                              dynamic_axes=dynamic)
        board = tenshot.load(made_up_board.write(sys.argv[2], self.folder))
        fixed = board.predict(str(self.folder / "fixed.onnx"))
        with self.assertRaisesRegex(tenshot.InputError, "image"):
            board.predict(str(self.folder / "open.onnx"))
        self.assertEqual(board.predict(str(self.folder / "open.onnx"), shapes={"image": [1, 3, 20, 20]}), fixed)

    def test_what_a_space_does_not_describe_is_refused_by_name(self):
        self.refused(nn.LeakyReLU(), "decision 1, option odd: LeakyReLU.*is no operator")
        self.refused(nn.MaxPool2d(2, ceil_mode=True), "rounds its output's size up")
        self.refused(nn.Conv2d(3, 3, 3, padding=1, padding_mode="reflect"), "something else than zeros")
        self.refused(nn.AdaptiveAvgPool2d(2), "over all of them")

        class Shared(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Conv2d(3, 3, 1), nn.Conv2d(3, 3, 1)

            def forward(self, x):
                once = self.first(x)
                return torch.cat([x, once, self.second(once)], dim=1)

        self.refused(Shared(), "used in several branches")

        class Context(nn.Module):
            def __init__(self):
                super().__init__()
                self.pool, self.conv = nn.AdaptiveAvgPool2d(1), nn.Conv2d(3, 3, 1)

            def forward(self, x):
                return x + self.conv(self.pool(x))

        self.refused(Context(), "does not fit 3x8x8")
        with self.assertRaisesRegex(ValueError, "takes a tensor of 3 dimensions"):
            tenshot.space_from_modules("rows", [{"a": nn.Conv2d(3, 3, 1), "b": nn.Identity()}], input=(3, 8),
                                       head=nn.Sequential(nn.Flatten(2), nn.Linear(64, 2)))

        class Branching(nn.Module):
            def forward(self, x):
                return x if x.sum() > 0 else -x

        self.refused(Branching(), "torch.fx cannot follow Branching")
        with self.assertRaisesRegex(ValueError, "decision 0: its options give unlike shapes"):
            tenshot.space_from_modules("wrong", [{"a": nn.Conv2d(3, 4, 1), "b": nn.Identity()}], input=(3, 8))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
