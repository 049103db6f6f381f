#include "nasbench/graph/onnx_graph_reader.h"

#include <algorithm>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_external.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/graph/onnx_operators.h"
#include "nasbench/graph/onnx_order.h"
#include "nasbench/graph/onnx_writing.h"
#include "nasbench/graph/operator_products.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

bool is_standard(const onnx::NodeProto& node) { return node.domain().empty(); }

bool is_known_domain(const onnx::NodeProto& node) { return is_standard(node) || node.domain() == "com.microsoft"; }

/// Quant and BipolarQuant of Brevitas and its relatives round a tensor and leave it in floating point.
bool is_simulated_quantisation(const onnx::NodeProto& node) {
  static const std::set<std::string> types = {"Quant", "IntQuant", "FloatQuant", "BipolarQuant", "Trunc"};
  return !is_standard(node) && types.count(node.op_type()) != 0 &&
         (node.domain() == "onnx.brevitas" || node.domain().find("custom_op") != std::string::npos);
}

/// Nodes that hand their first input on, of another type at most.
bool is_alias(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  static const std::set<std::string> types = {"Identity", "Dropout", "QuantizeLinear", "DequantizeLinear"};
  if (inputs.empty() || inputs[0] == nullptr) return false;
  if (is_simulated_quantisation(node)) return true;
  const bool quantises = node.op_type() == "QuantizeLinear" || node.op_type() == "DequantizeLinear";
  if (!is_standard(node) && !(is_known_domain(node) && quantises)) return false;
  if (inputs[0]->constant) return types.count(node.op_type()) != 0 && node.op_type() != "Identity";
  if (node.op_type() == "Cast") {
    return element_type(inputs[0]->element) == element_type(static_cast<int>(integer_attribute(node, "to", 0)));
  }
  return types.count(node.op_type()) != 0;
}

bool asks_for_shape(const onnx::NodeProto& node) { return node.op_type() == "Shape" || node.op_type() == "Size"; }

/// What the constant `result` is made of, and in how many bits. A vector that an Identity hands on is one of its own:
/// PyTorch writes vectors of equal numbers, as scales of new norms are, once with an Identity for each of the others.
void trace_origins(const onnx::NodeProto& node, const OnnxInputs& inputs, const std::string& body, OnnxValue& result) {
  const bool handed_on = node.op_type() == "Identity" && inputs[0] != nullptr && inputs[0]->shape.size() == 1;
  if (handed_on && inputs[0]->origins.size() == 1) {
    result.origins = {{body + node.output(0), inputs[0]->origins[0].elements}};
    return;
  }
  for (const OnnxValue* input : inputs) {
    if (input == nullptr) continue;
    add_origins(*input, result.origins);
    if (result.bits == 0 && is_trained(*input)) result.bits = input->bits > 0 ? input->bits : bit_count(input->element);
  }
}

/// The tensors in `stored` that a step is made of: one of its size, if possible not `taken` by one before; else all.
std::vector<StoredTensor> tensors_of_step(std::int64_t parameters, const std::vector<StoredTensor>& stored,
                                          std::set<std::string>& taken) {
  const StoredTensor* found = nullptr;
  for (const StoredTensor& tensor : stored) {
    if (tensor.elements != parameters) continue;
    const bool is_free = taken.count(tensor.name) == 0;
    if (found == nullptr || is_free) found = &tensor;
    if (is_free) break;
  }
  if (found == nullptr) return stored;
  taken.insert(found->name);
  return {*found};
}

}  // namespace

OnnxGraphReader::OnnxGraphReader(OnnxFile file, const OnnxReadOptions& options)
    : file_(std::move(file)), options_(options) {}

Network OnnxGraphReader::read() {
  const auto opset = file_.opsets.find("");
  if (opset != file_.opsets.end() && opset->second < 7) {
    reject({"it is of opset ", opset->second,
            "; expected 7 or newer: write it anew with onnx.version_converter.convert_version(model, 13)"});
  }
  if (opset != file_.opsets.end() && opset->second > 23) {
    network_.remarks.push_back("it is of opset " + std::to_string(opset->second) +
                               ", newer than this program knows: its operators are read as of opset 23");
  }
  if (file_.nodes.empty()) throw FormatError("its graph has no nodes");
  network_.names_stored = true;
  for (const onnx::TensorProto& tensor : file_.initializers) read_constant(tensor);
  read_inputs();
  std::set<std::string> given;
  for (const onnx::TensorProto& tensor : file_.initializers) given.insert(tensor.name());
  for (const onnx::ValueInfoProto& input : file_.inputs) given.insert(input.name());
  for (const onnx::ValueInfoProto& value : file_.values) scopes_.declare(value);
  for (const onnx::ValueInfoProto& value : file_.outputs) {
    scopes_.declare(value);
    read_names_.insert(value.name());
  }
  std::vector<const onnx::NodeProto*> nodes;
  for (onnx::NodeProto& node : file_.nodes) {
    make_uniform(node);
    const bool old = opset != file_.opsets.end() && opset->second < 13;
    if (old && is_standard(node) && ends_with(node.op_type(), "Softmax") && attribute(node, "axis") == nullptr) {
      add_integer(node, "axis", 1);
    }
    nodes.push_back(&node);
    for_each_read(node, true, [&](const std::string& name) { read_names_.insert(name); });
  }
  for (onnx::FunctionProto& function : file_.functions) {
    for (onnx::NodeProto& node : *function.mutable_node()) make_uniform(node);
    const std::string domain = function.domain() == "ai.onnx" ? "" : function.domain();
    functions_[function_name(function, domain, function.name(), overload_of_function)].proto = &function;
  }
  for (const std::size_t index : execution_order(nodes, given)) {
    try {
      read_node(file_.nodes[index]);
    } catch (const Error& error) {
      reject({place_of(file_.nodes[index], index), ": ", error.what()});
    }
  }
  read_outputs();
  return builder_.take();
}

void OnnxGraphReader::count_step() {
  constexpr std::size_t most = onnx_node_limit + onnx_node_limit / 2;
  if (++steps_ > most) reject({"with the iterations of its loops the model has more than ", most, " nodes"});
}

/// Counts what each step may have as much of as the file is large: names that bodies read, tensors of sequences, bytes
/// of functions that are written out, and in part the bytes of nodes in bodies.
void OnnxGraphReader::count_work(std::size_t items) {
  constexpr std::size_t most = std::size_t{1} << 24;
  work_ += items;
  if (work_ > most) {
    throw FormatError("its loops, functions and sequences take more than 2^24 steps to follow: write it out before");
  }
}

/// What the node's sub-graphs read from outside, each once.
OnnxInputs OnnxGraphReader::outer_values(const onnx::NodeProto& node) {
  OnnxInputs values;
  std::set<std::string> seen;
  for_each_read(node, false, [&](const std::string& name) {
    count_work(1);
    const OnnxValue* found = seen.insert(name).second ? scopes_.find(name) : nullptr;
    if (found != nullptr) values.push_back(found);
  });
  return values;
}

void OnnxGraphReader::read_node(const onnx::NodeProto& node) {
  count_step();
  if (node.output_size() == 0) throw FormatError("it has no outputs");
  OnnxInputs inputs;
  bool constant_inputs = true, depends = false;
  for (const std::string& name : node.input()) {
    const OnnxValue* value = name.empty() ? nullptr : scopes_.find(name);
    if (value == nullptr && !name.empty()) reject({"it reads '", name, "', which nobody gives"});
    if (value != nullptr && value->is_missing) value = nullptr;
    inputs.push_back(value);
    constant_inputs = constant_inputs && (value == nullptr || (value->constant && value->sequence == nullptr));
    depends = depends || (value != nullptr && value->depends);
  }
  if (is_standard(node) && node.op_type() == "CastLike" && given(inputs, 1) != nullptr) {
    onnx::NodeProto cast = node;
    cast.set_op_type("Cast");
    cast.mutable_input()->RemoveLast();
    return read_node(add_integer(cast, "to", inputs[1]->element));
  }
  if (depends) return leave_out(node, inputs);
  if (read_special(node, inputs) || read_folded(node, inputs)) return;
  OnnxInputs all = inputs;
  if (has_sub_graph(node)) {
    for (const OnnxValue* value : outer_values(node)) {
      depends = depends || value->depends;
      all.push_back(value);
    }
    if (depends) return leave_out(node, all);
  }
  std::optional<OnnxValues> outputs = output_types(node, inputs);
  if (!outputs) return leave_out(node, all);
  const bool is_empty = std::all_of(outputs->begin(), outputs->end(),
                                    [](const OnnxValue& value) { return element_count(value.shape) == 0; });
  static const auto keepers = words_of("Reshape Squeeze Unsqueeze Flatten");  // of their numbers and of their order
  const bool keeps = constant_inputs && known(inputs, 0) && is_standard(node) && keepers.count(node.op_type()) != 0;
  if (keeps && !outputs->front().is_declared) outputs->front().numbers = inputs[0]->numbers;
  if (is_empty || (constant_inputs && !node.input().empty() && !has_sub_graph(node))) {
    return set_constants(node, inputs, std::move(*outputs));
  }
  add_operator(node, inputs, *outputs);
}

/// What is no operator of the network: constants, aliases, sequences, and what has a body.
bool OnnxGraphReader::read_special(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (is_standard(node) && node.op_type() == "Constant") {
    set(node, 0, stored_value(node));
    return true;
  }
  if (is_alias(node, inputs)) {
    set_alias(node, *inputs[0]);
    return true;
  }
  return read_blocked(node, inputs) || read_function(node, inputs) ||
         (is_standard(node) && (read_sequence(node, inputs) || read_body_of(node, inputs)));
}

/// Whether the numbers of a constant may be kept, or computed with: of large ones, up to 2^25 in the whole model.
bool OnnxGraphReader::can_afford(const OnnxValue& value) {
  constexpr std::size_t most = std::size_t{1} << 25;
  if (!value.numbers || value.numbers->size() <= kept_numbers) return true;
  return (numbers_ += value.numbers->size()) <= most;
}

bool OnnxGraphReader::read_folded(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const bool can_compute = asks_for_shape(node) ||
                           std::all_of(inputs.begin(), inputs.end(),
                                       [&](const OnnxValue* input) { return input == nullptr || can_afford(*input); });
  std::optional<OnnxValues> results = is_standard(node) && can_compute ? folded({node, inputs}) : std::nullopt;
  if (results) set_constants(node, inputs, std::move(*results));
  return results.has_value();
}

void OnnxGraphReader::set_constants(const onnx::NodeProto& node, const OnnxInputs& inputs, OnnxValues outputs) {
  const bool repeats = node.op_type() == "Expand" || node.op_type() == "Tile";
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].constant = true;
    outputs[i].stored = repeats && inputs[0] != nullptr ? inputs[0]->stored : outputs[i].shape;
    if (!asks_for_shape(node)) trace_origins(node, inputs, origin_, outputs[i]);
    set(node, static_cast<int>(i), std::move(outputs[i]));
  }
}

void OnnxGraphReader::set_alias(const onnx::NodeProto& node, OnnxValue value) {
  if (node.op_type() == "Dropout") set(node, 1, unknown_constant(value.shape, onnx::TensorProto::BOOL));
  if (node.op_type() == "QuantizeLinear") {
    const bool has_zero = node.input_size() > 2 && !node.input(2).empty();
    const std::int64_t other = integer_attribute(node, "output_dtype", onnx::TensorProto::UINT8);
    value.numbers.reset();
    value.element = has_zero ? scopes_.find(node.input(2))->element : static_cast<int>(other);
    value.bytes = element_type(value.element);
  } else if (node.op_type() == "DequantizeLinear") {
    value.bytes = element_type(value.element);
    value.bits = bit_count(value.element);
    const OnnxValue* scale = node.input_size() > 1 ? scopes_.find(node.input(1)) : nullptr;
    value.element = scale != nullptr ? scale->element : static_cast<int>(onnx::TensorProto::FLOAT);
    value.numbers.reset();
  }
  set(node, 0, std::move(value));
}

void OnnxGraphReader::set(const onnx::NodeProto& node, int output, OnnxValue value) {
  if (!can_afford(value)) value.numbers.reset();
  if (output < node.output_size() && !node.output(output).empty()) scopes_.set(node.output(output), std::move(value));
}

/// Within a body every output may be read.
bool OnnxGraphReader::is_read(const onnx::NodeProto& node, int output) const {
  return !node.output(output).empty() && (scopes_.depth() > 1 || read_names_.count(node.output(output)) != 0);
}

void OnnxGraphReader::add_operator(const onnx::NodeProto& node, const OnnxInputs& inputs,
                                   const OnnxValues& all_outputs) {
  OnnxValues outputs;
  std::vector<int> places;  // of those among all: a part without elements is a constant
  for (int i = 0; i < static_cast<int>(all_outputs.size()); ++i) {
    const OnnxValue& output = all_outputs[static_cast<std::size_t>(i)];
    if (node.op_type() == "Split" && element_count(output.shape) == 0) {
      set(node, i, unknown_constant(output.shape, output.element));
    } else {
      outputs.push_back(output);
      places.push_back(i);
    }
  }
  const bool has_statistics = node.op_type().find("Normalization") != std::string::npos;
  while (has_statistics && outputs.size() > 1 && !is_read(node, places.back())) {
    outputs.pop_back();
    places.pop_back();
  }
  NetworkNode added = is_known_domain(node) ? operator_of(node, inputs, outputs) : NetworkNode();
  const bool is_unheard_of = !is_standard(node) && outputs[0].is_declared && !is_known_operator(added.operation);
  if (!is_known_domain(node) || is_unheard_of) added = foreign_operator(node, inputs, outputs);
  const auto is_rounding_scale = [&](const Source& input) {
    return input.node >= 0 && input.output == 1 &&
           network_.nodes[static_cast<std::size_t>(input.node)].operation.name == "DynamicQuantizeLinear";
  };
  if (node.op_type() == "Mul" && std::any_of(added.inputs.begin(), added.inputs.end(), is_rounding_scale)) {
    for (StoredTensor& scale : added.stored) scale.name.clear();  // of weights, and no parameter
  }
  if (added.operation.kind == OperatorKind::opaque && add_composed(node, inputs, outputs, added)) return;
  if (has_sub_graph(node)) {
    for (const OnnxValue* value : outer_values(node)) {
      const bool known = std::find(added.inputs.begin(), added.inputs.end(), value->source) != added.inputs.end();
      if (!known && !value->constant && value->sequence == nullptr) added.inputs.push_back(value->source);
    }
    network_.remarks.push_back("what the body of " + node.op_type() + " '" + name_of(node) +
                               "' computes is not counted: how often it runs depends on the data");
  }
  const Source first = append(node, std::move(added));
  const std::size_t kept = network_.nodes.back().outputs.size();
  for (std::size_t i = 0; i < outputs.size() && i < kept; ++i) {
    OnnxValue value = outputs[i];
    value.source = {first.node, static_cast<int>(i)};
    set(node, places[i], std::move(value));
  }
}

bool OnnxGraphReader::add_composed(const onnx::NodeProto& node, const OnnxInputs& inputs, const OnnxValues& outputs,
                                   const NetworkNode& plain) {
  if (!is_known_domain(node)) return false;
  const std::size_t before = network_.nodes.size();
  const std::optional<Source> result = composed(OnnxSteps(builder_, name_of(node)), node, inputs, outputs);
  std::set<std::string> taken;
  for (std::size_t i = before; i < network_.nodes.size(); ++i) {
    NetworkNode& step = network_.nodes[i];
    require_countable(step.operation);
    step.operation.type = step.outputs[0].type = plain.operation.type;
    const std::int64_t parameters = parameter_count(step.operation);
    if (parameters > 0) step.operation.weight_bits = plain.operation.weight_bits;
    if (step.stored.empty()) step.stored = tensors_of_step(parameters, plain.stored, taken);
  }
  if (!result) return false;
  OnnxValue value = outputs[0];
  value.source = *result;
  set(node, 0, std::move(value));
  return true;
}

Source OnnxGraphReader::append(const onnx::NodeProto& of, NetworkNode node) {
  require_countable(node.operation);
  node.name = name_of(of);
  return builder_.append(std::move(node));
}

Network read_onnx(const std::filesystem::path& path, const OnnxReadOptions& options) {
  if (options.batch < 1) throw InputError("batch is " + std::to_string(options.batch) + "; expected at least 1");
  OnnxFile file = read_onnx_file(path);
  read_kept_data(file, path);
  return read_checked(path, [&] { return OnnxGraphReader(std::move(file), options).read(); });
}

}  // namespace tenshot::nasbench
