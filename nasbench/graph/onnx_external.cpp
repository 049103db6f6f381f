#include "nasbench/graph/onnx_external.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <system_error>

#include "nasbench/graph/onnx_file.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

/// The last bytes that a file of weights has to hold.
struct Needed {
  std::string tensor;
  long long begin = 0, end = 0;
};
using Locations = std::map<std::string, Needed>;

void add_tensor(const onnx::TensorProto& tensor, Locations& locations) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
  std::string location;
  long long offset = 0, length = 0;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = parse_integer(entry.value()).value_or(0);
    if (entry.key() == "length") length = parse_integer(entry.value()).value_or(0);
  }
  constexpr long long largest = 1LL << 60;  // more is damaged, and its sum could overflow
  const long long end = std::clamp(offset, 0LL, largest) + std::clamp(length, 0LL, largest);
  Needed& needed = locations[location];
  if (end > needed.end) needed = {tensor.name(), offset, end};
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
  for (const auto& [location, needed] : locations) {
    const std::filesystem::path target = std::filesystem::weakly_canonical(folder / location, ignored);
    if (leads_out(location) || leads_out(target.lexically_relative(folder))) {
      throw FormatError("'" + model.string() + "': its weights are in '" + excerpt(location) +
                        "', which is not inside the model's folder");
    }
    const std::uintmax_t size = std::filesystem::file_size(target, ignored);
    if (!ignored && size < static_cast<std::uintmax_t>(needed.end)) {
      throw FormatError("'" + target.string() + "': holds " + std::to_string(size) + " bytes, and the weights '" +
                        excerpt(needed.tensor) + "' of '" + model.string() + "' are at " +
                        std::to_string(needed.begin) + " to " + std::to_string(needed.end) +
                        "; copy the whole file anew");
    }
    files.emplace_back(location);
  }
  return files;
}

}  // namespace tenshot::nasbench
