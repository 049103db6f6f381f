"""Networks of experiments/networks/kinds_zoo.py that PyTorch's exporter does not write: quantised ones, and those with
operators of ONNX alone. Each is made node by node, with random weights and a batch of one."""
import functools
import math
import zlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

STEP = .03  # the scale of quantised activations


class Graph:
    """A graph to which constants and nodes are added in order. Both kinds of addition return names of tensors."""

    def __init__(self, seed):
        self.nodes, self.weights, self.random, self.count = [], [], numpy.random.default_rng(seed), 0

    def const(self, value, dtype=numpy.float32):
        """A constant; a single number becomes a tensor of one element."""
        self.count += 1
        name = f"w{self.count}"
        self.weights.append(numpy_helper.from_array(numpy.ascontiguousarray(value, dtype), name))
        return name

    def normal(self, *shape):
        """Random weights with which the layers keep the size of what they read."""
        return self.const(self.random.normal(size=shape) * math.sqrt(2 / numpy.prod(shape[1:] or (2,))))

    def int8(self, *shape):
        return self.const(self.random.integers(-90, 91, shape), numpy.int8)

    def op(self, kind, *inputs, outputs=1, **attributes):
        """A node. Returns the name of its output, or a list of them where there are several."""
        self.count += 1
        names = [f"t{self.count}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=f"{kind}_{self.count}", **attributes))
        return names[0] if outputs == 1 else names

    def model(self, shape, output, opset):
        """The checked model of the nodes, with one input "x" of the shape."""
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="kinds_graphs")
        model.ir_version = 8
        model = onnx.shape_inference.infer_shapes(model)
        onnx.checker.check_model(model)
        return model


def classify(graph, x, width):
    """The mean over all positions, and a linear layer of ten classes."""
    x = graph.op("Flatten", graph.op("GlobalAveragePool", x))
    return graph.op("Gemm", x, graph.normal(width, 10), graph.normal(10))


def rescale(graph, y, scale, terms):
    """Makes floating-point numbers of the 32-bit sums of a product with as many terms."""
    return graph.op("Mul", graph.op("Cast", y, to=TensorProto.FLOAT),
                    graph.op("Mul", scale, graph.const(.02 / math.sqrt(terms))))


def dynamic_mlp(graph, opset, widths, rows=1):
    """Linear layers whose inputs are quantised as they come."""
    x = "x"
    for i, (a, b) in enumerate(zip(widths, widths[1:])):
        quantised, scale, zero = graph.op("DynamicQuantizeLinear", x, outputs=3)
        y = graph.op("MatMulInteger", quantised, graph.int8(a, b), zero, graph.const(0, numpy.int8))
        x = graph.op("Add", rescale(graph, y, scale, a), graph.normal(b))
        if i < len(widths) - 2:
            x = graph.op("Relu", x)
    return graph.model([rows, widths[0]], x, opset)


def dynamic_convolutions(graph, opset, width, layers, size):
    """Convolutions whose inputs are quantised as they come."""
    x, inputs = "x", 3
    for i in range(layers):
        outputs = width << i
        quantised, scale, zero = graph.op("DynamicQuantizeLinear", x, outputs=3)
        weights = graph.const(graph.random.integers(30, 226, (outputs, inputs, 3, 3)), numpy.uint8)
        y = graph.op("ConvInteger", quantised, weights, zero, graph.const(128, numpy.uint8), kernel_shape=[3, 3],
                     pads=[1] * 4, strides=[2, 2] if i else [1, 1])
        y = rescale(graph, y, scale, 9 * inputs)
        x = graph.op("Relu", graph.op("Add", y, graph.const(graph.random.normal(size=(1, outputs, 1, 1)))))
        inputs = outputs
    return graph.model([1, 3, size, size], classify(graph, x, inputs), opset)


def linear_convolutions(graph, opset, width, layers, size, depthwise=False):
    """Convolutions of eight bits by QLinearConv, after the first depthwise and of 1 × 1 if so asked."""
    zero = graph.const(0, numpy.uint8)

    def convolve(x, step, inputs, outputs, kernel, stride, groups):
        """A step is the scale and the zero point of a tensor; returns the output and its step."""
        scale, after = .02 / math.sqrt(kernel * kernel * inputs / groups), (graph.const(STEP), zero)
        weights = graph.int8(outputs, inputs // groups, kernel, kernel)
        bias = graph.const(graph.random.integers(-500, 500, outputs), numpy.int32)
        y = graph.op("QLinearConv", x, *step, weights, graph.const(numpy.full(outputs, scale)),
                     graph.const(numpy.zeros(outputs), numpy.int8), *after, bias, kernel_shape=[kernel, kernel],
                     pads=[kernel // 2] * 4, strides=[stride, stride], group=groups)
        return y, after

    step = graph.const(1 / 127), graph.const(128, numpy.uint8)
    x, inputs = graph.op("QuantizeLinear", "x", *step), 3
    for i in range(layers):
        outputs, stride = width << (i // 2), 1 + i % 2
        if depthwise and i:
            x, step = convolve(x, step, inputs, inputs, 3, stride, inputs)
            x, step = convolve(x, step, inputs, outputs, 1, 1, 1)
        else:
            x, step = convolve(x, step, inputs, outputs, 3, stride, 1)
        inputs = outputs
    x = graph.op("DequantizeLinear", x, *step)
    return graph.model([1, 3, size, size], classify(graph, x, inputs), opset)


def requantise(graph, x, scale=STEP, zero=0):
    step = graph.const(scale), graph.const(zero, numpy.uint8)
    return graph.op("DequantizeLinear", graph.op("QuantizeLinear", x, *step), *step)


def quantised_pairs(graph, opset, width, layers, size):
    """Convolutions of eight bits, written as pairs of QuantizeLinear and DequantizeLinear around usual ones."""
    scale = 1 / 127
    x, inputs = requantise(graph, "x", scale, 128), 3
    for i in range(layers):
        outputs = width << (i // 2)
        of_weights = .02 / math.sqrt(9 * inputs)
        weights = graph.op("DequantizeLinear", graph.int8(outputs, inputs, 3, 3),
                           graph.const(numpy.full(outputs, of_weights)),
                           graph.const(numpy.zeros(outputs), numpy.int8), axis=0)
        bias = graph.op("DequantizeLinear", graph.const(graph.random.integers(-500, 500, outputs), numpy.int32),
                        graph.const(numpy.full(outputs, of_weights * scale)),
                        graph.const(numpy.zeros(outputs), numpy.int32), axis=0)
        y = graph.op("Conv", x, weights, bias, kernel_shape=[3, 3], pads=[1] * 4, strides=[1 + i % 2] * 2)
        x, inputs, scale = requantise(graph, graph.op("Relu", y)), outputs, STEP
    x = requantise(graph, graph.op("GlobalAveragePool", x))
    x = graph.op("Gemm", graph.op("Flatten", x), graph.normal(inputs, 10), graph.normal(10))
    return graph.model([1, 3, size, size], x, opset)


def response_norms(graph, opset, width, size):
    """Convolutions with local response normalisation (Krizhevsky et al., NeurIPS 2012)."""
    x, inputs = "x", 3
    for outputs, kernel, stride in ((width, 7, 2), (2 * width, 5, 1), (2 * width, 3, 1)):
        x = graph.op("Conv", x, graph.normal(outputs, inputs, kernel, kernel), graph.normal(outputs),
                     kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4, strides=[stride, stride])
        x = graph.op("LRN", graph.op("Relu", x), size=5, alpha=1e-4, beta=.75, bias=1.)
        x, inputs = graph.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2]), outputs
    return graph.model([1, 3, size, size], graph.op("Softmax", classify(graph, x, inputs)), opset)


def blocks(graph, opset, width, size, block):
    """Convolutions between SpaceToDepth and DepthToSpace, from an image to an image."""
    x, inputs = graph.op("SpaceToDepth", "x", blocksize=block), 3 * block * block
    for _ in range(2):
        x = graph.op("Conv", x, graph.normal(width, inputs, 3, 3), graph.normal(width), kernel_shape=[3, 3], pads=[1] * 4)
        x, inputs = graph.op("LeakyRelu", x, alpha=.1), width
    outputs = 3 * block * block
    x = graph.op("Conv", x, graph.normal(outputs, inputs, 1, 1), graph.normal(outputs))
    x = graph.op("DepthToSpace", x, blocksize=block, mode="CRD")
    return graph.model([1, 3, size, size], graph.op("Clip", x, graph.const(0.), graph.const(1.)), opset)


def memory(graph, opset, rows, width, tokens):
    """Writes some rows of a memory, attends to all of it, and adds other rows."""
    known = graph.normal(rows, width)
    update = graph.op("Tanh", graph.op("MatMul", "x", graph.normal(width, width)))
    written = graph.const(graph.random.permutation(rows)[:tokens].reshape(tokens, 1), numpy.int64)
    known = graph.op("ScatterND", known, written, update)
    weights = graph.op("Softmax", graph.op("MatMul", "x", graph.op("Transpose", known, perm=[1, 0])), axis=-1)
    read = graph.op("Gather", known, graph.const(graph.random.integers(0, rows, tokens), numpy.int64), axis=0)
    return graph.model([tokens, width], graph.op("Add", graph.op("MatMul", weights, known), read), opset)


def table(graph, opset, keys, rows, width):
    """Looks up rows of two tables by keys that are computed from the input."""
    scaled = graph.op("Mul", graph.op("Add", "x", graph.const(1.)), graph.const(rows / 2 - 1.))
    key = graph.op("Cast", graph.op("Clip", scaled, graph.const(0.), graph.const(float(rows - 1))), to=TensorProto.INT64)
    first = graph.op("Gather", graph.normal(rows, width), key, axis=0)
    second = graph.normal(rows, width)
    second = graph.op("GatherND", second, graph.op("Unsqueeze", key, graph.const([1], numpy.int64)))
    x = graph.op("ReduceSum", graph.op("Mul", first, second), graph.const([0], numpy.int64), keepdims=1)
    return graph.model([keys], graph.op("MatMul", x, graph.normal(width, 8)), opset)


def forest(graph, opset, features, trees, depth):
    """Trees with one comparison a level: the results, as binary digits, give the number of the leaf."""
    asked = graph.const(graph.random.integers(0, features, trees * depth), numpy.int64)
    thresholds = graph.const(graph.random.normal(size=(1, trees * depth)) * .5)
    above = graph.op("Greater", graph.op("Gather", "x", asked, axis=1), thresholds)
    digits = graph.op("Reshape", graph.op("Cast", above, to=TensorProto.FLOAT), graph.const([trees, depth], numpy.int64))
    powers = graph.const(2. ** numpy.arange(depth).reshape(depth, 1))
    leaf = graph.op("Cast", graph.op("MatMul", digits, powers), to=TensorProto.INT64)
    values = graph.op("GatherElements", graph.normal(trees, 1 << depth), leaf, axis=1)
    return graph.model([1, features], graph.op("ReduceSum", values, graph.const([0], numpy.int64)), opset)


def build(make, name, opset, values):
    return make(Graph(zlib.crc32(name.encode())), opset, *values)


def graphs():
    """(family, name, maker of the ONNX model) of each network."""
    rows = []

    def add(family, name, make, *variants):
        for suffix, values, opset in variants:
            own = f"{name}_{suffix}"
            rows.append((family, own, functools.partial(build, make, own, opset, values)))

    add("dynamic", "dynq_mlp", dynamic_mlp, ("64", ([32, 64, 64, 10],), 13), ("512", ([256, 512, 512, 512, 10],), 15),
        ("1024_r32", ([512, 1024, 1024, 64], 32), 17))
    add("dynamic", "dynq_conv", dynamic_convolutions, ("8", (8, 3, 32), 13), ("24", (24, 3, 64), 14))
    add("quantised", "qlinear", linear_convolutions, ("8", (8, 4, 32), 13), ("32", (32, 6, 64), 15),
        ("dw_32", (32, 6, 64, True), 14))
    add("quantised", "qdq", quantised_pairs, ("8", (8, 4, 32), 13), ("32", (32, 6, 64), 16))
    add("lrn", "lrn", response_norms, ("8", (8, 48), 13), ("32", (32, 96), 15))
    add("blocks", "focus", blocks, ("8", (8, 64, 2), 13), ("32", (32, 192, 4), 14))
    add("scatter", "scatternd", memory, ("64", (64, 16, 4), 13), ("8k", (8000, 32, 16), 16))
    add("table", "table", table, ("256", (32, 256, 16), 13), ("50k", (4000, 50000, 32), 15))
    add("forest", "forest", forest, ("20", (16, 20, 4), 13), ("2000", (64, 2000, 6), 14))
    return rows
