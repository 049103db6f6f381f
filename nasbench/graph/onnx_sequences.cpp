#include <algorithm>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/graph/onnx_graph_reader.h"
#include "nasbench/graph/onnx_order.h"
#include "nasbench/graph/onnx_shape_rules.h"
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

/// Place `input` of a sequence of `count` tensors; where it is left out, the place behind them. Nothing where it is
/// computed.
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

/// A constant of parts along the first axis has their numbers, where all are known and few.
OnnxValue with_joined_numbers(OnnxValue whole, const OnnxValues& parts) {
  Numbers numbers;
  for (const OnnxValue& part : parts) {
    if (!part.numbers || element_count(whole.shape) > kept_numbers) return whole;
    numbers.integer = part.numbers->integer;
    for (std::size_t i = 0; i < part.numbers->size(); ++i) append_number(*part.numbers, i, numbers);
  }
  whole.numbers = std::move(numbers);
  return whole;
}

}  // namespace

/// What the iterations of a loop, or the tensors of a sequence, are together: along a new axis, or one that they have.
OnnxValue OnnxGraphReader::stacked(const onnx::NodeProto& node, const OnnxValues& parts, std::size_t axis,
                                   bool is_new) {
  count_work(parts.size());
  OnnxValue whole;
  whole.constant = true;
  if (parts.empty()) whole.shape = {0};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const OnnxValue& part = parts[i];
    whole.depends = whole.depends || part.depends || part.sequence != nullptr;
    whole.constant = whole.constant && part.constant;
    Shape shape = part.shape;
    if (axis >= shape.size() + (is_new ? 1 : 0)) reject({"what it joins has no axis ", axis});
    if (is_new) shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    if (i == 0) {
      whole.shape = shape;
      whole.element = part.element;
    } else if (whole.shape.size() == shape.size()) {
      whole.shape[axis] += shape[axis];
    } else {
      throw FormatError("what it joins has different numbers of dimensions");
    }
    add_origins(part, whole.origins);
  }
  whole.stored = whole.shape;
  require_tensor_size(whole.shape, true);
  if (whole.depends || whole.constant) return axis == 0 ? with_joined_numbers(std::move(whole), parts) : whole;
  std::vector<Source> computed;
  for (const OnnxValue& part : parts) {
    if (part.constant) continue;
    Shape stretched = part.shape;
    if (is_new) stretched.insert(stretched.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    computed.push_back(is_new ? builder_.reshape(name_of(node), part.source, stretched) : part.source);
  }
  NetworkNode joined = builder_.node(OperatorKind::concatenate, "", std::move(computed), whole.shape);
  joined.operation.type = joined.outputs[0].type = element_type(whole.element);
  joined.attributes.axes = {static_cast<std::int64_t>(axis)};
  whole.source = append(node, std::move(joined));
  return whole;
}

/// One element of a tensor along an axis, without it.
OnnxValue OnnxGraphReader::element(const onnx::NodeProto& node, const OnnxValue& whole, std::size_t axis,
                                   std::int64_t index) {
  OnnxValue part = whole;
  part.shape.erase(part.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  if (whole.constant) {
    part.numbers.reset();
    part.stored = part.shape;
    return part;
  }
  NetworkNode slice = builder_.node(OperatorKind::split, "", {whole.source}, part.shape, "slice");
  slice.operation.type = slice.outputs[0].type = element_type(part.element);
  slice.attributes.axes = {static_cast<std::int64_t>(axis)};
  slice.attributes.starts = {index};
  slice.attributes.steps = {1};
  part.source = append(node, std::move(slice));
  return part;
}

/// Sequences are lists of tensors that the reader keeps; splitting and joining alone are operators.
bool OnnxGraphReader::read_sequence(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const std::string& type = node.op_type();
  if (type == "SequenceEmpty" || type == "SequenceConstruct") {
    OnnxValues tensors;
    for (const OnnxValue* input : inputs) {
      if (input != nullptr) tensors.push_back(*input);
    }
    set(node, 0, sequence_of(std::move(tensors)));
    return true;
  }
  if (inputs.empty() || inputs[0] == nullptr) return false;
  if (type == "SplitToSequence") return read_split_to_sequence(node, inputs);
  if (type == "SequenceMap") return read_sequence_map(node, inputs);
  if (type == "Split") return read_split(node, inputs);
  if (type == "Optional" || type == "OptionalGetElement") {
    set(node, 0, *inputs[0]);
    return true;
  }
  if (inputs[0]->sequence == nullptr) return false;
  const std::shared_ptr<const OnnxValues> sequence = inputs[0]->sequence;  // it may be set anew by this node
  if (type == "SequenceLength") {
    set(node, 0, constant_integers({}, {static_cast<std::int64_t>(sequence->size())}));
    return true;
  }
  if (type == "ConcatFromSequence") {
    const bool is_new = integer_attribute(node, "new_axis", 0) != 0;
    const std::size_t rank = sequence->empty() ? 1 : sequence->front().shape.size() + (is_new ? 1 : 0);
    set(node, 0, stacked(node, *sequence, front_axis(integer_attribute(node, "axis", 0), rank), is_new));
    return true;
  }
  const bool inserts = type == "SequenceInsert";
  if (!inserts && type != "SequenceAt" && type != "SequenceErase") return false;
  std::optional<std::size_t> place = place_in(given(inputs, inserts ? 2 : 1), sequence->size());
  if (!place) return false;
  if (inserts && given(inputs, 1) == nullptr) throw FormatError("it inserts nothing");
  if (!inserts && sequence->empty()) throw FormatError("its sequence is empty");
  if (!inserts) place = std::min(*place, sequence->size() - 1);
  if (type == "SequenceAt") {
    set(node, 0, (*sequence)[*place]);
    return true;
  }
  count_work(work_of_a_tensor * sequence->size());
  OnnxValues tensors = *sequence;
  const auto at = tensors.begin() + static_cast<std::ptrdiff_t>(*place);
  inserts ? tensors.insert(at, *inputs[1]) : tensors.erase(at);
  set(node, 0, sequence_of(std::move(tensors)));
  return true;
}

bool OnnxGraphReader::read_split_to_sequence(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const OnnxValue& whole = *inputs[0];
  const std::size_t axis = front_axis(integer_attribute(node, "axis", 0), whole.shape.size());
  const std::optional<std::vector<std::int64_t>> sizes = part_sizes(given(inputs, 1), whole.shape[axis]);
  if (!sizes) return false;
  count_work(work_of_a_tensor * sizes->size());
  const bool drops = given(inputs, 1) == nullptr && integer_attribute(node, "keepdims", 1) == 0;
  OnnxValues parts;
  std::int64_t rest = whole.shape[axis];
  for (const std::int64_t size : *sizes) {
    if (size < 0 || size > rest) break;
    rest -= size;
    OnnxValue part = whole;
    part.numbers.reset();
    part.shape[axis] = size;
    if (drops) part.shape.erase(part.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    part.stored = part.shape;
    parts.push_back(std::move(part));
  }
  if (rest != 0 || parts.size() != sizes->size()) throw FormatError("its parts are not the whole");
  if (!whole.constant) {
    const auto sources = builder_.split(name_of(node), whole.source, *sizes, static_cast<std::int64_t>(axis));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].source = drops ? builder_.reshape(name_of(node), sources[i], parts[i].shape) : sources[i];
    }
  }
  set(node, 0, sequence_of(std::move(parts)));
  return true;
}

/// A body, once for each tensor of the first sequence; of other sequences it reads the tensor at the same place.
bool OnnxGraphReader::read_sequence_map(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (inputs[0]->sequence == nullptr) return false;
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

/// A Split with parts that are empty is one without them: they are constants.
bool OnnxGraphReader::read_split(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const auto sizes = inputs[0]->constant ? std::nullopt : split_sizes({node, inputs});
  if (!sizes || std::count(sizes->begin(), sizes->end(), 0) == 0) return false;
  OnnxValue none;
  none.constant = true;
  none.element = inputs[0]->element;
  none.shape = inputs[0]->shape;
  none.shape[front_axis(integer_attribute(node, "axis", 0), none.shape.size())] = 0;
  none.stored = none.shape;
  onnx::NodeProto rest;
  rest.set_op_type("Split");
  rest.set_name(node.name());
  rest.add_input(node.input(0));
  add_integer(rest, "axis", integer_attribute(node, "axis", 0));
  std::vector<std::int64_t> full;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    const int output = static_cast<int>(i);
    if ((*sizes)[i] == 0) set(node, output, none);
    if ((*sizes)[i] == 0 || output >= node.output_size()) continue;
    rest.add_output(node.output(output));
    full.push_back((*sizes)[i]);
  }
  add_integers(rest, "split", full);
  read_node(rest);
  return true;
}

}  // namespace tenshot::nasbench
