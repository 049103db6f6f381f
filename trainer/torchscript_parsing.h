#pragma once

#include <torch/script.h>

#include "nasbench/search_space.h"

namespace tenshot::trainer {

/// Gives `module` the method encode(architectures: List[str]) -> Tensor[N, encoding_width], which parses inside
/// TorchScript. A string is parts joined by the space's separator, and each part decides some of the decisions: the
/// method looks parts up in one dictionary each and adds the encodings they stand for. Raises on a bad string.
void define_parsing(torch::jit::Module& module, const nasbench::SearchSpace& space);

}  // namespace tenshot::trainer
