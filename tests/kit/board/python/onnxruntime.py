"""A stand-in for the module onnxruntime, written by hand after its API documentation (InferenceSession, NodeArg)."""
__version__ = "1.17.0"


class SessionOptions:
    intra_op_num_threads = 0
    inter_op_num_threads = 0


class NodeArg:
    name = "input"
    shape = ["batch", 3, 8, 8]


class InferenceSession:
    def __init__(self, model, options, providers):
        assert options.intra_op_num_threads > 0 and providers == ["CPUExecutionProvider"]
        with open(model, "rb") as file:
            file.read()

    def get_inputs(self):
        return [NodeArg()]

    def run(self, outputs, feeds):
        assert outputs is None and str(feeds["input"].dtype) == "float32", feeds
        return [feeds["input"].sum(axis=0)]
