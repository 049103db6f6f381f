#include "descriptor/onednn/prepared_layer.h"

#include <cstring>
#include <unordered_map>
#include <utility>

namespace tenshot::descriptor {

using dnnl::memory;

namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

ExecutionMemory::ExecutionMemory(const dnnl::engine& on, const ColdNetwork& network)
    : engine(on), stream(on), places(tensor_places(network)), tensors(places.bytes) {}

PreparedLayer::PreparedLayer(const ColdNetwork& network, const ColdLayer& layer, const dnnl::engine& engine,
                             const std::string& kernel, bool cached)
    : kernel_(layer_kernels(network, layer, engine, kernel).front()),
      engine_(engine),
      primitive_(kernel_.primitive.get()),
      scratchpad_(kernel_.primitive.scratchpad_desc()) {
  if (!kernel_.has_weights) return;
  if (!cached) transform_ = move(kernel_.raw_weights, kernel_.weights);
  before_ = move(kernel_.inputs[0].description, kernel_.source);
  after_ = move(kernel_.target, kernel_.output.description);
}

PreparedLayer::Move PreparedLayer::move(const memory::desc& from, const memory::desc& to) const {
  if (from == to) return {};
  return {dnnl::reorder(dnnl::reorder::primitive_desc(engine_, from, engine_, to)), true};
}

void PreparedLayer::transform(const char* raw, char* ready, dnnl::stream& stream) {
  char* source = const_cast<char*>(raw);  // oneDNN's memory is never const
  if (transform_.needed) {
    memory from(kernel_.raw_weights, engine_, source), to(kernel_.weights, engine_, ready);
    transform_.primitive.execute(stream, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
    stream.wait();
  } else {
    std::memcpy(ready, raw, kernel_.weights.get_size());
  }
  std::memcpy(ready + kernel_.weights.get_size(), raw + kernel_.raw_weights.get_size(), kernel_.bias.get_size());
  weights_ = ready;
}

void PreparedLayer::execute(ExecutionMemory& memory_of) const {
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
    char* weights = const_cast<char*>(weights_);
    arguments[DNNL_ARG_WEIGHTS] = memory(kernel_.weights, engine_, weights);
    arguments[DNNL_ARG_BIAS] = memory(kernel_.bias, engine_, weights + kernel_.weights.get_size());
  }
  primitive_.execute(memory_of.stream, arguments);
  if (after_.needed) {
    after_.primitive.execute(memory_of.stream, {{DNNL_ARG_FROM, arguments[DNNL_ARG_DST]}, {DNNL_ARG_TO, output}});
  }
  memory_of.stream.wait();
}

}  // namespace tenshot::descriptor
