"""Counts products, parameters and output shapes of ONNX models on its own, and compares `tenshot network describe`.

The models are those of Debian's package libonnx-testdata, whose outputs were computed by other programs, and the exports
of torchvision's networks in the folder that TENSHOT_EXPORTS names, which PyTorch itself counted (export_networks.py writes
both); or those of the folders given. A model is equal, read in part (the rest is named in a remark), refused, or different.

Run by Debian's python3 with python3-onnx:
  python3 count_independently.py --tenshot build/tenshot [--list] [FOLDER ...]
Exit code 1 where one is different, 77 where the models or the package onnx are not there.
"""
import argparse
import collections
import json
import math
import os
import subprocess
import sys
from pathlib import Path

TEST_DATA = Path("/usr/share/libonnx-testdata/data")
SKIPPED = 77

try:
    import onnx
    import onnx.shape_inference
except ImportError:
    print("skipped: python3 has no package onnx (Debian: python3-onnx)")
    sys.exit(SKIPPED)

# Where operators have weights, among their inputs: an input of the graph that stands there is a weight.
WEIGHT_PLACES = {"Conv": (1, 2), "ConvTranspose": (1, 2), "BatchNormalization": (1, 2, 3, 4),
                 "InstanceNormalization": (1, 2), "LayerNormalization": (1, 2), "GroupNormalization": (1, 2),
                 "LSTM": (1, 2, 3, 7), "GRU": (1, 2, 3), "RNN": (1, 2, 3), "PRelu": (1,), "ConvInteger": (1,),
                 "QLinearConv": (3, 8)}
# Operands that are trained: of the others, constants say shapes, bounds and scales. None: all of them.
TRAINED_OPERANDS = {"BatchNormalization": (1, 2), "QLinearConv": (3, 8), "QLinearMatMul": (3,), "ConvInteger": (1,),
                    "MatMulInteger": (1,), "Gemm": (1, 2), "Clip": (), "Resize": (), "Upsample": (), "Pad": (),
                    "Slice": (), "Reshape": (), "Expand": (0,), "Tile": (0,), "QuantizeLinear": (0,),
                    "DequantizeLinear": (0,), "Dropout": (0,)}
NUMBER_TYPES = {1, 2, 3, 10, 11, 16}  # of onnx.TensorProto: floats and bytes


class Unknown(Exception):
    """What this program does not count."""


def shape_of(value):
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type" or not value.type.tensor_type.HasField("shape"):
        return None
    dimensions = value.type.tensor_type.shape.dim
    if not all(dimension.HasField("dim_value") for dimension in dimensions):
        return None
    return tuple(dimension.dim_value for dimension in dimensions)


def stored(folder, kind, index, value):
    """Shapes of the tensors in a file of the test data; a sequence has several."""
    path = folder / "test_data_set_0" / f"{kind}_{index}.pb"
    if not path.exists():
        raise Unknown(f"no {path.name}")
    content = path.read_bytes()
    type_of = value.type.WhichOneof("value")
    if type_of == "sequence_type":
        sequence = onnx.SequenceProto()
        sequence.ParseFromString(content)
        return [tuple(tensor.dims) for tensor in sequence.tensor_values]
    if type_of not in (None, "tensor_type"):
        raise Unknown("no tensor")
    tensor = onnx.TensorProto()
    tensor.ParseFromString(content)
    return [tuple(tensor.dims)]


def attribute(node, name, otherwise=None):
    for found in node.attribute:
        if found.name == name:
            return onnx.helper.get_attribute_value(found)
    return otherwise


def einsum_products(node, shapes):
    """From left to right: each pair costs the product of the extents of all its labels, where one is summed over."""
    equation = attribute(node, "equation").decode().replace(" ", "")
    if "." in equation:
        raise Unknown("an ellipsis")
    terms, _, output = equation.partition("->")
    terms = terms.split(",")
    extents = {label: extent for term, shape in zip(terms, shapes) for label, extent in zip(term, shape)}
    if "->" not in equation:
        output = "".join(label for label in extents if "".join(terms).count(label) == 1)
    products, labels = 0, terms[0]
    for i, term in enumerate(terms[1:], 1):
        kept = set(output).union(*terms[i + 1:])
        both = set(labels) | set(term)
        if both - kept or (set(labels) - set(term) and set(term) - set(labels)):
            products += math.prod(extents[label] for label in both)
        labels = "".join(both & kept)
    return products


def products_of(node, shape):
    """Multiply-adds of a node; `shape(i)` is that of input i and `shape(-1)` that of its output."""
    kind = node.op_type
    if kind in ("Conv", "ConvInteger", "QLinearConv"):
        weight = shape(3 if kind == "QLinearConv" else 1)
        return math.prod(shape(-1)) * math.prod(weight[1:])
    if kind == "ConvTranspose":
        return math.prod(shape(0)) * math.prod(shape(1)[1:])
    if kind in ("MatMul", "MatMulInteger", "QLinearMatMul"):
        return math.prod(shape(-1)) * shape(0)[-1]
    if kind == "Gemm":
        return math.prod(shape(-1)) * shape(0)[0 if attribute(node, "transA", 0) else 1]
    if kind in ("LSTM", "GRU", "RNN"):
        return math.prod(shape(0)[:2]) * (math.prod(shape(1)) + math.prod(shape(2)))
    if kind == "Einsum":
        return einsum_products(node, [shape(i) for i in range(len(node.input))])
    return 0


class Count:
    """Products, parameters and output shapes of a model, from the data beside it."""

    def __init__(self, folder):
        self.model = onnx.load(str(folder / "model.onnx"), load_external_data=False)
        self.graph = self.model.graph
        self.origins = {}  # of each constant, the trained tensors that it is made of
        for tensor in self.graph.initializer:
            self.keep(tensor.name, tensor)
        self.inputs = [value for value in self.graph.input if value.name not in self.origins]
        self.outputs = [stored(folder, "output", i, value) for i, value in enumerate(self.graph.output)]
        self.fix_inputs(folder)
        self.shapes = self.infer()
        self.products, self.parameters = 0, 0
        self.walk()

    def keep(self, name, tensor):
        elements = math.prod(tensor.dims)
        self.origins[name] = {name: elements} if tensor.data_type in NUMBER_TYPES and elements > 1 else {}

    def fix_inputs(self, folder):
        self.given = {}
        weights = {name for node in self.graph.node for place in WEIGHT_PLACES.get(node.op_type, ())
                   if place < len(node.input) for name in [node.input[place]]}
        for i, value in enumerate(self.inputs):
            shapes = stored(folder, "input", i, value)
            declared = value.type.tensor_type
            if value.type.WhichOneof("value") != "tensor_type":
                raise Unknown("an input that is no tensor")
            if shape_of(value) != shapes[0] or 0 in shapes[0]:  # an extent of 0 is an open one in files
                self.given[value.name] = shapes[0]
            elif i > 0 and value.name in weights and declared.elem_type in NUMBER_TYPES:
                self.origins[value.name] = {value.name: math.prod(shapes[0])}
            declared.ClearField("shape")
            for extent in shapes[0]:
                declared.shape.dim.add().dim_value = extent
        if self.origins.keys() & {value.name for value in self.inputs}:  # products of inputs may be layers then
            for node in self.graph.node:
                for name in node.input[1:3 if node.op_type == "Gemm" else 2]:
                    if node.op_type in ("Gemm", "MatMul") and name in {value.name for value in self.inputs[1:]}:
                        shape = shape_of(next(value for value in self.inputs if value.name == name))
                        self.origins[name] = {name: math.prod(shape)}

    def infer(self):
        try:
            inferred = onnx.shape_inference.infer_shapes(self.model, data_prop=True).graph
        except Exception:  # what it refuses may still be a single node, whose shapes the data say
            inferred = self.graph
        shapes = {value.name: shape_of(value) for value in [*inferred.value_info, *inferred.output]}
        shapes.update({tensor.name: tuple(tensor.dims) for tensor in self.graph.initializer})
        shapes.update({value.name: shape_of(value) for value in self.inputs})
        for value, found in zip(self.graph.output, self.outputs):
            if len(found) == 1:
                shapes[value.name] = found[0]
        return shapes

    def needed(self):
        wanted, nodes = {value.name for value in self.graph.output}, []
        for node in reversed(self.graph.node):
            if wanted & set(node.output):
                wanted |= set(node.input)
                nodes.append(node)
        return list(reversed(nodes))

    def walk(self):
        used = {}
        for node in self.needed():
            if any(a.HasField("g") for a in node.attribute) or node.op_type.startswith("Sequence"):
                raise Unknown("a body or a sequence")
            if node.op_type == "Constant":
                self.keep_constant(node)
                continue
            names = [name for name in node.input if name]
            if node.op_type in ("Shape", "Size"):
                self.origins[node.output[0]] = {}
                continue
            if names and all(name in self.origins for name in names):
                made = {k: v for name in names for k, v in self.origins[name].items()}
                # PyTorch writes vectors of equal numbers once, with an Identity for each of the others.
                if node.op_type == "Identity" and len(made) == 1 and len(self.shapes.get(names[0]) or ()) == 1:
                    made = {node.output[0]: next(iter(made.values()))}
                self.origins.update({name: made for name in node.output})
                continue
            places = TRAINED_OPERANDS.get(node.op_type, range(len(node.input)))
            for place in places:
                if place < len(node.input):
                    used.update(self.origins.get(node.input[place], {}))
            self.products += products_of(node, lambda i: self.shape(node.output[0] if i < 0 else node.input[i]))
        self.parameters = sum(used.values())

    def keep_constant(self, node):
        tensor = attribute(node, "value")
        if tensor is not None:
            self.shapes[node.output[0]] = tuple(tensor.dims)
            self.keep(node.output[0], tensor)
        else:
            self.origins[node.output[0]] = {}

    def shape(self, name):
        if self.shapes.get(name) is None:
            raise Unknown(f"no shape of {name}")
        return self.shapes[name]


class TorchCount:
    """What PyTorch counted of an export, and the constants that its exporter wrote beside the parameters, such as scales
    of norms that have none. Dimensions that the file leaves open are those of an image."""

    def __init__(self, path):
        counts = json.loads(path.with_suffix(".counts.json").read_text())
        self.products, self.parameters = counts["products"], counts["parameters"]
        self.outputs = [[tuple(shape) for shape in counts["outputs"]]]
        graph = onnx.load(str(path), load_external_data=False).graph
        self.given = {value.name: (1, 3, 224, 224) for value in graph.input if shape_of(value) is None}
        constants = {node.output[0]: attribute(node, "value") for node in graph.node if node.op_type == "Constant"}
        read = {node.input[place] for node in graph.node
                for place in TRAINED_OPERANDS.get(node.op_type, range(len(node.input))) if place < len(node.input)}
        elements = [math.prod(tensor.dims) for name, tensor in constants.items()
                    if name in read and tensor.data_type == onnx.TensorProto.FLOAT]
        self.parameters += sum(count for count in elements if count > 1)


def is_part(found, all_shapes):
    """Whether `found` are those of `all_shapes`, in their order, that are no constants."""
    rest = iter(all_shapes)
    return all(shape in rest for shape in found)


def compared(tenshot, path):
    """The class of a model, and what is to be said of it."""
    try:
        count = TorchCount(path) if path.with_suffix(".counts.json").exists() else Count(path.parent)
    except Unknown as reason:
        return "not counted here", str(reason)
    command = [tenshot, "network", "describe", "--json", str(path)]
    for name, shape in count.given.items():
        command += ["--shape", f"{name}={'x'.join(map(str, shape))}"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        return "refused", (run.stderr or run.stdout).strip().splitlines()[-1]
    found = json.loads(run.stdout)
    shapes = [tuple(output["shape"]) for output in found["outputs"]]
    wanted = [shape for output in count.outputs for shape in output]
    if any("left out" in remark for remark in found.get("remarks", [])):
        return "in part", "; ".join(found["remarks"])
    differences = []
    if not is_part(shapes, wanted):
        differences.append(f"outputs {shapes}, not {wanted}")
    for name, own in (("multiply_adds", count.products), ("parameters", count.parameters)):
        if found["total"][name] != own:
            differences.append(f"{name} {found['total'][name]}, not {own}")
    return ("different", "; ".join(differences)) if differences else ("equal", "")


def report(tenshot, title, models, lists):
    """Prints the table of some models, and says how many are different."""
    table = collections.Counter()
    for path in models:
        kind, reason = compared(tenshot, path)
        table[kind] += 1
        if kind == "different" or (lists and kind != "equal"):
            print(f"{kind}: {path.parent.parent.name}/{path.parent.name}/{path.name}: {reason}")
    print(f"{title}: {len(models)} models")
    for kind in ("equal", "in part", "refused", "not counted here", "different"):
        print(f"{kind:16} {table[kind]:5}  {100 * table[kind] / len(models):5.1f} %")
    return table["different"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tenshot", required=True)
    parser.add_argument("--list", action="store_true", help="every model that is not equal, with the reason")
    parser.add_argument("folders", nargs="*", type=Path)
    arguments = parser.parse_args()
    exports = [Path(os.environ["TENSHOT_EXPORTS"])] if os.environ.get("TENSHOT_EXPORTS") else []
    different, found = 0, False
    for folder in arguments.folders or [TEST_DATA, *exports]:
        models = sorted(folder.rglob("model.onnx")) or [
            counts.with_name(counts.name.replace(".counts.json", ".onnx")) for counts in sorted(folder.glob("*.counts.json"))]
        if models:
            found = True
            different += report(arguments.tenshot, folder, models, arguments.list)
    if not found:
        print("skipped: there are no models (Debian: libonnx-testdata)")
        return SKIPPED
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
