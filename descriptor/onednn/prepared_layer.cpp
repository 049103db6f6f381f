#include "descriptor/onednn/prepared_layer.h"

#include <cstring>
#include <unordered_map>
#include <utility>

#include "descriptor/cold/cold_files.h"
#include "descriptor/compiled/compiled_kernel.h"

namespace tenshot::descriptor {

using dnnl::memory;

namespace {

/// A compiled kernel.
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

/// A primitive of oneDNN, with the reorders around it.
class LibraryCode : public LayerCode {
 public:
  LibraryCode(LayerKernel kernel, const dnnl::engine& engine, bool cached)
      : kernel_(std::move(kernel)),
        engine_(engine),
        primitive_(kernel_.primitive.get()),
        scratchpad_(kernel_.primitive.scratchpad_desc()) {
    if (!kernel_.has_weights) return;
    if (!cached) transform_ = move(kernel_.raw_weights, kernel_.weights);
    before_ = move(kernel_.inputs[0].description, kernel_.source);
    after_ = move(kernel_.target, kernel_.output.description);
  }

  bool has_weights() const override { return kernel_.has_weights; }
  bool transforms() const override { return kernel_.transforms(); }
  std::size_t raw_weight_bytes() const override { return kernel_.raw_weights.get_size(); }
  std::size_t weight_bytes() const override { return kernel_.weights.get_size(); }
  std::size_t bias_bytes() const override { return kernel_.bias.get_size(); }

  void transform(const char* raw, char* ready, dnnl::stream& stream) const override {
    if (!transform_.needed) {
      std::memcpy(ready, raw, weight_bytes());
      return;
    }
    memory from(kernel_.raw_weights, engine_, const_cast<char*>(raw));  // oneDNN's memory is never const
    memory to(kernel_.weights, engine_, ready);
    transform_.primitive.execute(stream, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    stream.wait();
  }

  void execute(ExecutionMemory& memory_of, const char* given_weights) const override {
    const std::size_t scratchpad = aligned(scratchpad_.get_size());
    const std::size_t source = before_.needed ? aligned(kernel_.source.get_size()) : 0;
    memory_of.scratch.require(scratchpad + source + (after_.needed ? kernel_.target.get_size() : 0));
    char* scratch = memory_of.scratch.data();
    std::unordered_map<int, memory> arguments;
    for (const TensorArgument& input : kernel_.inputs) {
      arguments[input.argument] = memory(input.description, engine_, memory_of.at(input.tensor));
    }
    const memory output(kernel_.output.description, engine_, memory_of.at(kernel_.output.tensor));
    arguments[kernel_.output.argument] = output;
    if (scratchpad > 0) arguments[DNNL_ARG_SCRATCHPAD] = memory(scratchpad_, engine_, scratch);
    if (before_.needed) {
      const memory given = arguments[DNNL_ARG_SRC];
      arguments[DNNL_ARG_SRC] = memory(kernel_.source, engine_, scratch + scratchpad);
      before_.primitive.execute(memory_of.stream, {{DNNL_ARG_FROM, given}, {DNNL_ARG_TO, arguments[DNNL_ARG_SRC]}});
    }
    if (after_.needed) {
      arguments[DNNL_ARG_DST] = memory(kernel_.target, engine_, scratch + scratchpad + source);
    }
    if (kernel_.has_weights) {
      char* weights = const_cast<char*>(given_weights);
      arguments[DNNL_ARG_WEIGHTS] = memory(kernel_.weights, engine_, weights);
      arguments[DNNL_ARG_BIAS] = memory(kernel_.bias, engine_, weights + kernel_.weights.get_size());
    }
    primitive_.execute(memory_of.stream, arguments);
    if (after_.needed) {
      after_.primitive.execute(memory_of.stream, {{DNNL_ARG_FROM, arguments[DNNL_ARG_DST]}, {DNNL_ARG_TO, output}});
    }
    memory_of.stream.wait();
  }

 private:
  struct Move {
    dnnl::reorder primitive;
    bool needed = false;
  };

  Move move(const memory::desc& from, const memory::desc& to) const {
    if (from == to) return {};
    return {dnnl::reorder(dnnl::reorder::primitive_desc(engine_, from, engine_, to)), true};
  }

  LayerKernel kernel_;
  dnnl::engine engine_;
  dnnl::primitive primitive_;
  memory::desc scratchpad_;
  Move transform_, before_, after_;
};

/// By a primitive of oneDNN or a compiled kernel; `cached`: its weights come transformed.
std::unique_ptr<LayerCode> code_of(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                                   const std::string& kernel, bool cached) {
  if (!is_compiled(kernel)) {
    return std::make_unique<LibraryCode>(named_kernel(network, layer, engine, kernel), engine, cached);
  }
  std::unique_ptr<CompiledKernel> compiled = compiled_kernel(network, layer, kernel);
  if (!compiled) throw no_kernel(layer, kernel);
  return std::make_unique<CompiledCode>(network, layer, std::move(compiled));
}

}  // namespace

ExecutionMemory::ExecutionMemory(const dnnl::engine& on, const ColdNetwork& network)
    : engine(on), stream(on), places(tensor_places(network)), tensors(places.bytes) {}

PreparedLayer::PreparedLayer(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                             const std::string& kernel, bool cached)
    : code_(code_of(network, layer, engine, kernel, cached)) {}

void PreparedLayer::transform(const char* raw, char* ready, dnnl::stream& stream) {
  code_->transform(raw, ready, stream);
  std::memcpy(ready + code_->weight_bytes(), raw + code_->raw_weight_bytes(), code_->bias_bytes());
  weights_ = ready;
}

}  // namespace tenshot::descriptor
