#include <onnx/defs/operator_sets.h>
#include <onnx/defs/schema.h>
#include <onnx/defs/shape_inference.h>

#include <algorithm>
#include <limits>
#include <map>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_order.h"
#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/graph/onnx_writing.h"
#include "nasbench/support/error.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

onnx::TypeProto type_proto(const OnnxValue& value) {
  onnx::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(value.element);
  onnx::TensorShapeProto& shape = *type.mutable_tensor_type()->mutable_shape();
  for (const std::int64_t dimension : value.shape) shape.add_dim()->set_dim_value(dimension);
  return type;
}

/// One node as libonnx's shape inference sees it.
class NodeContext final : public onnx::InferenceContext {
 public:
  NodeContext(const onnx::NodeProto& node, const OnnxInputs& inputs)
      : node_(node), inputs_(inputs), types_(inputs.size()), data_(inputs.size()), outputs_(node.output_size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr) continue;
      types_[i] = type_proto(*inputs[i]);
      if (has_data(i)) data_[i] = tensor_proto(*inputs[i]);
    }
  }

  const onnx::AttributeProto* getAttribute(const std::string& name) const override {
    return attribute(node_, name.c_str());
  }
  std::size_t getNumInputs() const override { return types_.size(); }
  const onnx::TypeProto* getInputType(std::size_t i) const override {
    return given(inputs_, i) != nullptr ? &types_[i] : nullptr;
  }
  const onnx::TensorProto* getInputData(std::size_t i) const override { return has_data(i) ? &data_[i] : nullptr; }
  std::size_t getNumOutputs() const override { return outputs_.size(); }
  onnx::TypeProto* getOutputType(std::size_t i) override { return &outputs_.at(i); }
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string&) override { return nullptr; }
  const onnx::SparseTensorProto* getInputSparseData(std::size_t) const override { return nullptr; }
  const onnx::TensorShapeProto* getSymbolicInput(std::size_t) const override { return nullptr; }

 private:
  bool has_data(std::size_t i) const { return known(inputs_, i) && inputs_[i]->numbers->size() <= kept_numbers; }

  const onnx::NodeProto& node_;
  const OnnxInputs& inputs_;
  std::vector<onnx::TypeProto> types_;
  std::vector<onnx::TensorProto> data_;
  std::vector<onnx::TypeProto> outputs_;
};

/// libonnx divides by strides and adds up windows without a look at them.
void require_sane_attributes(const onnx::NodeProto& node) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  static const std::map<std::string, std::int64_t> bounds =
      by_name<std::int64_t>({{1, "strides dilations kernel_shape group output_shape blocksize num_outputs"},
                             {0, "output_padding"},
                             {-most, "pads"}});
  for (const onnx::AttributeProto& found : node.attribute()) {
    const auto bound = bounds.find(found.name());
    if (bound == bounds.end()) continue;
    std::vector<std::int64_t> numbers(found.ints().begin(), found.ints().end());
    if (found.has_i() || found.type() == onnx::AttributeProto::INT) numbers.push_back(found.i());
    const bool pool =
        node.op_type().find("Pool") != std::string::npos || node.op_type().find("Conv") != std::string::npos;
    for (const std::int64_t number : numbers) {
      const std::int64_t least = found.name() == "pads" && pool ? 0 : bound->second;
      if (number < least || number > most) {
        reject({"its attribute '", found.name(), "' has ", number, "; expected at least ", least});
      }
    }
  }
}

void require_weights(const onnx::NodeProto& node, const Shape& image, const Shape& weight) {
  const std::int64_t groups = integer_attribute(node, "group", 1), channels = image[1];
  const std::vector<std::int64_t> kernel = integers_attribute(node, "kernel_shape");
  const std::int64_t taken = node.op_type() == "ConvTranspose" ? weight[0] : weight[1] * groups;
  const bool fits = taken == channels && weight[0] % groups == 0;
  if (!fits || (!kernel.empty() && !std::equal(kernel.begin(), kernel.end(), weight.begin() + 2, weight.end()))) {
    reject({"weights of ", weight, " and ", groups, " groups do not fit ", channels, " channels",
            (fits ? " and a kernel of " + format(kernel) : "")});
  }
}

/// libonnx takes the window's dimensions from the weights, and the positions from the image, without comparing them.
void require_image(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::string& type = node.op_type();
  const bool pool = type == "MaxPool" || type == "AveragePool" || type == "LpPool";
  const bool convolution = type == "Conv" || type == "ConvTranspose" || type == "ConvInteger" || type == "QLinearConv";
  if (!pool && !convolution) return;
  const OnnxValue *image = given(inputs, 0), *weight = given(inputs, type == "QLinearConv" ? 3 : 1);
  if (image == nullptr || (convolution && weight == nullptr)) throw FormatError("its image or its weights are missing");
  const std::size_t dimensions = image->shape.size(), expected = convolution ? weight->shape.size() : dimensions;
  if (expected == 0) throw FormatError("the file says no shape of its weights: write it anew, with the dims of each");
  if (dimensions < 3 || dimensions != expected) {
    reject({"its image has ", dimensions, " dimensions",
            (convolution ? ", its weights " + std::to_string(expected) : ""),
            "; expected batch, channels and at least one more", (convolution ? ", as many in both" : "")});
  }
  if (convolution) require_weights(node, image->shape, weight->shape);
  const bool is_same = OnnxNode{node, inputs}.text("auto_pad", "NOTSET").rfind("SAME", 0) == 0;
  if (pool || is_same || type == "ConvTranspose") return;
  onnx::NodeProto window = node;
  if (attribute(node, "kernel_shape") == nullptr) {
    add_integers(window, "kernel_shape", {weight->shape.begin() + 2, weight->shape.end()});
  }
  pooled_shape({window, inputs}, false);  // which refuses a window that is wider than its padded image
}

/// Nor does it compare the sizes of what recurrent layers multiply.
void require_sizes(const OnnxNode& node) {
  const std::string& type = node.type();
  require_image(node.proto, node.inputs);
  const std::int64_t block = node.integer("blocksize", 1);
  if ((type == "DepthToSpace" || type == "SpaceToDepth") && node.has_ranks({{0, 4}})) {
    const Shape& image = node.shape();
    const bool fits = type[0] == 'D' ? image[1] % (block * block) == 0 : image[2] % block == 0 && image[3] % block == 0;
    if (!fits) reject({"blocks of ", block, "x", block, " pixels do not divide an image of ", image});
  }
  if ((type == "LSTM" || type == "GRU" || type == "RNN") && node.has_ranks({{0, 3}, {1, 3}, {2, 3}})) {
    const Shape &in = node.shape(), &weight = node.shape(1), &state = node.shape(2);
    const std::int64_t hidden = node.integer("hidden_size", state[2]);
    const std::int64_t gates = type == "LSTM" ? 4 : type == "GRU" ? 3 : 1;
    if (weight[2] != in[2] || state[2] != hidden || state[1] != weight[1] || weight[1] != gates * state[2]) {
      reject({"weights of ", weight, " and ", state, " do not fit an input of ", in, " and ", hidden, " units"});
    }
  }
}

/// Schemas by the names of their operators and the first opset that each holds for.
using Schemas = std::map<std::string, std::map<std::int64_t, onnx::OpSchema>>;

template <class... Schema>
void make_schemas(std::int64_t since, Schemas& made) {
  for (const onnx::OpSchema& schema : {onnx::GetOpSchema<Schema>()...}) made[schema.Name()].emplace(since, schema);
}

/// Null where libonnx knows none. Its registry makes them all when first asked: those of most networks do without it.
const onnx::OpSchema* schema_of(const onnx::NodeProto& node, std::int64_t opset) {
  using namespace onnx;  // NOLINT: the names of thirty classes
  static const Schemas common = [] {
    Schemas made;
    make_schemas<Add_Onnx_ver14, BatchNormalization_Onnx_ver9, AveragePool_Onnx_ver11, Clip_Onnx_ver13,
                 Concat_Onnx_ver13, Conv_Onnx_ver11, ConvTranspose_Onnx_ver11, Div_Onnx_ver14, Flatten_Onnx_ver13,
                 Gather_Onnx_ver13, Gemm_Onnx_ver13, GlobalAveragePool_Onnx_ver1, MatMul_Onnx_ver13, MaxPool_Onnx_ver12,
                 Mul_Onnx_ver14, Pow_Onnx_ver15, Relu_Onnx_ver14, Reshape_Onnx_ver14, Sigmoid_Onnx_ver13,
                 Slice_Onnx_ver13, Sub_Onnx_ver14, Transpose_Onnx_ver13>(11, made);
    make_schemas<HardSwish_Onnx_ver14, Softmax_Onnx_ver13, Squeeze_Onnx_ver13, Unsqueeze_Onnx_ver13>(13, made);
    make_schemas<BatchNormalization_Onnx_ver15>(15, made);
    return made;
  }();
  const auto found = common.find(node.domain().empty() ? node.op_type() : "");
  if (found != common.end() && opset >= found->second.begin()->first) {
    return &(--found->second.upper_bound(opset))->second;
  }
  const int newest = static_cast<int>(std::min<std::int64_t>(opset, std::numeric_limits<int>::max()));
  return onnx::OpSchemaRegistry::Schema(node.op_type(), newest, node.domain());
}

InferredType value_of(const onnx::TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
  OnnxValue value;
  value.element = type.tensor_type().elem_type();
  for (const auto& dimension : type.tensor_type().shape().dim()) {
    if (!dimension.has_dim_value()) return std::nullopt;
    value.shape.push_back(dimension.dim_value());
  }
  return value;
}

}  // namespace

std::vector<InferredType> inferred_types(const onnx::NodeProto& node, std::int64_t opset, const OnnxInputs& inputs) {
  require_sane_attributes(node);
  std::vector<InferredType> types(static_cast<std::size_t>(node.output_size()));
  // What a body computes is not looked into, and libonnx crashes where there is none.
  const std::string& kind = node.op_type();
  if (has_sub_graph(node) || kind == "If" || kind == "Loop" || kind == "Scan" || kind == "SequenceMap") return types;
  if (node.domain().empty()) require_sizes({node, inputs});
  if (std::optional<std::vector<InferredType>> own = own_types({node, inputs}, opset)) {
    own->resize(types.size());
    return std::move(*own);
  }
  // Runtimes count these operators' axes from behind in every opset, libonnx since opset 11 alone.
  static const auto with_axis = words_of("ArgMax ArgMin Concat Squeeze Unsqueeze");
  const bool counts_from_behind = node.domain().empty() && with_axis.count(kind) != 0;
  const std::int64_t least = kind == "Squeeze" && attribute(node, "axes") == nullptr ? 13 : 11;  // 11 needs its axes
  const onnx::OpSchema* schema = schema_of(node, std::max(opset, counts_from_behind ? least : 0));
  if (schema == nullptr || !schema->has_type_and_shape_inference_function()) return types;
  NodeContext context(node, inputs);
  try {
    schema->GetTypeAndShapeInferenceFunction()(context);
  } catch (const std::exception& error) {
    std::string reason = error.what();
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    reject({"its shapes make no sense: ", reason});
  }
  for (std::size_t i = 0; i < types.size(); ++i) types[i] = value_of(*context.getOutputType(i));
  return types;
}

}  // namespace tenshot::nasbench
