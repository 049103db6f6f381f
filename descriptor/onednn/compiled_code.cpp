#include <cstring>
#include <utility>

#include "descriptor/compiled/compiled_kernel.h"
#include "descriptor/onednn/prepared_layer.h"

namespace tenshot::descriptor {
namespace {

class CompiledCode : public LayerCode {
 public:
  CompiledCode(const ColdNetwork& network, const ColdLayer& layer, std::unique_ptr<CompiledKernel> kernel)
      : inputs_(layer.inputs), output_(layer.output), kernel_(std::move(kernel)) {
    if (!layer.has_weights()) return;
    const nasbench::Shape weights = weight_shape(network, layer);
    raw_numbers_ = static_cast<std::size_t>(nasbench::element_count(weights));
    biases_ = static_cast<std::size_t>(weights[0]);
  }

  bool has_weights() const override { return raw_numbers_ > 0; }
  bool transforms() const override { return kernel_->transforms(); }
  std::size_t raw_weight_bytes() const override { return raw_numbers_ * sizeof(float); }
  std::size_t weight_bytes() const override { return transforms() ? kernel_->weight_bytes() : raw_weight_bytes(); }
  std::size_t bias_bytes() const override { return biases_ * sizeof(float); }

  void transform(const char* raw, char* ready, dnnl::stream&) const override {
    if (transforms()) {
      kernel_->transform(reinterpret_cast<const float*>(raw), reinterpret_cast<float*>(ready));
    } else {
      std::memcpy(ready, raw, raw_weight_bytes());
    }
  }

  void execute(ExecutionMemory& memory, const char* weights) const override {
    memory.scratch.require(kernel_->scratch_bytes());
    CompiledKernel::Arguments arguments;
    for (const int input : inputs_) arguments.inputs.push_back(static_cast<const float*>(memory.at(input)));
    if (has_weights()) {
      arguments.weights = reinterpret_cast<const float*>(weights);
      arguments.bias = reinterpret_cast<const float*>(weights + weight_bytes());
    }
    arguments.output = static_cast<float*>(memory.at(output_));
    arguments.scratch = memory.scratch.data();
    kernel_->execute(arguments);
  }

 private:
  std::vector<int> inputs_;
  int output_;
  std::unique_ptr<CompiledKernel> kernel_;
  std::size_t raw_numbers_ = 0, biases_ = 0;
};

}  // namespace

std::unique_ptr<LayerCode> compiled_code(const ColdNetwork& network, const ColdLayer& layer,
                                         const std::string& kernel) {
  std::unique_ptr<CompiledKernel> compiled = compiled_kernel(network, layer, kernel);
  if (!compiled) throw no_kernel(layer, kernel);
  return std::make_unique<CompiledCode>(network, layer, std::move(compiled));
}

}  // namespace tenshot::descriptor
