"""Networks of datasets/data/networks/networks.json, and kernels cut out of them, as the three runtimes execute them that Python
has here too: LibTorch (frozen TorchScript, as runtime libtorch-frozen, and rewritten for mobile devices, as libtorch-xnnpack) and
OpenCV's DNN module (opencv-dnn). Needs python3-torch, python3-onnx and python3-opencv of Debian 12. Whole networks run on ONNX Runtime
too, in a process of Node (experiments/shared/install_onnxruntime.sh build/onnxruntime).

A graph says of each node what it computes and what it reads: a node before it, or −1 − k for the graph's k-th input. What
networks.json leaves out and a runtime needs is made up: weights are random, windows have as many zeros around as their output
asks for, and a slice is the first one of its size."""

import json
import math
import os
import re
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy
import onnx
import torch
import torch.autograd.profiler_legacy as profiler  # which counts nanoseconds
from onnx import TensorProto, helper, numpy_helper
from torch.utils.mobile_optimizer import optimize_for_mobile

ACTIVATIONS = {"relu": "torch.relu({})", "silu": "torch.ops.aten.silu({})", "relu6": "torch.ops.aten.hardtanh({}, 0.0, 6.0)", "sigmoid": "torch.sigmoid({})",
               "hard_swish": "torch.ops.aten.hardswish({})", "hard_sigmoid": "torch.ops.aten.hardsigmoid({})", "tanh": "torch.tanh({})"}
LARGEST = 48 << 20  # bytes: more than the last cache of this machine holds


@dataclass
class Graph:
    inputs: list                                  # shapes
    nodes: list = field(default_factory=list)     # operators as in networks.json
    sources: list = field(default_factory=list)   # of each node: nodes, or −1 − input
    outputs: list = field(default_factory=list)   # nodes

    def value(self, source, shape, node_letter):
        """What a value is called. Of a split the parts that are not as large as the first one have names of their own."""
        if source < 0:
            return f"x{-1 - source}"
        part = self.nodes[source]["kind"] == "split" and shape != self.nodes[source]["output"]
        return f"{node_letter}{source}" + (f"_s{shape[1]}" if part else "")

    def read(self, node, node_letter):
        return [self.value(source, shape, node_letter) for source, shape in zip(self.sources[node], self.nodes[node]["inputs"])]

    def parts(self, split):
        """Channels of the parts of a split that are read, but for those of the first one."""
        return sorted({shape[1] for of, spec in zip(self.sources, self.nodes) for source, shape in zip(of, spec["inputs"])
                       if source == split} - {self.nodes[split]["output"][1]})


def whole(document, network):
    nodes = [document["operators"][index] for index in network["operators"]]
    first = next(node["inputs"][of.index(-1)] for node, of in zip(nodes, network["sources"]) if -1 in of)
    read = {source for of in network["sources"] for source in of}
    return Graph([first], nodes, network["sources"], [i for i in range(len(nodes)) if i not in read])


def cut(graph, chosen):
    """The chosen nodes as a graph: what they read from elsewhere is an input, what nobody among them reads an output."""
    place = {node: i for i, node in enumerate(sorted(chosen))}
    outside, small = {}, Graph([])
    for node in sorted(chosen):
        of = []
        for number, source in enumerate(graph.sources[node]):
            if source in place:
                of.append(place[source])
                continue
            shape = graph.nodes[node]["inputs"][number]
            if (source, str(shape)) not in outside:
                outside[source, str(shape)] = -1 - len(small.inputs)
                small.inputs.append(shape)
            of.append(outside[source, str(shape)])
        small.nodes.append(graph.nodes[node])
        small.sources.append(of)
    read = {source for of in small.sources for source in of}
    small.outputs = [i for i in range(len(small.nodes)) if i not in read]
    return small


def convolution(shape, filters, window=3, stride=1, groups=1):
    side = [math.ceil(size / stride) for size in shape[2:]]
    return {"kind": "convolution", "inputs": [shape], "output": [1, filters, *side], "kernel": [window, window],
            "stride": [stride, stride], "groups": groups, "bias": True}


def chain(shape, *nodes):
    return Graph([shape], list(nodes), [[i - 1] for i in range(len(nodes))], [len(nodes) - 1])


def activation(shape, name="relu"):
    return {"kind": "activation", "name": name, "inputs": [shape], "output": shape}


CALL = chain([1, 1, 1, 1], activation([1, 1, 1, 1]))  # an operator that computes nothing: what a call costs


def zeros_around(size, out, window, stride):
    """(before, behind): as many as that output needs, alike on both sides where that is possible."""
    for zeros in range(window // 2 + 1):
        if (size + 2 * zeros - window) // stride + 1 == out:
            return zeros, zeros
    total = max((out - 1) * stride + window - size, 0)
    return total // 2, total - total // 2


def padding(spec):
    """(top, left, bottom, right) and window, stride, dilation."""
    window, stride, dilation = (spec.get(name, [1, 1]) for name in ("kernel", "stride", "dilation"))
    both = [zeros_around(spec["inputs"][0][2 + axis], spec["output"][2 + axis], (window[axis] - 1) * dilation[axis] + 1, stride[axis])
            for axis in (0, 1)]
    return [both[0][0], both[1][0], both[0][1], both[1][1]], window, stride, dilation


def tensors(spec, rng):
    """Weights of a node by the names that both runtimes know them by."""
    random = lambda *shape: (rng.standard_normal(shape) * 0.1).astype(numpy.float32)
    out = spec["output"]
    if spec["kind"] == "convolution":
        found = {"weight": random(out[1], spec["inputs"][0][1] // spec.get("groups", 1), *spec.get("kernel", [1, 1]))}
        return {**found, "bias": random(out[1])} if spec.get("bias") else found
    if spec["kind"] == "linear":
        found = {"weight": random(out[-1], spec["inputs"][0][-1])}
        return {**found, "bias": random(out[-1])} if spec.get("bias") else found
    if spec["kind"] == "batch_norm":
        return {"weight": random(out[1]), "bias": random(out[1]), "mean": random(out[1]), "variance": abs(random(out[1])) + 1}
    return {}


def script_of(node, spec, x):
    """Lines of TorchScript that compute t{node}."""
    t, kind, out = f"t{node}", spec["kind"], spec["output"]
    bias = f"self.bias_{node}" if spec.get("bias") else "None"
    if kind in ("convolution", "max_pool", "average_pool"):
        pads, window, stride, dilation = padding(spec)
        lines, read = [], x[0]
        if pads[:2] != pads[2:]:
            lines.append(f"{t}_p = torch.constant_pad_nd({read}, {[pads[1], pads[3], pads[0], pads[2]]}, 0.0)")
            read, pads = f"{t}_p", [0, 0, 0, 0]
        if kind == "convolution":
            call = f"torch.conv2d({read}, self.weight_{node}, {bias}, {stride}, {pads[:2]}, {dilation}, {spec.get('groups', 1)})"
        elif kind == "max_pool":
            call = f"torch.max_pool2d({read}, {window}, {stride}, {pads[:2]}, [1, 1], False)"
        else:
            call = f"torch.ops.aten.avg_pool2d({read}, {window}, {stride}, {pads[:2]}, False, True)"
        return [*lines, f"{t} = {call}"]
    if kind == "shuffle":
        grouped = [out[0], spec["groups"], out[1] // spec["groups"], *out[2:]]
        return [f"{t}_a = torch.reshape({x[0]}, {grouped})", f"{t}_b = torch.transpose({t}_a, 1, 2)", f"{t} = torch.reshape({t}_b, {out})"]
    if kind == "pad":
        pads = [n for size, wanted in zip(spec["inputs"][0][:1:-1], out[:1:-1]) for n in ((wanted - size) // 2, wanted - size - (wanted - size) // 2)]
        return [f"{t} = torch.constant_pad_nd({x[0]}, {pads}, 0.0)"]
    other = x[1] if len(x) > 1 else "1.5"
    normed = f"self.weight_{node}, self.bias_{node}, self.mean_{node}, self.variance_{node}"
    calls = {"linear": lambda: f"torch.ops.aten.linear({x[0]}, self.weight_{node}, {bias})",
             "global_pool": lambda: f"torch.mean({x[0]}, [2, 3]{', True' if len(out) == 4 else ''})",
             "activation": lambda: ACTIVATIONS[spec["name"]].format(x[0]),
             "add": lambda: f"{x[0]} + {other}", "multiply": lambda: f"{x[0]} * {other}",
             "concatenate": lambda: f"torch.cat([{', '.join(x)}], 1)",
             "split": lambda: f"torch.ops.aten.slice({x[0]}, 1, 0, {out[1]}, 1)",
             "reshape": lambda: f"torch.reshape({x[0]}, {out})",
             "batch_norm": lambda: f"torch.batch_norm({x[0]}, {normed}, False, 0.1, 1e-5, False)"}
    return [f"{t} = {calls[kind]()}"]


def scripted(weights, source):
    """A module of that method. LibTorch takes modules of one class and of equal weights for the same, hence a class for each."""
    class Module(torch.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            for name, value in weights.items():
                setattr(self, name, torch.nn.Parameter(value, requires_grad=False))
            self.define(source)

    return Module()


class Frozen:
    """libtorch-frozen."""
    name = "libtorch-frozen"

    def __init__(self, graph):
        rng = numpy.random.default_rng(1)
        weights = {f"{name}_{node}": torch.from_numpy(value) for node, spec in enumerate(graph.nodes) for name, value in tensors(spec, rng).items()}
        lines = []
        for node, spec in enumerate(graph.nodes):
            lines += script_of(node, spec, graph.read(node, "t"))
            if spec["kind"] == "split":
                x = graph.read(node, "t")[0]
                lines += [f"t{node}_s{part} = torch.ops.aten.slice({x}, 1, 0, {part}, 1)" for part in graph.parts(node)]
        arguments = ", ".join(f"x{i}" for i in range(len(graph.inputs)))
        results = ", ".join(f"t{node}" for node in graph.outputs)
        source = f"def forward(self, {arguments}):\n  " + "\n  ".join(lines) + f"\n  return {results}\n"
        self.module = self.prepared(torch.jit.freeze(scripted(weights, source).eval()))
        self.inputs = [torch.from_numpy(rng.standard_normal(shape).astype(numpy.float32)) for shape in graph.inputs]
        self.graph, self.count = graph, len(graph.nodes)
        with torch.no_grad():
            for _ in range(3):
                self.module(*self.inputs)  # the executor profiles the first run and compiles in the second

    def prepared(self, frozen):
        return frozen

    def run(self):
        self.module(*self.inputs)

    def owners(self, executed):
        """Which node each executed one is."""
        return [int(re.match(r"t(\d+)", next(node.outputs()).debugName())[1]) for node in executed]

    def profile(self, runs):
        """ms of each node, the median over runs; 0 of one that became part of another."""
        executed = [node for node in self.module.graph.nodes() if node.kind().startswith(("aten::", "prepacked::"))]
        owner = self.owners(executed)
        with profiler.profile() as profiled:
            for _ in range(runs):
                self.run()
        top = sorted((event for event in profiled.function_events if event.cpu_parent is not None and event.cpu_parent.name == "forward"),
                     key=lambda event: event.time_range.start)
        if [event.name for event in top] != runs * [node.kind() for node in executed]:
            raise ValueError(f"the profiler saw {[e.name for e in top][:9]}, the compiled graph has {[n.kind() for n in executed][:9]}")
        times = [event.time_range.elapsed_us() / 1000 for event in top]
        rows = [times[begin:begin + len(executed)] for begin in range(0, len(times), len(executed))]
        found = [0.0] * self.count
        for node, values in zip(owner, zip(*rows)):
            found[node] += statistics.median(values)
        return found


class Xnnpack(Frozen):
    """libtorch-xnnpack."""
    name = "libtorch-xnnpack"
    REWRITTEN = {"prepacked::conv2d_clamp_run": "convolution", "prepacked::linear_clamp_run": "linear", "aten::_add_relu": "add"}

    def prepared(self, frozen):
        return optimize_for_mobile(frozen)

    def owners(self, executed):
        """What the rewriting made has names of its own, and stands in the order of what it was made from."""
        named = [re.match(r"t(\d+)", next(node.outputs()).debugName()) for node in executed]
        kept = {int(found[1]) for found in named if found}
        left = {kind: [i for i, node in enumerate(self.graph.nodes) if node["kind"] == kind and i not in kept] for kind in self.REWRITTEN.values()}
        return [int(found[1]) if found else left[self.REWRITTEN[node.kind()]].pop(0) for node, found in zip(executed, named)]


def onnx_of(graph):
    """The graph as an ONNX model whose nodes are called n0, n1 … (n0_a where one is several operators of ONNX)."""
    rng, nodes, weights = numpy.random.default_rng(1), [], []

    def constant(name, numbers):
        weights.append(numpy_helper.from_array(numpy.asarray(numbers), name))
        return name

    def add(kind, name, read, **attributes):
        nodes.append(helper.make_node(kind, read, [name], name=name, **attributes))

    for node, spec in enumerate(graph.nodes):
        name, kind, out = f"n{node}", spec["kind"], spec["output"]
        x = graph.read(node, "n")
        own = [constant(f"{name}_{key}", numbers) for key, numbers in tensors(spec, rng).items()]
        if kind == "convolution":
            pads, window, stride, dilation = padding(spec)
            add("Conv", name, [x[0], *own], kernel_shape=window, strides=stride, dilations=dilation, pads=pads, group=spec.get("groups", 1))
        elif kind in ("max_pool", "average_pool"):
            pads, window, stride, _ = padding(spec)
            more = {"count_include_pad": 1} if kind == "average_pool" else {}
            add("MaxPool" if kind == "max_pool" else "AveragePool", name, x, kernel_shape=window, strides=stride, pads=pads, **more)
        elif kind == "linear":
            add("Gemm", name, [x[0], *own], transB=1)
        elif kind == "batch_norm":
            add("BatchNormalization", name, [x[0], *own])
        elif kind == "global_pool":
            add("GlobalAveragePool", name + ("_a" if len(out) == 2 else ""), x)
            if len(out) == 2:
                add("Flatten", name, [name + "_a"])
        elif kind == "activation" and spec["name"] in ("silu", "hard_swish"):
            more = {"alpha": 1 / 6, "beta": 0.5} if spec["name"] == "hard_swish" else {}
            add("HardSigmoid" if more else "Sigmoid", name + "_a", x, **more)
            add("Mul", name, [x[0], name + "_a"])
        elif kind == "activation":
            plain = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "hard_sigmoid": "HardSigmoid", "relu6": "Clip"}[spec["name"]]
            more = {"HardSigmoid": {"alpha": 1 / 6, "beta": 0.5}, "Clip": {"min": 0.0, "max": 6.0}}  # as OpenCV reads them
            add(plain, name, x, **more.get(plain, {}))
        elif kind in ("add", "multiply"):
            other = x[1:] or [constant(name + "_c", numpy.float32([1.5]))]
            add("Add" if kind == "add" else "Mul", name, [x[0], *other])
        elif kind == "concatenate":
            add("Concat", name, x, axis=1)
        elif kind == "split":
            for called, part in [(name, out[1]), *((f"{name}_s{part}", part) for part in graph.parts(node))]:
                ends = [constant(f"{called}_{key}", [number]) for key, number in (("begin", 0), ("end", part), ("axis", 1))]
                add("Slice", called, [x[0], *ends])
        elif kind == "shuffle":
            grouped = [out[0], spec["groups"], out[1] // spec["groups"], *out[2:]]
            add("Reshape", name + "_a", [x[0], constant(name + "_grouped", grouped)])
            add("Transpose", name + "_b", [name + "_a"], perm=[0, 2, 1, 3, 4])
            add("Reshape", name, [name + "_b", constant(name + "_shape", out)])
        elif kind == "pad":
            pads = [(wanted - size) // 2 for size, wanted in zip(spec["inputs"][0], out)]
            pads += [wanted - size - before for size, wanted, before in zip(spec["inputs"][0], out, pads)]
            add("Pad", name, [x[0], constant(name + "_pads", pads)])
        else:
            add("Reshape", name, [x[0], constant(name + "_shape", out)])
    inputs = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, shape) for i, shape in enumerate(graph.inputs)]
    outputs = [helper.make_tensor_value_info(f"n{node}", TensorProto.FLOAT, graph.nodes[node]["output"]) for node in graph.outputs]
    model = helper.make_model(helper.make_graph(nodes, "network", inputs, outputs, weights), opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    return model


class OpenCV:
    """opencv-dnn."""
    name = "opencv-dnn"

    def __init__(self, graph, fused=True):
        self.net = cv2.dnn.readNetFromONNX(numpy.frombuffer(onnx_of(graph).SerializeToString(), dtype=numpy.uint8))
        self.net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
        self.net.setPreferableTarget(cv2.dnn.DNN_TARGET_CPU)
        self.net.enableFusion(fused)
        rng = numpy.random.default_rng(1)
        for i, shape in enumerate(graph.inputs):
            self.net.setInput(rng.standard_normal(shape).astype(numpy.float32), f"x{i}")
        names = list(self.net.getLayerNames())
        self.outputs = [next(layer for layer in names if re.fullmatch(rf"(onnx_node!)?n{node}", layer)) for node in graph.outputs]
        self.owner = [(int(found[1]) if (found := re.match(r"(?:onnx_node!)?n(\d+)", layer)) else None) for layer in names]
        self.count = len(graph.nodes)
        self.run()

    def run(self):
        self.net.forward(self.outputs)

    def profile(self, runs):
        rows = []
        for _ in range(runs):
            self.run()
            rows.append(self.net.getPerfProfile()[1].flatten())
        found = [0.0] * self.count
        for node, ticks in zip(self.owner, zip(*rows)):
            if node is not None:
                found[node] += 1000 * statistics.median(ticks) / cv2.getTickFrequency()
        return found


class OnnxRuntime:
    """onnxruntime, all its optimisations: each call is a process of Node with two runs to warm up."""
    name = "onnxruntime"
    ROOT = Path(__file__).resolve().parent.parent.parent
    LEADING = {"Conv": "convolution", "Gemm": "linear"}  # what others are fused into

    def __init__(self, graph):
        self.graph, self.folder = graph, tempfile.TemporaryDirectory()
        model = onnx_of(graph)
        for node in (node for node in model.graph.node if node.op_type == "Clip"):  # bounds are inputs since opset 11
            for bound in node.attribute:
                model.graph.initializer.append(numpy_helper.from_array(numpy.float32(bound.f), f"{node.name}_{bound.name}"))
            node.input.extend(f"{node.name}_{bound}" for bound in ("min", "max"))
            del node.attribute[:]
        onnx.save(model, f"{self.folder.name}/model.onnx")

    def run(self):
        """Processes warm up by themselves."""

    def process(self, runs, profile=None):
        asked = {"TENSHOT_NODE_MODULES": self.ROOT / "build/onnxruntime/node_modules", **({"TENSHOT_PROFILE": profile} if profile else {})}
        subprocess.run(["node", self.ROOT / "datasets/kit/board/run_onnx.js", f"{self.folder.name}/model.onnx", str(runs), "2",
                        f"{self.folder.name}/times.json", "1"], env={**os.environ, **{key: str(value) for key, value in asked.items()}}, check=True)
        return json.loads(Path(f"{self.folder.name}/times.json").read_text())["times_ms"]

    def timed(self, runs):
        return statistics.median(self.process(runs))

    def led_by(self, node, kind, executed):
        """The convolution or linear layer that a fused kernel begins with; kernels are called by what they end with. A batch norm
        that is executed as a convolution begins its kernel itself: what it reads was executed before."""
        while self.graph.nodes[node]["kind"] != kind:
            before = [source for source in self.graph.sources[node] if source >= 0 and source not in executed]
            if not before:
                break
            node = before[0]
        return node

    def profile(self, runs):
        profile, took = f"{self.folder.name}/profile.json", {}
        self.process(runs, profile)
        for event in json.loads(Path(profile).read_text()):
            named = re.match(r"n(\d+)(?:_\w+)?_kernel_time$", event["name"])
            if event["cat"] == "Node" and named:
                took.setdefault((event["name"], int(named[1]), event["args"]["op_name"]), []).append(event["dur"] / 1000)
        found, executed = [0.0] * len(self.graph.nodes), {node for _, node, _ in took}
        for (_, node, operation), times in took.items():
            kind = self.LEADING.get(operation, self.graph.nodes[node]["kind"])
            found[self.led_by(node, kind, executed)] += statistics.median(times[2:])  # behind those to warm up
        return found


RUNTIMES = {runtime.name: runtime for runtime in (Frozen, Xnnpack, OpenCV, OnnxRuntime)}


def set_threads(count):
    torch.set_num_threads(count)
    cv2.setNumThreads(count)


swept = numpy.ones(LARGEST // 8, numpy.int64)


def sweep():
    """Fills all caches with something else: reads a value of each line of a memory that is larger than they are."""
    swept[::8].sum()


def timed(network, runs, before=None):
    """Median ms of so many runs, each behind `before`."""
    if isinstance(network, OnnxRuntime):
        return network.timed(runs)
    times = []
    for _ in range(runs):
        if before:
            before()
        start = time.perf_counter_ns()
        network.run()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1e6
