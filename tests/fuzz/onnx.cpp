// ONNX models, with libonnx's shape inference. What is read is sound: its operators have shapes and costs, and where
// every operator is known, it is written and read again the same.

#include "nasbench/graph/onnx.h"

#include "nasbench/graph/onnx_reader.h"
#include "tests/fuzz/memory_file.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::survives([&] {
    const nasbench::Network network = nasbench::read_onnx(fuzz::path_of(fuzz::text_of(data, size)));
    for (const nasbench::OperatorSpecification& operation : nasbench::operator_list(network)) {
      fuzz::require(nasbench::multiply_adds(operation) >= 0, "an operator computes something or nothing");
    }
    fuzz::require(!nasbench::content_hash(network).empty(), "a network has a hash");
  });
}
