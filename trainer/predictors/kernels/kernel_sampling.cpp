#include <cmath>

#include "nasbench/support/error.h"
#include "trainer/predictors/kernels/kernel_model.h"

namespace tenshot::trainer::kernels {
namespace {

using nasbench::KernelSizes;
using sampling::Configuration;

struct Dimension {
  int KernelSizes::*size;
  bool channels;  ///< fine-grained sampling draws it anew
};

std::vector<Dimension> dimensions_of(const std::string& type) {
  const std::string first = type.substr(0, type.find("++"));
  const Dimension image{&KernelSizes::image, false}, inputs{&KernelSizes::inputs, true},
      outputs{&KernelSizes::outputs, true}, window{&KernelSizes::window, false}, stride{&KernelSizes::stride, false};
  if (first == "linear") return {inputs, outputs};
  if (first == "convolution") return {image, window, stride, inputs, outputs};
  if (first == "concatenate") return {image, inputs, outputs};
  if (first == "depthwise_convolution" || first == "max_pool" || first == "average_pool") {
    return {image, window, stride, inputs};
  }
  return {image, inputs};
}

bool makes_sense(const std::string& type, const KernelSizes& sizes) {
  if (type.rfind("concatenate", 0) == 0 && sizes.outputs <= sizes.inputs) return false;
  if (type.rfind("shuffle", 0) == 0 && sizes.inputs % 2 != 0) return false;
  try {
    nasbench::made_kernel(type, sizes);
    return true;
  } catch (const InputError&) {
    return false;  // the window has no place
  }
}

}  // namespace

sampling::AdaptiveSamples sample_kernels(const std::string& type, const std::vector<KernelSizes>& zoo,
                                         const std::function<double(const KernelSizes&)>& measure,
                                         const sampling::AdaptiveOptions& options) {
  if (!nasbench::can_be_made(type)) nasbench::made_kernel(type, {});  // throws, and says why
  const std::vector<Dimension> dimensions = dimensions_of(type);
  sampling::KernelSpace space;
  for (const Dimension& dimension : dimensions) {
    space.fine.push_back(dimension.channels);
    std::vector<int>& values = space.prior.emplace_back();
    for (const KernelSizes& sizes : zoo) values.push_back(sizes.*dimension.size);
  }
  const auto sizes_of = [&](const Configuration& configuration) {
    KernelSizes sizes;
    sizes.outputs = 0;
    for (std::size_t d = 0; d < dimensions.size(); ++d) sizes.*dimensions[d].size = configuration.at(d);
    if (sizes.outputs == 0) sizes.outputs = sizes.inputs;  // such kernels keep their channels
    return sizes;
  };
  space.allowed = [&](const Configuration& c) { return makes_sense(type, sizes_of(c)); };
  const auto measure_all = [&](const std::vector<Configuration>& configurations) {
    std::vector<double> latency_ms;
    for (const Configuration& c : configurations) latency_ms.push_back(measure(sizes_of(c)));
    return latency_ms;
  };
  const auto samples_of = [&](const sampling::MeasuredKernels& kernels) {
    std::vector<KernelSample> samples;
    for (std::size_t i = 0; i < kernels.latency_ms.size(); ++i) {
      const nasbench::Network made = nasbench::made_kernel(type, sizes_of(kernels.configurations[i]));
      samples.push_back({type, leading_operator(made), kernels.latency_ms[i]});
    }
    return samples;
  };
  const auto errors_of_forest = [&](const sampling::MeasuredKernels& training, const sampling::MeasuredKernels& test) {
    const KernelModel model(samples_of(training), 0, options.seed);
    std::vector<double> errors;
    for (const KernelSample& truth : samples_of(test)) {
      errors.push_back(std::abs(model.kernel(truth).latency_ms / truth.latency_ms - 1));
    }
    return errors;
  };
  return sampling::sample_adaptively(space, measure_all, errors_of_forest, options);
}

}  // namespace tenshot::trainer::kernels
