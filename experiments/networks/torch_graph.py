"""Runs an ONNX graph of fixed shapes operator by operator in PyTorch, as a module of PyTorch would that has its operators."""

import numpy
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper


def strip(model, largest=64):
    """Weights of more values than that lose them: a file then says what its tensors are like, and is small."""
    for tensor in model.graph.initializer:
        if numpy.prod(tensor.dims) > largest:
            tensor.ClearField("raw_data")
            tensor.ClearField("float_data")
    return model


def fill(model, seed=1):
    """Random values for weights that `strip` took away; positive ones, since some are variances."""
    draw = numpy.random.default_rng(seed)
    for tensor in model.graph.initializer:
        if not tensor.raw_data and not tensor.float_data and tensor.data_type == onnx.TensorProto.FLOAT:
            values = 0.02 * draw.random(tuple(tensor.dims), dtype=numpy.float32) + 0.001
            tensor.raw_data = values.tobytes()
    return model


def numbers(tensor):
    return [int(value) for value in tensor.reshape(-1)]


def padded(x, pads, value=0.0):
    """`pads` as ONNX says them: what is added before each axis, then behind each."""
    half = len(pads) // 2
    flat = [pad for axis in reversed(range(half)) for pad in (pads[axis], pads[half + axis])]
    return F.pad(x, flat, value=value) if any(flat) else x


def windows(x, attributes, value=0.0):
    """The input and the symmetric pads that a convolution or pool of PyTorch takes."""
    pads = attributes.get("pads", [0] * 2 * len(attributes.get("kernel_shape", [0, 0])))
    half = len(pads) // 2
    if pads[:half] == pads[half:]:
        return x, pads[:half]
    return padded(x, [0, 0, *pads[:half], 0, 0, *pads[half:]], value), [0] * half


def convolution(a):
    def run(x, weight, bias=None):
        x, pads = windows(x, {**a, "kernel_shape": list(weight.shape[2:])})
        return F.conv2d(x, weight, bias, a.get("strides", 1), pads, a.get("dilations", 1), a.get("group", 1))
    return run


def largest_of_window(a):
    def run(x):
        x, pads = windows(x, a, -torch.inf)
        return F.max_pool2d(x, a["kernel_shape"], a.get("strides"), pads, ceil_mode=bool(a.get("ceil_mode", 0)))
    return run


def mean_of_window(a):
    def run(x):
        x, pads = windows(x, a)
        return F.avg_pool2d(x, a["kernel_shape"], a.get("strides"), pads, bool(a.get("ceil_mode", 0)),
                            bool(a.get("count_include_pad", 0)))
    return run


def slices(x, starts, ends, axes=None, steps=None):
    axes = numbers(axes) if axes is not None else range(len(numbers(starts)))
    index = [slice(None)] * x.dim()
    for i, axis in enumerate(axes):
        index[axis] = slice(numbers(starts)[i], numbers(ends)[i], numbers(steps)[i] if steps is not None else 1)
    return x[tuple(index)]


def reshaped(x, shape):
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(numbers(shape))])


def unsqueezed(x, axes):
    for axis in sorted(numbers(axes)):
        x = x.unsqueeze(axis)
    return x


def gathered(a):
    axis = a.get("axis", 0)

    def run(x, index):
        if index.dim() == 0:
            return x.select(axis, int(index))
        if index.numel() == 1:
            return x.narrow(axis, int(index) % x.shape[axis], 1)
        return x.index_select(axis, (index % x.shape[axis]).to(x.device))
    return run


OPERATORS = {  # each takes attributes, and says what runs on tensors
    "Identity": lambda a: lambda x: x,
    "Constant": lambda a: lambda: a["value"],
    "Conv": convolution,
    "BatchNormalization": lambda a: lambda x, s, b, m, v: F.batch_norm(x, m, v, s, b, False, 0.0, a.get("epsilon", 1e-5)),
    "Relu": lambda a: F.relu,
    "Sigmoid": lambda a: torch.sigmoid,
    "HardSigmoid": lambda a: lambda x: (x * a.get("alpha", 0.2) + a.get("beta", 0.5)).clamp(0, 1),
    "Tanh": lambda a: torch.tanh,
    "Erf": lambda a: torch.erf,
    "Sqrt": lambda a: torch.sqrt,
    "Clip": lambda a: lambda x, low=None, high=None: x.clamp(*(None if e is None else float(e) for e in (low, high))),
    "Mul": lambda a: torch.mul,
    "Add": lambda a: torch.add,
    "Sub": lambda a: torch.sub,
    "Div": lambda a: lambda x, y: torch.div(x, y) if x.is_floating_point() else torch.div(x, y, rounding_mode="trunc"),
    "Pow": lambda a: lambda x, y: torch.pow(x, float(y)),
    "Concat": lambda a: lambda *x: torch.cat(x, a["axis"]),
    "Unsqueeze": lambda a: unsqueezed,
    "Transpose": lambda a: lambda x: x.permute(a["perm"]),
    "ReduceMean": lambda a: lambda x: x.mean(a["axes"], bool(a.get("keepdims", 1))),
    "MatMul": lambda a: torch.matmul,
    "Reshape": lambda a: reshaped,
    "GlobalAveragePool": lambda a: lambda x: F.adaptive_avg_pool2d(x, 1),
    "Slice": lambda a: slices,
    "MaxPool": largest_of_window,
    "AveragePool": mean_of_window,
    "Gemm": lambda a: lambda x, w, b=None: F.linear(x, w if a.get("transB", 0) else w.t(), b),
    "Flatten": lambda a: lambda x: x.flatten(a.get("axis", 1)),
    "Shape": lambda a: lambda x: torch.tensor(x.shape),
    "Gather": gathered,
    "Split": lambda a: lambda x, sizes: torch.split(x, numbers(sizes), a.get("axis", 0)),
    "Softmax": lambda a: lambda x: torch.softmax(x, a.get("axis", -1)),
    "Pad": lambda a: lambda x, pads, value=None: padded(x, numbers(pads)),
    "ConstantOfShape": lambda a: lambda shape: torch.full(numbers(shape), a["value"].item()),
    "Equal": lambda a: torch.eq,
    "Where": lambda a: torch.where,
    "Expand": lambda a: lambda x, shape: x.expand(torch.broadcast_shapes(x.shape, numbers(shape))),
}
ON_HOST = {"Reshape": (1,), "Unsqueeze": (1,), "Slice": (1, 2, 3, 4), "Split": (1,), "Pad": (1, 2), "Clip": (1, 2), "Pow": (1,),
           "Gather": (1,), "Expand": (1,), "ConstantOfShape": (0,)}  # inputs that say what to do, not what to do it with


class Graph:
    """A model ready to run: what does not depend on the input is computed once, as a module's own constructor does."""

    def __init__(self, model, device, dtype=torch.float32, channels_last=False):
        def placed(tensor):
            tensor = tensor.to(device, dtype) if tensor.is_floating_point() else tensor
            return tensor.contiguous(memory_format=torch.channels_last) if channels_last and tensor.dim() == 4 else tensor

        known = {tensor.name: torch.from_numpy(numpy_helper.to_array(tensor).copy()) for tensor in model.graph.initializer}
        entry = next(value for value in model.graph.input if value.name not in known)
        self.entry, self.result = entry.name, model.graph.output[0].name
        shape = [size.dim_value for size in entry.type.tensor_type.shape.dim]
        self.input = placed(torch.rand(shape))
        self.steps, on_device, seen = [], {}, {self.entry: self.input}
        for node in model.graph.node:
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            if "value" in attributes:
                attributes["value"] = torch.from_numpy(numpy_helper.to_array(attributes["value"]).copy())
            if node.op_type not in OPERATORS:
                raise ValueError(f"the operator {node.op_type} is not known here")
            run = OPERATORS[node.op_type](attributes)
            names = list(node.input)
            while names and not names[-1]:
                names.pop()
            if node.op_type == "Shape" or all(not name or name in known for name in names):
                value = run(*(known[name] if name in known else seen[name] if name else None for name in names))
                known[node.output[0]] = value.cpu()
                continue
            fixed = []
            for i, name in enumerate(names):
                if name in known and i not in ON_HOST.get(node.op_type, ()):
                    if name not in on_device:
                        on_device[name] = placed(known[name])
                    fixed.append(on_device[name])
                else:
                    fixed.append(known.get(name))
            self.steps.append((run, names, fixed, list(node.output)))
            found = run(*(seen[name] if value is None and name else value for name, value in zip(names, fixed)))
            seen.update(zip(node.output, found if isinstance(found, (tuple, list)) else (found,)))
        self.finish()

    def finish(self):
        """Tensors get numbers and are let go of behind their last use."""
        number, last = {self.entry: 0}, {}
        for at, (_, names, fixed, outputs) in enumerate(self.steps):
            for name in outputs:
                number.setdefault(name, len(number))
            for name, value in zip(names, fixed):
                if name and value is None:
                    last[name] = at
        self.places, self.end = len(number), number[self.result]
        gone = [[] for _ in self.steps]
        for name, at in last.items():
            if name != self.result:
                gone[at].append(number[name])
        self.program = [(run, [(number[name], None) if name and value is None else (-1, value) for name, value in zip(names, fixed)],
                         [number[name] for name in outputs], gone[at])
                        for at, (run, names, fixed, outputs) in enumerate(self.steps)]

    def __call__(self):
        values = [None] * self.places
        values[0] = self.input
        for run, inputs, outputs, gone in self.program:
            found = run(*[values[at] if at >= 0 else value for at, value in inputs])
            if len(outputs) == 1 and not isinstance(found, tuple):
                values[outputs[0]] = found
            else:
                for at, value in zip(outputs, found):
                    values[at] = value
            for at in gone:
                values[at] = None
        return values[self.end]
