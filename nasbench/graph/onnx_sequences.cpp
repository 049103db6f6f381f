#include <algorithm>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/graph/onnx_graph_reader.h"
#include "nasbench/graph/onnx_order.h"
#include "nasbench/graph/onnx_writing.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

constexpr std::size_t work_of_a_tensor = 16;  // that is copied, beside a name that is looked up

OnnxValue sequence_of(OnnxValues tensors) {
  OnnxValue value;
  value.sequence = std::make_shared<const OnnxValues>(std::move(tensors));
  return value;
}

/// Place `input` of a sequence of `count` tensors, by default that behind them. Nothing where it is computed.
std::optional<std::size_t> place_in(const OnnxValue* input, std::size_t count) {
  if (input == nullptr) return count;
  if (!input->numbers || input->numbers->size() != 1) return std::nullopt;
  std::int64_t place = input->numbers->whole(0);
  if (place < 0) place += static_cast<std::int64_t>(count);
  if (place < 0 || place > static_cast<std::int64_t>(count)) {
    reject({"place ", place, " lies outside a sequence of ", count});
  }
  return static_cast<std::size_t>(place);
}

/// Sizes of the parts of a SplitToSequence; nothing where they are computed.
std::optional<std::vector<std::int64_t>> part_sizes(const OnnxValue* split, std::int64_t extent) {
  constexpr auto most = static_cast<std::int64_t>(onnx_node_limit);
  if (split != nullptr && !split->numbers) return std::nullopt;
  if (split != nullptr && !split->shape.empty()) return whole_numbers(*split);
  const std::int64_t size = split == nullptr ? 1 : split->numbers->whole(0);
  if (size < 1) reject({"it splits into parts of ", size});
  if (extent / size > most) reject({"it splits into more than ", most, " parts"});
  std::vector<std::int64_t> sizes;
  for (std::int64_t left = extent; left > 0; left -= size) sizes.push_back(std::min(size, left));
  return sizes;
}

}  // namespace

/// What the iterations of a loop, or the tensors of a sequence, are together: along a new axis, or one that they have.
OnnxValue OnnxGraphReader::stacked(const onnx::NodeProto& node, const OnnxValues& parts, std::size_t axis,
                                   bool is_new) {
  count_work(parts.size());
  if (parts.empty()) return unknown_constant({0}, onnx::TensorProto::UNDEFINED);
  onnx::NodeProto join;
  join.set_op_type("Concat");
  join.set_name(name_of(node));
  join.add_output("/joined");
  OnnxValue unknown;
  for (OnnxValue part : parts) {
    unknown.depends = unknown.depends || part.depends || part.sequence != nullptr;
    if (axis >= part.shape.size() + (is_new ? 1 : 0)) reject({"what it joins has no axis ", axis});
    if (is_new) part.shape.insert(part.shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    if (is_new && !part.constant && !unknown.depends)
      part.source = builder_.reshape(join.name(), part.source, part.shape);
    join.add_input("/part" + std::to_string(join.input_size()));
    scopes_.set(join.input(join.input_size() - 1), std::move(part));
  }
  if (unknown.depends) return unknown;
  read_node(add_integer(join, "axis", static_cast<std::int64_t>(axis)));
  return *scopes_.find("/joined");
}

OnnxValue OnnxGraphReader::element(const onnx::NodeProto& node, const OnnxValue& whole, std::size_t axis,
                                   std::int64_t index) {
  onnx::NodeProto gather;
  gather.set_op_type("Gather");
  gather.set_name(name_of(node));
  for (const char* name : {"/whole", "/index"}) gather.add_input(name);
  gather.add_output("/element");
  scopes_.set("/whole", whole);
  scopes_.set("/index", constant_integers({}, {index}));
  read_node(add_integer(gather, "axis", static_cast<std::int64_t>(axis)));
  return *scopes_.find("/element");
}

/// Sequences are lists of tensors that the reader keeps; splitting and joining alone are operators.
bool OnnxGraphReader::read_sequence(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (node.op_type() == "SequenceMap") return read_sequence_map(node, inputs);
  std::optional<OnnxValue> value = sequence_value(node, inputs);
  if (value) set(node, 0, std::move(*value));
  return value.has_value();
}

/// The output of a node that makes a sequence or takes from one; nothing where it is none, or a place is computed.
std::optional<OnnxValue> OnnxGraphReader::sequence_value(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::string& type = node.op_type();
  if (type == "SequenceEmpty" || type == "SequenceConstruct") {
    OnnxValues tensors;
    for (const OnnxValue* input : inputs) {
      if (input != nullptr) tensors.push_back(*input);
    }
    return sequence_of(std::move(tensors));
  }
  if (inputs.empty() || inputs[0] == nullptr) return std::nullopt;
  if (type == "SplitToSequence") return split_sequence(node, inputs);
  if (type == "Optional" || type == "OptionalGetElement") return *inputs[0];
  if (inputs[0]->sequence == nullptr) return std::nullopt;
  const std::shared_ptr<const OnnxValues> sequence = inputs[0]->sequence;  // it may be set anew by this node
  if (type == "SequenceLength") return constant_integers({}, {static_cast<std::int64_t>(sequence->size())});
  if (type == "ConcatFromSequence") {
    const bool is_new = integer_attribute(node, "new_axis", 0) != 0;
    const std::size_t rank = sequence->empty() ? 1 : sequence->front().shape.size() + (is_new ? 1 : 0);
    return stacked(node, *sequence, front_axis(integer_attribute(node, "axis", 0), rank), is_new);
  }
  const bool inserts = type == "SequenceInsert";
  if (!inserts && type != "SequenceAt" && type != "SequenceErase") return std::nullopt;
  std::optional<std::size_t> place = place_in(given(inputs, inserts ? 2 : 1), sequence->size());
  if (!place) return std::nullopt;
  if (inserts && given(inputs, 1) == nullptr) throw FormatError("it inserts nothing");
  if (!inserts && sequence->empty()) throw FormatError("its sequence is empty");
  if (!inserts) place = std::min(*place, sequence->size() - 1);
  if (type == "SequenceAt") return (*sequence)[*place];
  count_work(work_of_a_tensor * sequence->size());
  OnnxValues tensors = *sequence;
  const auto at = tensors.begin() + static_cast<std::ptrdiff_t>(*place);
  inserts ? tensors.insert(at, *inputs[1]) : tensors.erase(at);
  return sequence_of(std::move(tensors));
}

std::optional<OnnxValue> OnnxGraphReader::split_sequence(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const OnnxValue& whole = *inputs[0];
  const std::size_t axis = front_axis(integer_attribute(node, "axis", 0), whole.shape.size());
  const std::optional<std::vector<std::int64_t>> sizes = part_sizes(given(inputs, 1), whole.shape[axis]);
  if (!sizes) return std::nullopt;
  count_work(work_of_a_tensor * sizes->size());
  OnnxValues parts;
  const OnnxValue* size = given(inputs, 1);
  // As ONNX Runtime has it, and torch's unbind needs it: parts of one have no such dimension either.
  const bool of_one = size == nullptr || (size->shape.empty() && sizes->front() == 1);
  if (of_one && integer_attribute(node, "keepdims", 1) == 0) {
    for (std::int64_t i = 0; i < whole.shape[axis]; ++i) parts.push_back(element(node, whole, axis, i));
    return sequence_of(std::move(parts));
  }
  onnx::NodeProto split;
  split.set_op_type("Split");
  split.set_name(name_of(node));
  split.add_input(node.input(0));
  for (std::size_t i = 0; i < sizes->size(); ++i) split.add_output(node.output(0) + "/" + std::to_string(i));
  read_node(add_integers(add_integer(split, "axis", static_cast<std::int64_t>(axis)), "split", *sizes));
  for (const std::string& name : split.output()) parts.push_back(*scopes_.find(name));
  return sequence_of(std::move(parts));
}

/// A body, once for each tensor of the first sequence; of other sequences it reads the tensor at the same place.
bool OnnxGraphReader::read_sequence_map(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (given(inputs, 0) == nullptr || inputs[0]->sequence == nullptr) return false;
  const OnnxBody& body = body_of(node, "body");
  std::vector<OnnxValues> made(body.outputs.size());
  for (std::size_t i = 0; i < inputs[0]->sequence->size(); ++i) {
    OnnxValues arguments;
    for (const OnnxValue* input : inputs) {
      const bool is_sequence = input != nullptr && input->sequence != nullptr;
      if (input == nullptr || (is_sequence && i >= input->sequence->size())) throw FormatError("an input is missing");
      arguments.push_back(is_sequence ? (*input->sequence)[i] : *input);
    }
    const OnnxValues results = run(body, arguments);
    for (std::size_t s = 0; s < made.size(); ++s) made[s].push_back(results[s]);
  }
  for (std::size_t s = 0; s < made.size(); ++s) set(node, static_cast<int>(s), sequence_of(std::move(made[s])));
  return true;
}

}  // namespace tenshot::nasbench
