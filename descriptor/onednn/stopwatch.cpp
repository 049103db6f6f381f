#include "descriptor/onednn/stopwatch.h"

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "descriptor/onednn/weights.h"

namespace tenshot::descriptor {
namespace {

/// Times a small linear layer, once as the library chooses and once by a matrix product, the first and the second time.
FirstUses first_uses_here() {
  omp_set_num_threads(1);
  ColdNetwork network;
  network.tensors = {{64, 64}, {64, 64}};  // of one row, the library makes only a part of the code of a matrix product
  network.output = 1;
  ColdLayer layer;
  layer.kind = ColdKind::linear;
  layer.inputs = {0};
  layer.output = 1;
  network.layers = {layer};
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  ExecutionMemory memory(engine, network);
  const auto start = [&](const std::string& kernel) {
    const WithoutPrimitiveCache none;
    PreparedLayer prepared(network, layer, engine, kernel, false);
    const Buffer weights(prepared.cached_bytes());
    prepared.set_weights(weights.data());
    prepared.execute(memory);
  };
  FirstUses uses;
  const auto measure = [&](const std::string& kernel) {
    const double first = time_ms([&] { start(kernel); }), second = time_ms([&] { start(kernel); });
    return std::max(0.0, first - second);
  };
  std::string chosen, product;
  uses.primitive_ms = time_ms([&] {
    for (const LayerKernel& kernel : layer_kernels(network, layer, engine)) {
      std::string& name = is_matrix_product(kernel.name) ? product : chosen;
      if (name.empty()) name = kernel.name;
    }
  });
  if (!chosen.empty()) uses.primitive_ms += measure(chosen);
  if (!product.empty()) uses.matrix_product_ms = measure(product);
  return uses;
}

/// The same in a process that has not used the library yet, a child of this one. Nothing where there can be none.
FirstUses first_uses_of_child() {
  FirstUses uses;
  int ends[2];
  if (::pipe(ends) != 0) return uses;
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      uses = first_uses_here();
    } catch (...) {  // a library that cannot do even this says so below
    }
    const ssize_t written = ::write(ends[1], &uses, sizeof uses);
    ::_exit(written == sizeof uses ? 0 : 1);
  }
  ::close(ends[1]);
  if (child > 0) {
    if (::read(ends[0], &uses, sizeof uses) != sizeof uses) uses = {};
    ::waitpid(child, nullptr, 0);
  }
  ::close(ends[0]);
  return uses;
}

}  // namespace

FirstUses first_uses() {
  constexpr int children = 5;
  FirstUses least = first_uses_of_child();
  for (int i = 1; i < children; ++i) {
    const FirstUses uses = first_uses_of_child();
    least.primitive_ms = std::min(least.primitive_ms, uses.primitive_ms);
    least.matrix_product_ms = std::min(least.matrix_product_ms, uses.matrix_product_ms);
  }
  return least;
}

}  // namespace tenshot::descriptor
