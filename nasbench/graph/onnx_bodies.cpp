#include <algorithm>

#include "nasbench/graph/onnx_arithmetic.h"
#include "nasbench/graph/onnx_graph_reader.h"
#include "nasbench/graph/onnx_order.h"
#include "nasbench/graph/onnx_tensor_folding.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

const onnx::GraphProto& graph_attribute(const onnx::NodeProto& node, const char* name) {
  const onnx::AttributeProto* found = attribute(node, name);
  if (found == nullptr || !found->has_g()) throw FormatError("it has no body '" + std::string(name) + "'");
  return found->g();
}

/// The truth of a constant; nothing where it is computed or not known.
std::optional<bool> truth(const OnnxValue& value) {
  if (!value.constant || !value.numbers || value.numbers->size() != 1) return std::nullopt;
  return value.numbers->real(0) != 0;
}

OnnxValue constant_number(std::int64_t number, int element) {
  Numbers numbers;
  numbers.integers = {number};
  return constant_of({}, element, std::move(numbers));
}

bool same_numbers(const OnnxValue& a, const OnnxValue& b) {
  return a.numbers && b.numbers && a.numbers->integers == b.numbers->integers && a.numbers->reals == b.numbers->reals;
}

std::int64_t products_since(const Network& network, std::size_t first) {
  std::int64_t sum = 0;
  for (std::size_t i = first; i < network.nodes.size(); ++i) sum += multiply_adds(network.nodes[i].operation);
  return sum;
}

/// Attributes of the call in the place of those that the function's nodes name.
void bind_attributes(onnx::NodeProto& node, const onnx::NodeProto& call) {
  auto& attributes = *node.mutable_attribute();
  for (int i = attributes.size() - 1; i >= 0; --i) {
    if (attributes[i].ref_attr_name().empty()) continue;
    const onnx::AttributeProto* given = attribute(call, attributes[i].ref_attr_name().c_str());
    const std::string name = attributes[i].name();
    if (given == nullptr) {
      attributes.DeleteSubrange(i, 1);
    } else {
      attributes[i] = *given;
      attributes[i].set_name(name);
    }
  }
}

}  // namespace

OnnxBody OnnxGraphReader::body_of(const onnx::GraphProto& graph) const {
  OnnxBody body;
  body.nodes.assign(graph.node().begin(), graph.node().end());
  std::set<std::string> given, made;
  for (const onnx::ValueInfoProto& input : graph.input()) body.inputs.push_back(input.name());
  for (const onnx::ValueInfoProto& output : graph.output()) body.outputs.push_back(output.name());
  for (const onnx::TensorProto& tensor : graph.initializer()) body.constants.push_back(&tensor);
  for (const onnx::ValueInfoProto& value : graph.value_info()) body.declared.push_back(&value);
  for (const onnx::ValueInfoProto& value : graph.output()) body.declared.push_back(&value);
  given.insert(body.inputs.begin(), body.inputs.end());
  for (const onnx::TensorProto* tensor : body.constants) given.insert(tensor->name());
  for (onnx::NodeProto& node : body.nodes) {
    if (node.domain() == "ai.onnx") node.clear_domain();
    made.insert(node.output().begin(), node.output().end());
  }
  for (const onnx::NodeProto& node : body.nodes) {
    for (const std::string& name : node.input()) {
      if (made.count(name) == 0 && scopes_.find(name) != nullptr) given.insert(name);
    }
  }
  body.order = execution_order(body.nodes, given);
  return body;
}

/// The outputs of a body, given the values of its inputs.
std::vector<OnnxValue> OnnxGraphReader::run(const OnnxBody& body, const std::vector<OnnxValue>& arguments) {
  constexpr std::size_t deepest = 32;
  count_step();
  if (scopes_.depth() > deepest) throw FormatError("bodies and functions are nested too deep, or call themselves");
  scopes_.enter(body.is_function);
  for (const onnx::TensorProto* tensor : body.constants) scopes_.set(tensor->name(), constant(*tensor, tensor->name()));
  for (std::size_t i = 0; i < body.inputs.size() && i < arguments.size(); ++i) {
    if (!arguments[i].is_missing) scopes_.set(body.inputs[i], arguments[i]);
  }
  for (const onnx::ValueInfoProto* value : body.declared) scopes_.declare(*value);
  for (const std::size_t index : body.order) {
    try {
      read_node(body.nodes[index]);
    } catch (const Error& error) {
      throw FormatError(place_of(body.nodes[index], index) + ": " + error.what());
    }
  }
  std::vector<OnnxValue> results;
  for (const std::string& name : body.outputs) {
    const OnnxValue* found = scopes_.find(name);
    if (found == nullptr) throw FormatError("nobody gives the output '" + name + "' of its body");
    results.push_back(*found);
  }
  scopes_.leave();
  return results;
}

bool OnnxGraphReader::read_body_of(const onnx::NodeProto& node, const Inputs& inputs) {
  if (node.op_type() == "If" && !inputs.empty() && inputs[0] != nullptr) {
    read_if(node, *inputs[0]);
    return true;
  }
  if (node.op_type() == "Loop") return read_loop(node, inputs);
  return node.op_type() == "Scan" && read_scan(node, inputs);
}

/// The branch that a constant condition chooses; else the one that computes more, which the other may not exceed.
void OnnxGraphReader::read_if(const onnx::NodeProto& node, const OnnxValue& condition) {
  const onnx::GraphProto &yes = graph_attribute(node, "then_branch"), &no = graph_attribute(node, "else_branch");
  if (const std::optional<bool> known = truth(condition)) {
    const std::vector<OnnxValue> results = run(body_of(*known ? yes : no), {});
    for (std::size_t i = 0; i < results.size(); ++i) set(node, static_cast<int>(i), results[i]);
    return;
  }
  const std::size_t start = network_.nodes.size();
  std::vector<OnnxValue> others = run(body_of(yes), {});
  const std::size_t middle = network_.nodes.size();
  std::vector<OnnxValue> results = run(body_of(no), {});
  const auto less = [&](std::size_t first, std::size_t second) {
    const std::int64_t later = products_since(network_, second), earlier = products_since(network_, first) - later;
    return later < earlier || (later == earlier && network_.nodes.size() - second < second - first);
  };
  if (less(start, middle)) std::swap(results, others);  // what is not read is no part of the network
  for (std::size_t i = 0; i < results.size() && i < others.size(); ++i) {
    if (results[i].shape != others[i].shape || results[i].sequence != nullptr) results[i].depends = true;
    if (!same_numbers(results[i], others[i])) results[i].numbers.reset();
    if (results[i].constant && !others[i].constant) results[i] = others[i];
    if (results[i].depends) causes_.push_back("If '" + name_of(node) + "'");
    set(node, static_cast<int>(i), results[i]);
  }
  network_.remarks.push_back("the condition of If '" + name_of(node) +
                             "' depends on the data: the branch that computes more is counted");
}

/// A loop of known length, its iterations one after the other. A condition that is computed may end it earlier.
bool OnnxGraphReader::read_loop(const onnx::NodeProto& node, const Inputs& inputs) {
  if (inputs.size() < 2) return false;
  const OnnxValue *count = inputs[0], *condition = inputs[1];
  if (count == nullptr || !count->numbers || count->numbers->size() != 1) return false;
  if (condition != nullptr && !truth(*condition)) return false;
  const std::int64_t most = count->numbers->whole(0);
  const OnnxBody body = body_of(graph_attribute(node, "body"));
  const std::size_t carried = inputs.size() - 2;
  if (body.outputs.size() < carried + 1 || body.inputs.size() < carried + 2)
    throw FormatError("its body has too few outputs");
  std::vector<OnnxValue> state;
  for (std::size_t i = 2; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) throw FormatError("a value that its iterations hand on is missing");
    state.push_back(*inputs[i]);
  }
  std::vector<std::vector<OnnxValue>> scanned(body.outputs.size() - carried - 1);
  bool goes_on = condition == nullptr || *truth(*condition), may_end = false;
  for (std::int64_t i = 0; goes_on && i < most; ++i) {
    std::vector<OnnxValue> arguments = {constant_number(i, onnx::TensorProto::INT64),
                                        constant_number(1, onnx::TensorProto::BOOL)};
    arguments.insert(arguments.end(), state.begin(), state.end());
    std::vector<OnnxValue> results = run(body, arguments);
    const std::optional<bool> known = truth(results[0]);
    goes_on = known.value_or(true);
    may_end = may_end || !known;
    state.assign(results.begin() + 1, results.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
    for (std::size_t s = 0; s < scanned.size(); ++s) scanned[s].push_back(results[1 + carried + s]);
  }
  for (std::size_t i = 0; i < carried; ++i) set(node, static_cast<int>(i), state[i]);
  for (std::size_t s = 0; s < scanned.size(); ++s) {
    set(node, static_cast<int>(carried + s), stacked(node, scanned[s], 0, true));
  }
  if (may_end) {
    network_.remarks.push_back("Loop '" + name_of(node) + "' may end before its " + std::to_string(most) +
                               " iterations, which are counted");
  }
  return true;
}

/// Opset 9 and newer: states, then tensors whose elements along an axis are taken one after the other.
bool OnnxGraphReader::read_scan(const onnx::NodeProto& node, const Inputs& inputs) {
  const auto opset = file_.opsets.find("");
  if (opset != file_.opsets.end() && opset->second < 9) return false;
  const std::int64_t scans = integer_attribute(node, "num_scan_inputs", 0);
  if (scans < 1 || scans > static_cast<std::int64_t>(inputs.size())) throw FormatError("it scans no input");
  const std::size_t states = inputs.size() - static_cast<std::size_t>(scans);
  for (const OnnxValue* input : inputs) {
    if (input == nullptr) throw FormatError("an input of it is missing");
  }
  const OnnxBody body = body_of(graph_attribute(node, "body"));
  if (body.outputs.size() < states || body.inputs.size() != inputs.size()) throw FormatError("its body does not fit");
  const auto axis_of = [&](const char* name, std::size_t i, std::size_t rank) {
    const std::vector<std::int64_t> axes = integers_attribute(node, name);
    return front_axis(i < axes.size() ? axes[i] : 0, rank);
  };
  const std::size_t first_axis = axis_of("scan_input_axes", 0, inputs[states]->shape.size());
  const std::int64_t length = inputs[states]->shape[first_axis];
  const std::vector<std::int64_t> directions = integers_attribute(node, "scan_input_directions");
  std::vector<OnnxValue> scanned_inputs, state;
  for (std::size_t i = 0; i < inputs.size(); ++i) (i < states ? state : scanned_inputs).push_back(*inputs[i]);
  std::vector<std::vector<OnnxValue>> scanned(body.outputs.size() - states);
  for (std::int64_t step = 0; step < length; ++step) {
    std::vector<OnnxValue> arguments = state;
    for (std::size_t i = 0; i < scanned_inputs.size(); ++i) {
      const std::size_t axis = axis_of("scan_input_axes", i, scanned_inputs[i].shape.size());
      if (scanned_inputs[i].shape[axis] != length) throw FormatError("what it scans is of different lengths");
      const bool backwards = i < directions.size() && directions[i] == 1;
      arguments.push_back(element(node, scanned_inputs[i], axis, backwards ? length - 1 - step : step));
    }
    const std::vector<OnnxValue> results = run(body, arguments);
    state.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(states));
    for (std::size_t s = 0; s < scanned.size(); ++s) scanned[s].push_back(results[states + s]);
  }
  for (std::size_t i = 0; i < states; ++i) set(node, static_cast<int>(i), state[i]);
  for (std::size_t s = 0; s < scanned.size(); ++s) {
    const std::size_t rank = scanned[s].empty() ? 1 : scanned[s][0].shape.size() + 1;
    set(node, static_cast<int>(states + s), stacked(node, scanned[s], axis_of("scan_output_axes", s, rank), true));
  }
  return true;
}

bool OnnxGraphReader::read_function(const onnx::NodeProto& node, const Inputs& inputs) {
  if (file_.functions.empty()) return false;
  const auto same = [&](const onnx::FunctionProto& function) {
    const std::string domain = function.domain() == "ai.onnx" ? "" : function.domain();
    return function.name() == node.op_type() && domain == node.domain();
  };
  const auto function = std::find_if(file_.functions.begin(), file_.functions.end(), same);
  if (function == file_.functions.end()) return false;
  OnnxBody body;
  body.is_function = true;
  body.inputs.assign(function->input().begin(), function->input().end());
  body.outputs.assign(function->output().begin(), function->output().end());
  body.nodes.assign(function->node().begin(), function->node().end());
  for (onnx::NodeProto& inner : body.nodes) {
    if (inner.domain() == "ai.onnx") inner.clear_domain();
    bind_attributes(inner, node);
  }
  body.order = execution_order(body.nodes, {body.inputs.begin(), body.inputs.end()});
  std::vector<OnnxValue> arguments;
  for (const OnnxValue* input : inputs) {
    arguments.push_back(input == nullptr ? OnnxValue() : *input);
    arguments.back().is_missing = input == nullptr;
  }
  const std::vector<OnnxValue> results = run(body, arguments);
  for (std::size_t i = 0; i < results.size(); ++i) set(node, static_cast<int>(i), results[i]);
  return true;
}

}  // namespace tenshot::nasbench
