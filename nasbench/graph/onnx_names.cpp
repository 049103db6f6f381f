#include "nasbench/graph/onnx_names.h"

#include <cstddef>

#include "nasbench/graph/onnx_file.h"
#include "nasbench/graph/onnx_order.h"

namespace tenshot::nasbench {

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
