// Layers on compiled kernels, and what they compute.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "descriptor/cold/cold_files.h"
#include "descriptor/compiled/compiled_kernel.h"
#include "descriptor/compiled/machine_code.h"
#include "nasbench/support/random.h"

namespace tenshot::descriptor {

inline std::vector<float> random_numbers(std::int64_t count, Rng& rng) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = static_cast<float>(rng.normal());
  return numbers;
}

/// One layer and what it reads.
struct Case {
  ColdNetwork network;
  std::vector<std::vector<float>> inputs;  ///< as they lie
  std::vector<float> weights, bias;        ///< as in a model's file

  const ColdLayer& layer() const { return network.layers[0]; }
  const nasbench::Shape& shape(int tensor) const { return network.tensors[static_cast<std::size_t>(tensor)]; }
};

inline Case case_of(ColdLayer layer, const std::vector<nasbench::Shape>& inputs, const nasbench::Shape& output,
                    std::uint64_t seed) {
  Rng rng(seed);
  Case made;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    layer.inputs.push_back(static_cast<int>(i));
    made.network.tensors.push_back(inputs[i]);
    made.inputs.push_back(random_numbers(nasbench::element_count(inputs[i]), rng));
  }
  layer.output = static_cast<int>(inputs.size());
  made.network.tensors.push_back(output);
  made.network.output = layer.output;
  made.network.layers = {layer};
  if (layer.has_weights()) {
    const nasbench::Shape weights = weight_shape(made.network, made.layer());
    made.weights = random_numbers(nasbench::element_count(weights), rng);
    made.bias = random_numbers(weights[0], rng);
  }
  return made;
}

/// What a kernel computes, as it lies.
inline std::vector<float> computed(const Case& given, const std::string& name) {
  const std::optional<CompiledKernel> kernel = compiled_kernel(given.network, given.layer(), name);
  EXPECT_TRUE(kernel) << name;
  std::vector<float> weights = given.weights;
  if (kernel->transform) {
    weights.assign(kernel->weight_bytes / sizeof(float), -1);
    kernel->transform(given.weights.data(), weights.data());
  }
  std::vector<float> output(static_cast<std::size_t>(nasbench::element_count(given.shape(given.layer().output))), -7);
  std::vector<double> scratch(kernel->scratch_bytes / sizeof(double) + 1);
  CompiledKernel::Arguments arguments;
  for (const std::vector<float>& input : given.inputs) arguments.inputs.push_back(input.data());
  arguments.weights = weights.data();
  arguments.bias = given.bias.data();
  arguments.output = output.data();
  arguments.scratch = reinterpret_cast<char*>(scratch.data());
  kernel->execute(arguments);
  return output;
}

/// Every compiled kernel of a layer, of every instruction set of this machine, against `expected`.
inline void expect_all(const Case& given, const std::vector<float>& expected, double tolerance = 2e-5) {
  const std::vector<std::string> names = compiled_kernel_names(given.network, given.layer());
  ASSERT_FALSE(names.empty());
  for (const std::string& name : names) {
    const std::string kind = name.substr(name.find(' '));
    for (const MachineCode& code : machine_codes()) {
      const std::vector<float> output = computed(given, compiled_prefix + code.instruction_set + kind);
      ASSERT_EQ(output.size(), expected.size());
      for (std::size_t i = 0; i < output.size(); ++i) {
        ASSERT_NEAR(output[i], expected[i], tolerance * (1 + std::abs(expected[i])))
            << code.instruction_set << kind << " at " << i;
      }
    }
  }
}

}  // namespace tenshot::descriptor
