"""Search spaces (`tenshot.space/1`) from torch modules: torch.fx follows what they do, and what it finds is written as
operators. Needs torch; the module `tenshot` itself does not."""
import copy
import json
import operator
import os
import tempfile

import torch
import torch.fx
from torch.nn import functional

from .native import Error, Space

FORMAT = "tenshot.space/1"
ACTIVATIONS = {
    torch.nn.ReLU: "relu", torch.nn.ReLU6: "relu6", torch.nn.Hardswish: "hard_swish",
    torch.nn.Hardsigmoid: "hard_sigmoid", torch.nn.SiLU: "silu", torch.nn.Sigmoid: "sigmoid", torch.nn.GELU: "gelu",
    torch.nn.Tanh: "tanh"}
ACTIVATION_FUNCTIONS = {
    functional.relu: "relu", torch.relu: "relu", functional.relu6: "relu6", functional.hardswish: "hard_swish",
    functional.hardsigmoid: "hard_sigmoid", functional.silu: "silu", torch.sigmoid: "sigmoid",
    functional.sigmoid: "sigmoid", functional.gelu: "gelu", torch.tanh: "tanh", functional.tanh: "tanh"}
ADDITIONS = {operator.add, operator.iadd, torch.add, "add", "add_"}
PRODUCTS = {operator.mul, operator.imul, torch.mul, "mul", "mul_"}
CONCATENATIONS = {torch.cat, torch.concat}
MEANS = {torch.mean, "mean"}
FLATTENINGS = {torch.flatten, "flatten", "view", "reshape"}
NOTHING = (torch.nn.Identity, torch.nn.Dropout, torch.nn.Dropout2d)


def _pair(value):
    return [value, value] if isinstance(value, int) else list(value)


def _padding(module):
    """Of a convolution, whose padding may be a word."""
    if module.padding == "valid":
        return [0, 0]
    if module.padding == "same":
        sizes = [d * (k - 1) for d, k in zip(module.dilation, module.kernel_size)]
        if any(size % 2 for size in sizes):
            raise ValueError(f"{module} pads one side more than the other; give a kernel of odd size")
        return [size // 2 for size in sizes]
    return _pair(module.padding)


def _convolution(module):
    if module.padding_mode != "zeros":
        raise ValueError(f"{module} pads with something else than zeros, which a space does not describe")
    entry = {"kind": "convolution", "channels": module.out_channels, "kernel": _pair(module.kernel_size),
             "stride": _pair(module.stride), "padding": _padding(module), "dilation": _pair(module.dilation)}
    if module.groups > 1:
        entry["groups"] = module.groups
    if module.bias is not None:
        entry["bias"] = True
    return entry


def _pool(kind, module):
    if module.ceil_mode:
        raise ValueError(f"{module} rounds its output's size up, which a space does not describe")
    stride = module.kernel_size if module.stride is None else module.stride
    entry = {"kind": kind, "kernel": _pair(module.kernel_size), "stride": _pair(stride),
             "padding": _pair(module.padding)}
    if kind == "max_pool" and _pair(module.dilation) != [1, 1]:
        entry["dilation"] = _pair(module.dilation)
    return entry


def _global_pool(size, what):
    if size not in (1, (1, 1), [1, 1]):
        raise ValueError(f"{what} gives {size} positions; a space describes a pool over all of them, to one")
    return {"kind": "global_pool"}


def _module_entry(module):
    """The operator of one torch module; None for one that does nothing when it infers."""
    if isinstance(module, NOTHING):
        return None
    if isinstance(module, torch.nn.Conv2d) and not isinstance(module, torch.nn.LazyConv2d):
        return _convolution(module)
    if isinstance(module, torch.nn.BatchNorm2d):
        if not module.affine:
            raise ValueError(f"{module} has no scale and shift, which a space's batch_norm has")
        return {"kind": "batch_norm"}
    if isinstance(module, torch.nn.Linear):
        return {"kind": "linear", "channels": module.out_features, "bias": module.bias is not None}
    if isinstance(module, torch.nn.MaxPool2d):
        return _pool("max_pool", module)
    if isinstance(module, torch.nn.AvgPool2d):
        return _pool("average_pool", module)
    if isinstance(module, torch.nn.AdaptiveAvgPool2d):
        return _global_pool(module.output_size, module)
    if isinstance(module, torch.nn.ChannelShuffle):
        return {"kind": "shuffle", "groups": module.groups}
    if isinstance(module, torch.nn.Flatten):
        return {"kind": "flatten"}
    if isinstance(module, torch.nn.Softmax):
        return {"kind": "softmax"}
    for kind, name in ACTIVATIONS.items():
        if isinstance(module, kind):
            return {"kind": "activation", "name": name}
    raise ValueError(f"{module} is no operator that a space describes; there are convolutions, linear layers, pools, "
                     "batch norms, activations, shuffles, softmax and flatten")


INPUT_NODE = "placeholder"  # torch.fx's name of a node that is an input of the graph


class _Trace:
    """A module as a graph with one input and one output, and the operators on the ways through it."""

    def __init__(self, module):
        try:
            self.traced = torch.fx.symbolic_trace(torch.nn.Sequential(module))  # so that a module of torch.nn stays one
        except Exception as error:
            raise ValueError(f"torch.fx cannot follow {type(module).__name__}: {error}") from error
        self.modules = dict(self.traced.named_modules())
        inputs = [node for node in self.traced.graph.nodes if node.op == INPUT_NODE]
        if len(inputs) != 1:
            raise ValueError(f"{type(module).__name__} takes {len(inputs)} inputs, expected one tensor")
        self.input = inputs[0]
        self.output = next(node for node in self.traced.graph.nodes if node.op == "output").args[0]
        if not isinstance(self.output, torch.fx.Node):
            raise ValueError(f"{type(module).__name__} gives something else than one tensor")
        self.before = {}  # of each node, what every way from the input to it passes, itself included
        for node in self.traced.graph.nodes:
            if node.op == "output":
                continue
            sources = [self.before[source] for source in self.sources(node)]
            self.before[node] = (set.intersection(*sources) if sources else set()) | {node}

    def sources(self, node):
        """What a node computes with, each as often as it stands there; of a flattening, not its sizes."""
        if node.target in FLATTENINGS:
            return [node.args[0]]
        found = []
        torch.fx.node.map_arg((node.args, node.kwargs), found.append)
        return [source for source in found if source.op != "get_attr"]

    def operators(self):
        return self.between(self.input, self.output)

    def between(self, start, node):
        """The operators on the way from `start`, through which every way to `node` passes."""
        if node is start:
            return []
        if node.op == "call_module":
            entry = _module_entry(self.modules[node.target])
        elif node.op in ("call_function", "call_method"):
            sources = self.sources(node)
            if len(sources) > 1:
                return self.joint(start, node, sources)
            entry = self.function_entry(node)
        else:
            raise ValueError(f"{node.target} is a tensor of the module's own, which a space does not describe")
        return self.between(start, self.sources(node)[0]) + ([] if entry is None else [entry])

    def function_entry(self, node):
        target = node.target
        if target in ACTIVATION_FUNCTIONS:
            return {"kind": "activation", "name": ACTIVATION_FUNCTIONS[target]}
        if target in FLATTENINGS:
            return {"kind": "flatten"}
        if target is functional.dropout:
            return None
        if target is functional.adaptive_avg_pool2d:
            return _global_pool(node.args[1] if len(node.args) > 1 else node.kwargs["output_size"], target.__name__)
        if target in MEANS:
            axes = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
            axes = [axes] if isinstance(axes, int) else axes or []
            if sorted(axis % 4 for axis in axes) == [2, 3]:
                return {"kind": "global_pool"}
        name = target if isinstance(target, str) else getattr(target, "__name__", str(target))
        raise ValueError(f"the function {name} is none that a space describes; use a module of torch.nn where there is one")

    def joint(self, start, node, sources):
        """Operators up to where the ways part, then the ways, joined."""
        common = set.intersection(*(self.before[source] for source in sources))
        fork = max(common, key=lambda each: len(self.before[each]))
        ways = [self.between(fork, source) for source in sources]
        self.require_apart(fork, sources)
        head = self.between(start, fork)
        if node.target in ADDITIONS:
            return head + [{"kind": "branches", "join": "add", "operators": ways}]
        if node.target in CONCATENATIONS:
            axis = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim", 0)
            if axis not in (1, -3):
                raise ValueError(f"a concatenation along axis {axis}; a space describes those of channels, axis 1")
            return head + [{"kind": "branches", "join": "concatenate", "operators": ways}]
        if node.target in PRODUCTS and [] in ways and len(ways) == 2:
            return head + [{"kind": "scale", "operators": ways[0] or ways[1]}]
        raise ValueError(f"the function {getattr(node.target, '__name__', node.target)} of several tensors is none that "
                         "a space describes; there are sums, concatenations, and products with a factor for each channel")

    def require_apart(self, fork, sources):
        """Ways that share an operator after they parted would be written twice."""
        seen = set()
        for source in sources:
            way, rest = set(), [source]
            while rest:
                node = rest.pop()
                if node is fork or node in way:
                    continue
                way.add(node)
                rest += self.sources(node)
            shared = seen & way
            if shared:
                raise ValueError(f"the output of {next(iter(shared)).name} is used in several branches, which a space "
                                 "does not describe")
            seen |= way


def _operators(module):
    """What a module executes, as entries of a space; [] for None."""
    return [] if module is None else _Trace(copy.deepcopy(module).eval()).operators()


def _require_flat(module, inputs):
    if inputs[0].dim() != 2:
        raise ValueError(f"{module} takes a tensor of {inputs[0].dim()} dimensions; a space's linear layer takes a flat one")


def _shape_after(module, tensor, place):
    if module is None:
        return tensor
    module = copy.deepcopy(module).eval()  # the caller's goes on training
    hooks = [each.register_forward_pre_hook(_require_flat) for each in module.modules() if isinstance(each, torch.nn.Linear)]
    try:
        with torch.no_grad():
            result = module(tensor)
    finally:
        for hook in hooks:
            hook.remove()
    if not isinstance(result, torch.Tensor):
        raise ValueError(f"{place} gives something else than one tensor")
    return result


def _require_readable(document):
    """What the program does not read, as a sum of tensors of unlike shapes, is not given either."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "space.json")
        with open(file, "w", encoding="utf-8") as text:
            json.dump(document, text)
        try:
            Space(file)
        except Error as error:
            raise ValueError(str(error).replace(f"{file}: ", "")) from None


def space_from_modules(name, layers, *, input, stem=None, head=None, path=None):
    """A search space from torch modules, as the dict that a file FILE.json of `tenshot.space/1` holds.

    name    what the space is called, such as "my-space"
    layers  one dict for each decision, in order: the option's name and the torch.nn.Module that it stands for. All
            options of a decision take the same tensor and give the same shape; torch.nn.Identity() is a skip.
    input   (channels, resolution) of the image, such as (3, 224)
    stem    a module before the first decision, or None
    head    a module after the last one, or None
    path    a file to write as well

    What a module executes is followed by torch.fx: convolutions, linear layers, pools, batch norms, activations, sums
    (residual connections), concatenations, and products with a factor for each channel (squeeze and excitation). An
    architecture is written as the names of its options joined by '|'. Raises ValueError that names the decision and
    the option where a module does something else.
    """
    channels, resolution = input
    tensor = torch.zeros(1, channels, resolution, resolution)

    def described(module, place):
        try:
            return _operators(module)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None

    document = {"format": FORMAT, "name": name, "input": {"channels": channels, "resolution": resolution}, "layers": []}
    if stem is not None:
        document["stem"] = described(stem, "the stem")
        tensor = _shape_after(stem, tensor, "the stem")
    for index, options in enumerate(layers):
        outputs, entries = {}, []
        for option, module in options.items():
            place = f"decision {index}, option {option}"
            entries.append({"name": option, "operators": described(module, place)})
            outputs[option] = _shape_after(module, tensor, place)
        shapes = {option: tuple(output.shape) for option, output in outputs.items()}
        if len(set(shapes.values())) != 1:
            raise ValueError(f"decision {index}: its options give unlike shapes: {shapes}")
        output = next(iter(outputs.values()))
        document["layers"].append({"out": output.shape[1], "options": entries})
        tensor = output
    if head is not None:
        document["head"] = described(head, "the head")
        tensor = _shape_after(head, tensor, "the head")
    if tensor.dim() == 2:
        document["classes"] = tensor.shape[1]
    _require_readable(document)
    if path is not None:
        temporary = f"{os.fspath(path)}.partial"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
        os.replace(temporary, path)
    return document
