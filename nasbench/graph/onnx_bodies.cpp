#include <limits>
#include <tuple>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_folding.h"
#include "nasbench/graph/onnx_graph_reader.h"
#include "nasbench/graph/onnx_order.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

const onnx::GraphProto& graph_attribute(const onnx::NodeProto& node, const char* name) {
  const onnx::AttributeProto* found = attribute(node, name);
  if (found == nullptr || !found->has_g()) reject({"it has no body '", name, "'"});
  return found->g();
}

/// The truth of a constant; nothing where it is computed or not known.
std::optional<bool> truth(const OnnxValue& value) {
  if (!value.constant || !value.numbers || value.numbers->size() != 1) return std::nullopt;
  return value.numbers->real(0) != 0;
}

bool same_numbers(const OnnxValue& a, const OnnxValue& b) {
  return a.numbers && b.numbers && a.numbers->values == b.numbers->values;
}

/// Whether the next iteration of a loop reads, as far as we know it, what the last one did.
bool is_alike(const OnnxValue& a, const OnnxValue& b) {
  return a.shape == b.shape && a.sequence == b.sequence && (!a.numbers || same_numbers(a, b));
}

}  // namespace

/// The body `name` of a node. What is found of it is kept: a loop may hold the node.
const OnnxBody& OnnxGraphReader::body_of(const onnx::NodeProto& node, const char* name) {
  const onnx::GraphProto& graph = graph_attribute(node, name);
  const auto [known, is_new] = bodies_.try_emplace(&graph);
  OnnxBody& body = known->second;
  if (!is_new) return body;
  body.origin = origin_ + (node.output_size() > 0 ? node.output(0) : node.name()) + "/" + name + "/";
  std::set<std::string> given, made;
  for (const onnx::ValueInfoProto& input : graph.input()) body.inputs.push_back(input.name());
  for (const onnx::ValueInfoProto& output : graph.output()) body.outputs.push_back(output.name());
  for (const onnx::TensorProto& tensor : graph.initializer()) body.constants.push_back(&tensor);
  for (const onnx::ValueInfoProto& value : graph.value_info()) body.declared.push_back(&value);
  for (const onnx::ValueInfoProto& value : graph.output()) body.declared.push_back(&value);
  given.insert(body.inputs.begin(), body.inputs.end());
  for (const onnx::TensorProto* tensor : body.constants) given.insert(tensor->name());
  for (const onnx::NodeProto& inner : graph.node()) {
    body.nodes.push_back(&inner);
    made.insert(inner.output().begin(), inner.output().end());
  }
  for (const onnx::NodeProto* inner : body.nodes) {
    for (const std::string& read : inner->input()) {
      if (made.count(read) == 0 && scopes_.find(read) != nullptr) given.insert(read);
    }
  }
  body.order = execution_order(body.nodes, given);
  return body;
}

/// The body of a function as `call` calls it: the function's own, but for the nodes that name attributes of the call.
const OnnxBody& OnnxGraphReader::body_of(OnnxFunction& function, const onnx::NodeProto& call) {
  OnnxBody& plain = function.body;
  if (!plain.is_function) {
    plain.is_function = true;
    plain.origin = function.proto->domain() + "." + function.proto->name() + "/";
    plain.inputs.assign(function.proto->input().begin(), function.proto->input().end());
    plain.outputs.assign(function.proto->output().begin(), function.proto->output().end());
    for (onnx::NodeProto& inner : *function.proto->mutable_node()) {
      if (bind_attributes(inner, nullptr)) function.unbound.push_back(plain.nodes.size());
      plain.nodes.push_back(&inner);
    }
    plain.order = execution_order(plain.nodes, {plain.inputs.begin(), plain.inputs.end()});
  }
  if (function.unbound.empty()) return plain;
  const auto [known, is_new] = calls_.try_emplace(&call);
  if (!is_new) return known->second.body;
  known->second.body = plain;
  const onnx::NodeProto full = with_defaults(*function.proto, call);
  count_work(full.ByteSizeLong());
  for (const std::size_t index : function.unbound) {
    onnx::NodeProto& bound = known->second.bound.emplace_back(*plain.nodes[index]);
    bind_attributes(bound, &full);
    count_work(bound.ByteSizeLong());
    known->second.body.nodes[index] = &bound;
  }
  return known->second.body;
}

OnnxValues OnnxGraphReader::run(const OnnxBody& body, const OnnxValues& arguments) {
  constexpr std::size_t deepest = 32;
  count_step();
  if (scopes_.depth() > deepest) throw FormatError("bodies and functions are nested too deep, or call themselves");
  scopes_.enter(body.is_function);
  const std::string outer_origin = std::exchange(origin_, body.origin);
  for (const onnx::TensorProto* tensor : body.constants) {
    OnnxValue value = constant(*tensor, tensor->name());
    count_work(1 + (value.numbers ? value.numbers->size() / 16 : 0));
    scopes_.set(tensor->name(), std::move(value));
  }
  for (std::size_t i = 0; i < std::min(body.inputs.size(), arguments.size()); ++i)
    scopes_.set(body.inputs[i], arguments[i]);
  count_work(body.declared.size() + body.inputs.size() + body.outputs.size());
  for (const onnx::ValueInfoProto* value : body.declared) scopes_.declare(*value);
  for (const std::size_t index : body.order) {
    try {
      count_work(body.nodes[index]->ByteSizeLong() / 64);
      read_node(*body.nodes[index]);
    } catch (const Error& error) {
      reject({place_of(*body.nodes[index], index), ": ", error.what()});
    }
  }
  OnnxValues results;
  for (const std::string& name : body.outputs) {
    const OnnxValue* found = scopes_.find(name);
    if (found == nullptr) reject({"nobody gives the output '", name, "' of its body"});
    results.push_back(*found);
  }
  scopes_.leave();
  origin_ = outer_origin;
  return results;
}

bool OnnxGraphReader::read_body_of(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (node.op_type() == "If" && !inputs.empty() && inputs[0] != nullptr) {
    read_if(node, *inputs[0]);
    return true;
  }
  if (node.op_type() == "Loop") return read_loop(node, inputs);
  return node.op_type() == "Scan" && read_scan(node, inputs);
}

/// What a branch gives. Where it cannot be read, nothing: all but the nodes it added is as before, `fault` says why.
std::optional<OnnxValues> OnnxGraphReader::run_if_readable(const OnnxBody& branch, std::string& fault) {
  const std::size_t depth = scopes_.depth();
  const auto before = std::tuple(origin_, network_.remarks, causes_, left_out_, boundary_, left_out_weights_);
  count_work((network_.remarks.size() + left_out_.size() + boundary_.size() + left_out_weights_.size()) / 16);
  try {
    return run(branch, {});
  } catch (const Error& error) {
    fault = error.what();
  }
  while (scopes_.depth() > depth) scopes_.leave();
  std::tie(origin_, network_.remarks, causes_, left_out_, boundary_, left_out_weights_) = before;
  return std::nullopt;
}

/// The branch that a constant condition chooses; else the one that can be read, as a network has two for inputs of
/// different sizes; of both the one that computes more, which the other may not exceed.
void OnnxGraphReader::read_if(const onnx::NodeProto& node, const OnnxValue& condition) {
  if (const std::optional<bool> known = truth(condition)) {
    const OnnxValues results = run(body_of(node, *known ? "then_branch" : "else_branch"), {});
    for (std::size_t i = 0; i < results.size(); ++i) set(node, static_cast<int>(i), results[i]);
    return;
  }
  const std::size_t start = network_.nodes.size();
  std::string fault;
  const auto first = run_if_readable(body_of(node, "then_branch"), fault);
  const std::size_t middle = network_.nodes.size();
  const OnnxBody& other = body_of(node, "else_branch");
  const auto second = first ? run_if_readable(other, fault) : run(other, {});
  OnnxValues others = first ? *first : *second, results = second ? *second : *first;
  if (computes_less(network_, start, middle)) std::swap(results, others);  // what is not read is no part of the network
  for (std::size_t i = 0; i < results.size() && i < others.size(); ++i) {
    if (results[i].shape != others[i].shape || results[i].sequence != nullptr) results[i].depends = true;
    if (!same_numbers(results[i], others[i])) results[i].numbers.reset();
    if (results[i].constant && !others[i].constant) results[i] = others[i];
    if (results[i].depends) causes_.push_back("If '" + name_of(node) + "'");
    if (results[i].depends && results[i].source.node >= 0) boundary_.insert(results[i].source);
    set(node, static_cast<int>(i), results[i]);
  }
  network_.remarks.push_back(remark_on_branches("If", name_of(node), fault));
}

/// A loop of known length, its iterations one after the other. A condition that is computed may end it earlier. Where
/// the data say how often it runs, it runs once, and how long what it gathers is depends on the data.
bool OnnxGraphReader::read_loop(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (inputs.size() < 2) return false;
  const OnnxValue *count = inputs[0], *condition = inputs[1];
  bool is_open = count != nullptr && (!count->constant || !count->numbers || count->numbers->size() != 1);
  const bool is_counted = count != nullptr && !is_open;
  const std::int64_t most = is_counted ? count->numbers->whole(0) : std::numeric_limits<std::int64_t>::max();
  const OnnxBody& body = body_of(node, "body");
  const std::size_t carried = inputs.size() - 2;
  if (body.outputs.size() < carried + 1 || body.inputs.size() < carried + 2)
    throw FormatError("its body has too few outputs");
  OnnxValues state, before;
  for (std::size_t i = 2; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) throw FormatError("a value that its iterations hand on is missing");
    state.push_back(*inputs[i]);
  }
  std::vector<OnnxValues> scanned(body.outputs.size() - carried - 1);
  bool goes_on = condition == nullptr || truth(*condition).value_or(true), may_end = false;
  is_open = is_open && goes_on;
  for (std::int64_t i = 0; goes_on && i < most; ++i) {
    OnnxValues arguments = {constant_integers({}, {i}), constant_integers({}, {1}, onnx::TensorProto::BOOL)};
    arguments.insert(arguments.end(), state.begin(), state.end());
    OnnxValues results = run(body, arguments);
    const std::optional<bool> known = truth(results[0]);
    is_open = is_open || (!known && !is_counted);
    goes_on = known.value_or(true) && !is_open;
    may_end = may_end || !known;
    before = std::exchange(state, {});
    state.assign(results.begin() + 1, results.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
    for (std::size_t s = 0; s < scanned.size(); ++s) scanned[s].push_back(results[1 + carried + s]);
  }
  for (const OnnxValues& parts : scanned) state.push_back(is_open ? parts.back() : stacked(node, parts, 0, true));
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (is_open && !state[i].depends && (i >= carried || !is_alike(state[i], before[i]))) {
      state[i].depends = true;
      causes_.push_back("Loop '" + name_of(node) + "'");
      if (state[i].source.node >= 0) boundary_.insert(state[i].source);
    }
    set(node, static_cast<int>(i), state[i]);
  }
  if (is_open) {
    network_.remarks.push_back(remark_on_open_loop("Loop", name_of(node)));
  } else if (may_end) {
    network_.remarks.push_back("Loop '" + name_of(node) + "' may end before its " + std::to_string(most) +
                               " iterations, which are counted");
  }
  return true;
}

/// States, then tensors whose elements along an axis are taken in turn; in opset 8 a batch of each, after its lengths.
bool OnnxGraphReader::read_scan(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  const auto opset = file_.opsets.find("");
  const bool batched = opset != file_.opsets.end() && opset->second < 9;
  if (batched && (inputs.empty() || inputs[0] != nullptr)) return false;
  OnnxValues values, results;
  for (std::size_t i = batched ? 1 : 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) throw FormatError("an input of it is missing");
    values.push_back(*inputs[i]);
  }
  if (!batched) results = scan(node, values);
  std::vector<OnnxValues> of_batch;
  const std::int64_t batch = !batched || values.empty() || values[0].shape.empty() ? 0 : values[0].shape[0];
  for (std::int64_t b = 0; b < batch; ++b) {
    OnnxValues own;
    for (const OnnxValue& value : values) {
      if (value.shape.empty() || value.shape[0] != batch) throw FormatError("its inputs are not of one batch");
      own.push_back(element(node, value, 0, b));
    }
    const OnnxValues made = scan(node, own);
    of_batch.resize(made.size());
    for (std::size_t i = 0; i < made.size(); ++i) of_batch[i].push_back(made[i]);
  }
  for (const OnnxValues& parts : of_batch) results.push_back(stacked(node, parts, 0, true));
  for (std::size_t i = 0; i < results.size(); ++i) set(node, static_cast<int>(i), results[i]);
  return true;
}

/// What a Scan of these states and tensors gives: its last states, and all that its steps gave.
OnnxValues OnnxGraphReader::scan(const onnx::NodeProto& node, const OnnxValues& inputs) {
  const std::int64_t scans = integer_attribute(node, "num_scan_inputs", 0);
  if (scans < 1 || scans > static_cast<std::int64_t>(inputs.size())) throw FormatError("it scans no input");
  const std::size_t states = inputs.size() - static_cast<std::size_t>(scans);
  const OnnxBody& body = body_of(node, "body");
  if (body.outputs.size() < states || body.inputs.size() != inputs.size()) throw FormatError("its body does not fit");
  const auto axis_of = [&](const char* name, std::size_t i, std::size_t rank) {
    const std::vector<std::int64_t> axes = integers_attribute(node, name);
    return front_axis(i < axes.size() ? axes[i] : 0, rank);
  };
  const std::int64_t length = inputs[states].shape[axis_of("scan_input_axes", 0, inputs[states].shape.size())];
  std::vector<std::int64_t> directions = integers_attribute(node, "scan_input_directions");
  if (directions.empty()) directions = integers_attribute(node, "directions");
  OnnxValues results(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(states));
  std::vector<OnnxValues> scanned(body.outputs.size() - states);
  for (std::int64_t step = 0; step < length; ++step) {
    OnnxValues arguments = results;
    for (std::size_t i = states; i < inputs.size(); ++i) {
      const std::size_t axis = axis_of("scan_input_axes", i - states, inputs[i].shape.size());
      if (inputs[i].shape[axis] != length) throw FormatError("what it scans is of different lengths");
      const bool backwards = i - states < directions.size() && directions[i - states] == 1;
      arguments.push_back(element(node, inputs[i], axis, backwards ? length - 1 - step : step));
    }
    results = run(body, arguments);
    for (std::size_t s = 0; s < scanned.size(); ++s) scanned[s].push_back(std::move(results[states + s]));
    results.resize(states);
  }
  for (std::size_t s = 0; s < scanned.size(); ++s) {
    const std::size_t rank = scanned[s].empty() ? 1 : scanned[s][0].shape.size() + 1;
    results.push_back(stacked(node, scanned[s], axis_of("scan_output_axes", s, rank), true));
  }
  return results;
}

bool OnnxGraphReader::read_function(const onnx::NodeProto& node, const OnnxInputs& inputs) {
  if (functions_.empty()) return false;
  const auto function = functions_.find(function_name(node, node.domain(), node.op_type(), overload_of_node));
  if (function == functions_.end()) return false;
  OnnxValues arguments;
  for (int i = 0; i < std::max(node.input_size(), function->second.proto->input_size()); ++i) {
    const OnnxValue* input = given(inputs, static_cast<std::size_t>(i));
    arguments.push_back(input == nullptr ? OnnxValue() : *input);
    arguments.back().is_missing = input == nullptr;
  }
  const OnnxValues results = run(body_of(function->second, node), arguments);
  for (std::size_t i = 0; i < results.size(); ++i) set(node, static_cast<int>(i), results[i]);
  return true;
}

}  // namespace tenshot::nasbench
