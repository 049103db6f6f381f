#include "descriptor/onednn/prepared_layer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

#include "descriptor/cold/cold_files.h"
#include "descriptor/compiled/compiled_kernel.h"
#include "descriptor/compiled/layout.h"

namespace tenshot::descriptor {

using dnnl::memory;

namespace {

constexpr std::size_t huge_page = 2U << 20;

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
    if (after_.needed) arguments[DNNL_ARG_DST] = memory(kernel_.target, engine_, scratch + scratchpad + source);
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

Buffer::Buffer(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
  const bool large = bytes_ >= huge_page / 2;
  if (large) bytes_ = (bytes_ + huge_page - 1) / huge_page * huge_page;
  data_.reset(static_cast<char*>(std::aligned_alloc(large ? huge_page : alignment, aligned(bytes_))));
  if (data_ == nullptr) throw std::bad_alloc();
  if (large) static_cast<void>(::madvise(data(), bytes_, MADV_HUGEPAGE));
}

void Buffer::require(std::size_t bytes) {
  constexpr std::size_t least = 2 * huge_page;
  if (bytes > bytes_) *this = Buffer(std::max({bytes, 2 * bytes_, least}));
}

char* Arena::take(std::size_t bytes) {
  constexpr std::size_t chunk = 16 * huge_page;  // addresses: what is not used takes no memory
  bytes = aligned(bytes);
  if (chunks_.empty() || used_ + bytes > chunks_.back().size()) {
    chunks_.emplace_back(std::max(bytes, chunk));
    used_ = 0;
  }
  char* piece = chunks_.back().data() + used_;
  used_ += bytes;
  return piece;
}

TensorPlaces tensor_places(const ColdNetwork& network) {
  const std::size_t never = network.layers.size() + 1;
  std::vector<std::size_t> last_use(network.tensors.size(), 0);
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    for (const int input : network.layers[i].inputs) last_use[static_cast<std::size_t>(input)] = i;
  }
  last_use[static_cast<std::size_t>(network.output)] = never;
  last_use[static_cast<std::size_t>(network.input)] = never;  // the caller's image stays for later runs
  TensorPlaces places;
  places.offsets.resize(network.tensors.size());
  std::multimap<std::size_t, std::size_t> free;  // bytes → offset
  const auto bytes_of = [&](std::size_t tensor) {
    return aligned(static_cast<std::size_t>(nasbench::element_count(network.tensors[tensor])) * sizeof(float));
  };
  const auto place = [&](std::size_t tensor) {
    const std::size_t bytes = bytes_of(tensor);
    const auto fit = free.lower_bound(bytes);
    if (fit == free.end()) {
      places.offsets[tensor] = places.bytes;
      places.bytes += bytes;
      return;
    }
    places.offsets[tensor] = fit->second;
    if (fit->first > bytes) free.emplace(fit->first - bytes, fit->second + bytes);
    free.erase(fit);
  };
  place(static_cast<std::size_t>(network.input));
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    place(static_cast<std::size_t>(network.layers[i].output));
    std::vector<int> inputs = network.layers[i].inputs;
    std::sort(inputs.begin(), inputs.end());
    inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
    for (const int input : inputs) {
      const auto tensor = static_cast<std::size_t>(input);
      if (last_use[tensor] == i) free.emplace(bytes_of(tensor), places.offsets[tensor]);
    }
  }
  return places;
}

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
  std::optional<CompiledKernel> kernel = compiled_kernel(network, layer, name);
  if (!kernel) throw no_kernel(layer, name);
  if (layer.has_weights()) {
    const nasbench::Shape weights = weight_shape(network, layer);
    raw_weight_bytes_ = static_cast<std::size_t>(nasbench::element_count(weights)) * sizeof(float);
    bias_bytes_ = static_cast<std::size_t>(weights[0]) * sizeof(float);
  }
  transforms_ = kernel->transform != nullptr;
  weight_bytes_ = transforms_ ? kernel->weight_bytes : raw_weight_bytes_;
  if (transforms_) {
    transform_ = [transform = std::move(kernel->transform)](const char* raw, char* ready, dnnl::stream&) {
      transform(reinterpret_cast<const float*>(raw), reinterpret_cast<float*>(ready));
    };
  }
  execute_ = [execute = std::move(kernel->execute), scratch_bytes = kernel->scratch_bytes, inputs = layer.inputs,
              output = layer.output, weight_bytes = weight_bytes_,
              has_weights = has_weights()](ExecutionMemory& memory, const char* weights) {
    memory.scratch.require(scratch_bytes);
    CompiledKernel::Arguments arguments;
    for (const int input : inputs) arguments.inputs.push_back(static_cast<const float*>(memory.at(input)));
    if (has_weights) {
      arguments.weights = reinterpret_cast<const float*>(weights);
      arguments.bias = reinterpret_cast<const float*>(weights + weight_bytes);
    }
    arguments.output = static_cast<float*>(memory.at(output));
    arguments.scratch = memory.scratch.data();
    execute(arguments);
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
