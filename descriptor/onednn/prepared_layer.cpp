#include "descriptor/onednn/prepared_layer.h"

#include <cstring>

#include "descriptor/cold/stages.h"

namespace tenshot::descriptor {

ExecutionMemory::ExecutionMemory(const dnnl::engine& on, const ColdNetwork& network)
    : engine(on), stream(on), places(tensor_places(network)), tensors(places.bytes) {}

PreparedLayer::PreparedLayer(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                             const std::string& kernel, bool cached)
    : code_(is_compiled(kernel) ? compiled_code(network, layer, kernel)
                                : library_code(network, layer, engine, kernel, cached)) {}

void PreparedLayer::transform(const char* raw, char* ready, dnnl::stream& stream) {
  code_->transform(raw, ready, stream);
  std::memcpy(ready + code_->weight_bytes(), raw + code_->raw_weight_bytes(), code_->bias_bytes());
  weights_ = ready;
}

}  // namespace tenshot::descriptor
