#include "nasbench/graph/onnx_reader.h"

#include "nasbench/graph/onnx_external.h"
#include "nasbench/graph/onnx_file.h"
#include "nasbench/graph/onnx_graph_reader.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {

Network read_onnx(const std::filesystem::path& path, const OnnxReadOptions& options) {
  if (options.batch < 1) throw InputError("batch is " + std::to_string(options.batch) + "; expected at least 1");
  OnnxFile file = read_onnx_file(path);
  read_small_external_data(file, path);
  return read_checked(path, [&] { return OnnxGraphReader(std::move(file), options).read(); });
}

}  // namespace tenshot::nasbench
