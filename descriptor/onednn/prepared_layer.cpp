#include "descriptor/onednn/prepared_layer.h"

#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "descriptor/cold/cold_files.h"
#include "descriptor/compiled/compiled_kernel.h"
#include "descriptor/compiled/layout.h"

namespace tenshot::descriptor {

using dnnl::memory;

namespace {

/// A primitive of oneDNN, with the reorders around it.
class Primitive {
 public:
  Primitive(LayerKernel kernel, const dnnl::engine& engine, bool cached)
      : kernel_(std::move(kernel)),
        engine_(engine),
        primitive_(kernel_.primitive.get()),
        scratchpad_(kernel_.primitive.scratchpad_desc()) {
    if (!kernel_.has_weights) return;
    if (!cached) transform_ = move(kernel_.raw_weights, kernel_.weights);
    before_ = move(kernel_.inputs[0].description, kernel_.source);
    after_ = move(kernel_.target, kernel_.output.description);
  }

  bool needs_transformation() const { return transform_.needed; }

  void transform(const char* raw, char* ready, dnnl::stream& stream) const {
    memory from(kernel_.raw_weights, engine_, const_cast<char*>(raw));  // oneDNN's memory is never const
    memory to(kernel_.weights, engine_, ready);
    transform_.primitive.execute(stream, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    stream.wait();
  }

  void execute(ExecutionMemory& memory_of, const char* given_weights) const {
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

}  // namespace

ExecutionMemory::ExecutionMemory(const dnnl::engine& on, const ColdNetwork& network)
    : engine(on), stream(on), places(tensor_places(network)), tensors(places.bytes) {}

PreparedLayer::PreparedLayer(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                             const std::string& kernel, bool cached) {
  if (is_compiled(kernel)) {
    use_compiled(network, layer, kernel);
  } else {
    use_library(named_kernel(network, layer, engine, kernel), engine, cached);
  }
}

void PreparedLayer::use_compiled(const ColdNetwork& network, const ColdLayer& layer, const std::string& name) {
  const std::optional<CompiledKernel> kernel = compiled_kernel(network, layer, name);
  if (!kernel) throw no_kernel(layer, name);
  if (layer.has_weights()) {
    const nasbench::Shape weights = weight_shape(network, layer);
    raw_weight_bytes_ = static_cast<std::size_t>(nasbench::element_count(weights)) * sizeof(float);
    bias_bytes_ = static_cast<std::size_t>(weights[0]) * sizeof(float);
  }
  transforms_ = kernel->transform != nullptr;
  weight_bytes_ = transforms_ ? kernel->weight_bytes : raw_weight_bytes_;
  if (transforms_) {
    transform_ = [transform = kernel->transform](const char* raw, char* ready, dnnl::stream&) {
      transform(reinterpret_cast<const float*>(raw), reinterpret_cast<float*>(ready));
    };
  }
  execute_ = [kernel = *kernel, inputs = layer.inputs, output = layer.output, weight_bytes = weight_bytes_,
              has_weights = has_weights()](ExecutionMemory& memory, const char* weights) {
    memory.scratch.require(kernel.scratch_bytes);
    CompiledKernel::Arguments arguments;
    for (const int input : inputs) arguments.inputs.push_back(static_cast<const float*>(memory.at(input)));
    if (has_weights) {
      arguments.weights = reinterpret_cast<const float*>(weights);
      arguments.bias = reinterpret_cast<const float*>(weights + weight_bytes);
    }
    arguments.output = static_cast<float*>(memory.at(output));
    arguments.scratch = memory.scratch.data();
    kernel.execute(arguments);
  };
}

void PreparedLayer::use_library(LayerKernel kernel, const dnnl::engine& engine, bool cached) {
  if (kernel.has_weights) {
    raw_weight_bytes_ = kernel.raw_weights.get_size();
    weight_bytes_ = kernel.weights.get_size();
    bias_bytes_ = kernel.bias.get_size();
  }
  transforms_ = kernel.transforms();
  const auto primitive = std::make_shared<const Primitive>(std::move(kernel), engine, cached);
  if (primitive->needs_transformation()) {
    transform_ = [primitive](const char* raw, char* ready, dnnl::stream& stream) {
      primitive->transform(raw, ready, stream);
    };
  }
  execute_ = [primitive](ExecutionMemory& memory, const char* weights) { primitive->execute(memory, weights); };
}

void PreparedLayer::transform(const char* raw, char* ready, dnnl::stream& stream) {
  if (transform_) {
    transform_(raw, ready, stream);
  } else {
    std::memcpy(ready, raw, weight_bytes_);
  }
  std::memcpy(ready + weight_bytes_, raw + raw_weight_bytes_, bias_bytes_);
  weights_ = ready;
}

}  // namespace tenshot::descriptor
