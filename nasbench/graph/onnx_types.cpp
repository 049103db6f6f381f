#include <algorithm>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_graph_reader.h"
#include "nasbench/graph/onnx_order.h"
#include "nasbench/graph/onnx_shape_rules.h"
#include "nasbench/support/error.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

/// Whether the shape of an output follows from numbers that are computed: of the data, or an input that is no constant.
bool follows_from_data(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  static const auto always = words_of("NonMaxSuppression NonZero Unique Compress StringSplit"),
                    contributed = words_of("RemovePadding BeamSearch GreedySearch Sampling WhisperBeamSearch");
  /// Operators whose inputs say the shape, from the first or from the second on.
  static const auto by_first =
      words_of("ConstantOfShape Range Loop Scan HannWindow HammingWindow BlackmanWindow MelWeightMatrix");
  static const auto by_second = words_of(
      "Reshape Expand Tile Slice Pad Resize Upsample TopK OneHot Split Squeeze Unsqueeze CenterCropPad Col2Im "
      "AffineGrid SplitToSequence SequenceAt DFT STFT");
  const std::string& type = node.op_type();
  if (!node.domain().empty()) return contributed.count(type) != 0;
  if (always.count(type) != 0) return true;
  const bool first = by_first.count(type) != 0, third = type == "MaxUnpool";
  if (!first && !third && by_second.count(type) == 0 && type.rfind("Reduce", 0) != 0) return false;
  const std::size_t from = std::min<std::size_t>(first ? 0 : third ? 2 : 1, inputs.size());
  return std::any_of(inputs.begin() + static_cast<std::ptrdiff_t>(from), inputs.end(),
                     [](const OnnxValue* input) { return input != nullptr && !input->constant; });
}

/// How many elements such a node gives at most, as far as its inputs say.
std::string most_elements(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (inputs.empty() || inputs[0] == nullptr) return {};
  if (node.op_type() == "NonZero" || node.op_type() == "Unique" || node.op_type() == "RemovePadding") {
    return " (at most " + std::to_string(element_count(inputs[0]->shape)) + ")";
  }
  const bool suppression = node.op_type() == "NonMaxSuppression" && inputs.size() > 2 && inputs[1] != nullptr;
  if (!suppression || inputs[2] == nullptr || !inputs[2]->numbers || inputs[2]->numbers->size() != 1) return {};
  const Shape& scores = inputs[1]->shape;
  if (scores.size() != 3) return {};
  const std::int64_t each = std::clamp<std::int64_t>(inputs[2]->numbers->whole(0), 0, scores[2]);
  const std::int64_t classes = scores[0] * scores[1];
  return " (at most " + std::to_string(each) +
         (classes > 1 ? " of each class, " + std::to_string(classes * each) + " together)" : ")");
}

double sum_of(const std::map<std::string, std::int64_t>& elements) {
  double sum = 0;
  for (const auto& [name, count] : elements) sum += static_cast<double>(count);
  return sum;
}

}  // namespace

/// The types of the node's outputs as we or libonnx infer them; else the file says them. Nothing where nobody can.
std::optional<OnnxValues> OnnxGraphReader::output_types(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const auto opset = file_.opsets.find(node.domain());
  constexpr std::int64_t newest = 1000;
  const std::vector<InferredType> inferred =
      inferred_types(node, opset == file_.opsets.end() ? newest : opset->second, inputs);
  const bool all_empty = std::all_of(inferred.begin(), inferred.end(), [](const InferredType& type) {
    return type && std::count(type->shape.begin(), type->shape.end(), 0) > 0;
  });
  OnnxValues outputs;
  for (int i = 0; i < node.output_size(); ++i) {
    InferredType own = inferred[static_cast<std::size_t>(i)];
    const bool goes_on = node.op_type() == "GroupQueryAttention" && i > 0;
    const OnnxValue* past = goes_on ? given(inputs, static_cast<std::size_t>(i) + 2) : nullptr;
    const auto said = past != nullptr ? declared(node, i) : std::nullopt;
    if (own && said && said->shape == past->shape) own->shape = said->shape;  // a buffer with room for what is new
    const std::optional<OnnxValue> known = own ? own : declared(node, i);
    if (!known && follows_from_data(node, inputs)) return std::nullopt;
    if (!known) {
      reject({"the shape of its output '", node.output(i),
              "' is unknown: we cannot infer it, and the file does not say it; write the file with the shapes of "
              "its tensors (onnx.shape_inference, or value_info)"});
    }
    outputs.push_back(*known);
    remark_on_type(known->element);
    require_tensor_size(known->shape, !own || has_sub_graph(node) || all_empty || node.op_type() == "Split");
    const Shape from =
        node.domain().empty() && node.op_type() == "Reshape" && given(inputs, 0) ? inputs[0]->shape : known->shape;
    if (element_count(from) != element_count(known->shape)) {
      reject({"it cannot make ", known->shape, " of ", from, ", which has ", element_count(from), " numbers and not ",
              element_count(known->shape), ": the file is written for inputs of another size"});
    }
  }
  return outputs;
}

std::optional<OnnxValue> OnnxGraphReader::declared(const onnx::NodeProto& node, int output) const {
  OnnxValue value;
  value.element = onnx::TensorProto::FLOAT;
  value.is_declared = true;
  if (node.output(output).empty()) return value;
  const onnx::ValueInfoProto* found = scopes_.declared(node.output(output));
  if (found == nullptr && output > 0) {  // a second output that nobody may read
    return is_read(node, output) && scopes_.depth() == 1 ? std::nullopt : std::optional(value);
  }
  if (found == nullptr || found->type().value_case() == onnx::TypeProto::VALUE_NOT_SET) return std::nullopt;
  const onnx::TypeProto& type = found->type();
  if (!type.has_tensor_type()) return value;  // a sequence: it has a cost and no shape
  value.element = type.tensor_type().elem_type();
  if (!type.tensor_type().has_shape()) return std::nullopt;
  for (const auto& dimension : type.tensor_type().shape().dim()) {
    const auto symbol = symbols_.find(dimension.dim_param());
    const bool known_symbol = !dimension.dim_param().empty() && symbol != symbols_.end();
    if (!known_symbol && (!dimension.has_dim_value() || dimension.dim_value() < 0)) return std::nullopt;
    value.shape.push_back(known_symbol ? symbol->second : dimension.dim_value());
  }
  return value;
}

/// Remarks on data types that came after this program, on each once.
void OnnxGraphReader::remark_on_type(int element) {
  constexpr int newest = 26;  // INT2
  if (element <= newest) return;
  network_.remarks.push_back("it has tensors of data type " + std::to_string(element) +
                             ", newer than this program knows: each of their numbers counts as one byte");
}

/// Leaves out the node and all that reads its outputs. What it reads is an output of the network that is left.
void OnnxGraphReader::leave_out(const onnx::NodeProto& node, OnnxInputs inputs) {
  bool is_cause = true;
  std::deque<OnnxValue> held;
  add_held(node, node.output(0), held);
  for (const OnnxValue& value : held) inputs.push_back(&value);
  for (const OnnxValue* input : inputs) {
    if (input == nullptr) continue;
    if (input->depends) is_cause = false;
    if (!input->constant && !input->depends && input->source.node >= 0) boundary_.insert(input->source);
    for (const StoredTensor& tensor : input->origins) left_out_weights_.emplace(tensor.name, tensor.elements);
  }
  if (is_cause) {
    causes_.push_back(node.op_type() + " '" + name_of(node) + "'" + most_elements(node, inputs));
  } else {
    left_out_.push_back(node.op_type());
  }
  OnnxValue value;
  value.depends = true;
  for (int i = 0; i < node.output_size(); ++i) set(node, i, value);
}

void OnnxGraphReader::read_outputs() {
  if (file_.outputs.empty()) throw FormatError("its graph has no outputs");
  for (const onnx::ValueInfoProto& output : file_.outputs) {
    const OnnxValue* found = scopes_.find(output.name());
    if (found == nullptr) reject({"output '", output.name(), "' is given by no node, input or constant"});
    OnnxInputs tensors = {found};
    if (found->sequence != nullptr) {
      tensors.clear();
      for (const OnnxValue& tensor : *found->sequence) tensors.push_back(&tensor);
    }
    for (const OnnxValue* tensor : tensors) {
      if (!tensor->constant && !tensor->depends) network_.outputs.push_back(tensor->source);
    }
    if (found->constant)
      network_.remarks.push_back("output '" + output.name() + "' is a constant: nothing computes it");
  }
  if (!causes_.empty()) remark_on_what_is_left_out();
  remark_on_outputs();
}

void OnnxGraphReader::remark_on_what_is_left_out() {
  for (const Source& source : boundary_) {
    if (std::find(network_.outputs.begin(), network_.outputs.end(), source) == network_.outputs.end()) {
      network_.outputs.push_back(source);
    }
  }
  const double all = sum_of(trained_);
  const double share = all > 0 ? std::min(1.0, sum_of(left_out_weights_) / all) : 0;
  std::map<std::string, int> kinds;
  for (const std::string& type : left_out_) ++kinds[type];
  std::vector<std::string> after;
  for (const auto& [type, count] : kinds) after.push_back(type + (count > 1 ? " x" + std::to_string(count) : ""));
  const std::string cause =
      causes_.front() + (causes_.size() > 1 ? " and of " + std::to_string(causes_.size() - 1) + " others" : "");
  const std::string rest = std::to_string(left_out_.size()) +
                           (left_out_.size() == 1 ? " operator that reads it" : " operators that read it") +
                           (after.empty() ? "" : " (" + joined(after) + ")");
  const std::string weights = share > 0 ? ", with " + whole_percent(share) + " of the weights" : "";
  constexpr double too_much = 0.9;
  if (network_.outputs.empty() || share > too_much) {
    reject(
        {"the length of the output of ", cause, " depends on the data, and ",
         (left_out_.empty() && weights.empty() ? "nothing is computed before it"
                                               : (left_out_.empty() ? "it" : rest) + weights + ", would be left out"),
         ": too much to say what the network costs; make what decides it a constant, or cut the file "
         "before it (onnx.utils.extract_model)"});
  }
  network_.remarks.push_back("the length of the output of " + cause + " depends on the data; " +
                             (left_out_.empty() ? "it is" : "it and " + rest + " are") + " left out" + weights);
}

/// Says where an output has another shape than the file declares, where nothing else was asked for than what it says.
void OnnxGraphReader::remark_on_outputs() {
  if (options_.batch != 1 || !options_.shapes.empty()) return;
  for (const onnx::ValueInfoProto& output : file_.outputs) {
    const OnnxValue* found = scopes_.find(output.name());
    if (found->depends || found->sequence != nullptr || !output.type().has_tensor_type()) continue;
    if (!output.type().tensor_type().has_shape()) continue;
    Shape said;
    for (const auto& dimension : output.type().tensor_type().shape().dim()) said.push_back(dimension.dim_value());
    if (said == found->shape || std::any_of(said.begin(), said.end(), [](std::int64_t d) { return d <= 0; })) continue;
    network_.remarks.push_back("the file declares output '" + excerpt(output.name()) + "' as " + format(said) +
                               ", its operators give " + format(found->shape));
  }
}

}  // namespace tenshot::nasbench
