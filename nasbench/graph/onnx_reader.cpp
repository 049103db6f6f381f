#include "nasbench/graph/onnx_reader.h"

#include <algorithm>

#include "nasbench/graph/network_patterns.h"
#include "nasbench/graph/onnx_file.h"
#include "nasbench/graph/onnx_graph_reader.h"
#include "nasbench/graph/operator_products.h"
#include "nasbench/support/error.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {

Network read_onnx(const std::filesystem::path& path, const OnnxReadOptions& options) {
  constexpr std::size_t longest_message = 1000;  // names of nodes and inputs may be anything
  if (options.batch < 1) throw InputError("batch is " + std::to_string(options.batch) + "; expected at least 1");
  OnnxFile file = read_onnx_file(path);
  try {
    Network network = simplified(OnnxGraphReader(std::move(file), options).read());
    const std::string remark = remark_on_weights(operator_list(network));
    if (!remark.empty()) network.remarks.push_back(remark);
    for (std::string& text : network.remarks) text = excerpt(text, longest_message);
    require_sound(network);
    return network;
  } catch (const InputError& error) {
    throw InputError("'" + path.string() + "': " + excerpt(error.what(), longest_message));
  } catch (const FormatError& error) {
    throw FormatError("'" + path.string() + "': " + excerpt(error.what(), longest_message));
  }
}

}  // namespace tenshot::nasbench
