#pragma once

#include <string>
#include <vector>

#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

/// The bytes of an ONNX model whose inputs have the shapes of those of `inputs` that have their names, where the model
/// leaves dimensions open; the same bytes where it leaves none. Everything else stays, weights outside the file too.
/// Tools that measure take 1 for an open dimension, or ask for it each in its own way. Takes memory twice the model's
/// size. Throws FormatError that names `file` where the bytes are no ONNX model.
std::string with_fixed_inputs(const std::string& model, const std::vector<NetworkInput>& inputs,
                              const std::string& file);

}  // namespace tenshot::nasbench
