#include "nasbench/graph/onnx_order.h"

#include <algorithm>
#include <queue>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/onnx_file.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/graph/onnx_values.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {

std::string name_of(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const std::string& output : node.output()) {
    if (!output.empty()) return output;
  }
  return node.op_type();
}

std::string place_of(const onnx::NodeProto& node, std::size_t index) {
  const std::string domain = node.domain().empty() || node.domain() == "ai.onnx" ? "" : node.domain() + ".";
  return "node " + std::to_string(index + 1) + " (" + domain + node.op_type() + " '" + name_of(node) + "')";
}

bool has_sub_graph(const onnx::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const onnx::AttributeProto& a) { return a.has_g() || a.graphs_size() > 0; });
}

void make_uniform(onnx::NodeProto& node) {
  if (node.domain() == "ai.onnx") node.clear_domain();
  for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
    const auto within = [](onnx::GraphProto& graph) {
      for (onnx::NodeProto& inner : *graph.mutable_node()) make_uniform(inner);
      for (const onnx::SparseTensorProto& sparse : graph.sparse_initializer())
        *graph.add_initializer() = as_dense(sparse);
      graph.clear_sparse_initializer();
    };
    if (attribute.has_g()) within(*attribute.mutable_g());
    for (onnx::GraphProto& graph : *attribute.mutable_graphs()) within(graph);
  }
}

bool bind_attributes(onnx::NodeProto& node, const onnx::NodeProto* call) {
  auto& attributes = *node.mutable_attribute();
  bool names_any = false;
  const auto within = [&](onnx::GraphProto& graph) {
    for (onnx::NodeProto& inner : *graph.mutable_node()) names_any = bind_attributes(inner, call) || names_any;
  };
  for (int i = attributes.size() - 1; i >= 0; --i) {
    if (attributes[i].has_g()) within(*attributes[i].mutable_g());
    for (onnx::GraphProto& graph : *attributes[i].mutable_graphs()) within(graph);
    if (attributes[i].ref_attr_name().empty()) continue;
    names_any = true;
    if (call == nullptr) continue;
    const onnx::AttributeProto* given = attribute(*call, attributes[i].ref_attr_name().c_str());
    const std::string name = attributes[i].name();
    if (given == nullptr) {
      attributes.DeleteSubrange(i, 1);
    } else {
      attributes[i] = *given;
      attributes[i].set_name(name);
    }
  }
  return names_any;
}

onnx::NodeProto with_defaults(const onnx::FunctionProto& function, const onnx::NodeProto& call) {
  constexpr int default_values = 11;
  onnx::NodeProto full = call;
  for (const std::string& bytes : newer_fields(function, default_values)) {
    onnx::AttributeProto value;
    if (!value.ParseFromString(bytes)) throw FormatError("a value that its function has for an attribute is damaged");
    if (attribute(call, value.name().c_str()) == nullptr) *full.add_attribute() = std::move(value);
  }
  return full;
}

void for_each_read(const onnx::NodeProto& node, bool nested, const std::function<void(const std::string&)>& visit) {
  if (nested) {
    for (const std::string& input : node.input()) visit(input);
  }
  const auto into = [&](const onnx::GraphProto& graph) {
    std::set<std::string> own;  // a body may give a name that is another tensor's outside
    for (const onnx::ValueInfoProto& input : graph.input()) own.insert(input.name());
    for (const onnx::NodeProto& inner : graph.node()) own.insert(inner.output().begin(), inner.output().end());
    const auto outside = [&](const std::string& name) { own.count(name) == 0 ? visit(name) : void(); };
    for (const onnx::NodeProto& inner : graph.node()) for_each_read(inner, true, outside);
    for (const onnx::ValueInfoProto& output : graph.output()) outside(output.name());
  };
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) into(attribute.g());
    for (const onnx::GraphProto& graph : attribute.graphs()) into(graph);
  }
}

std::vector<std::size_t> execution_order(const std::vector<const onnx::NodeProto*>& nodes,
                                         const std::set<std::string>& given) {
  std::unordered_map<std::string, std::size_t> producers;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i]->output()) {
      if (output.empty() || (producers.emplace(output, i).second && given.count(output) == 0)) continue;
      reject({place_of(*nodes[i], i), ": another node, input or constant gives '", output, "' already"});
    }
  }
  std::vector<std::vector<std::size_t>> readers(nodes.size());
  std::vector<std::size_t> waiting(nodes.size(), 0), order;  // waiting: for how many tensors
  const auto wait = [&](std::size_t reader, const std::string& name) {
    const auto producer = producers.find(name);
    if (producer == producers.end()) return;
    readers[producer->second].push_back(reader);
    ++waiting[reader];
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& input : nodes[i]->input()) {
      if (!input.empty() && given.count(input) == 0 && producers.count(input) == 0) {
        reject({place_of(*nodes[i], i), " reads '", input, "', which no node, input or constant gives"});
      }
      wait(i, input);
    }
    for_each_read(*nodes[i], false, [&](const std::string& name) { wait(i, name); });
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (waiting[i] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const std::size_t reader : readers[order.back()]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }
  if (order.size() == nodes.size()) return order;
  const auto is_stuck = [](std::size_t count) { return count > 0; };
  const auto stuck = std::find_if(waiting.begin(), waiting.end(), is_stuck) - waiting.begin();
  reject({place_of(*nodes[static_cast<std::size_t>(stuck)], static_cast<std::size_t>(stuck)),
          " waits for itself: the graph has a cycle"});
}

std::unordered_map<std::string, int> operators_by_name(const std::filesystem::path& file, const Network& network) {
  const OnnxFile model = read_onnx_file(file);
  std::unordered_map<std::string, int> known;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) known.emplace(network.nodes[i].name, static_cast<int>(i));
  std::unordered_map<std::string, int> found = known, reader_of;  // reader_of: by tensor, who needs it first
  // From the end, so that whoever reads a node's outputs is known before the node. ONNX asks for that order.
  for (auto node = model.nodes.rbegin(); node != model.nodes.rend(); ++node) {
    const auto target = known.find(name_of(*node));
    int operation = target == known.end() ? -1 : target->second;
    for (const std::string& output : node->output()) {
      const auto reader = reader_of.find(output);
      if (operation < 0 && reader != reader_of.end()) operation = reader->second;
    }
    if (operation < 0) continue;
    if (!node->name().empty()) found.emplace(node->name(), operation);
    for (const std::string& output : node->output()) {
      if (!output.empty()) found.emplace(output, operation);
    }
    for (const std::string& input : node->input()) {
      if (!input.empty()) reader_of[input] = operation;
    }
  }
  return found;
}

}  // namespace tenshot::nasbench
