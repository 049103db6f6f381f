#include "nasbench/graph/onnx_external.h"

#include <set>
#include <string>
#include <system_error>

#include "nasbench/graph/onnx_file.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

using Locations = std::set<std::string>;

void add_tensor(const onnx::TensorProto& tensor, Locations& locations) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") locations.insert(entry.value());
  }
}

void add_node(const onnx::NodeProto& node, Locations& locations);

void add_graph(const onnx::GraphProto& graph, Locations& locations) {
  for (const onnx::TensorProto& tensor : graph.initializer()) add_tensor(tensor, locations);
  for (const onnx::NodeProto& node : graph.node()) add_node(node, locations);
}

void add_node(const onnx::NodeProto& node, Locations& locations) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_t()) add_tensor(attribute.t(), locations);
    for (const onnx::TensorProto& tensor : attribute.tensors()) add_tensor(tensor, locations);
    if (attribute.has_g()) add_graph(attribute.g(), locations);
    for (const onnx::GraphProto& graph : attribute.graphs()) add_graph(graph, locations);
  }
}

bool leads_out(const std::filesystem::path& path) {
  if (path.empty() || path.is_absolute()) return true;
  for (const std::filesystem::path& part : path) {
    if (part == "..") return true;
  }
  return false;
}

}  // namespace

std::vector<std::filesystem::path> external_data_files(const std::filesystem::path& model) {
  const OnnxFile file = read_onnx_file(model);
  Locations locations;
  for (const onnx::TensorProto& tensor : file.initializers) add_tensor(tensor, locations);
  for (const onnx::NodeProto& node : file.nodes) add_node(node, locations);
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(model, ignored).parent_path();
  std::vector<std::filesystem::path> files;
  for (const std::string& location : locations) {
    const std::filesystem::path target = std::filesystem::weakly_canonical(folder / location, ignored);
    if (leads_out(location) || leads_out(target.lexically_relative(folder))) {
      throw FormatError("'" + model.string() + "': its weights are in '" + excerpt(location) +
                        "', which is not inside the model's folder");
    }
    files.emplace_back(location);
  }
  return files;
}

}  // namespace tenshot::nasbench
