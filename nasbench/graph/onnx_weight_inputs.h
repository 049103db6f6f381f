#pragma once

#include <set>
#include <string>

#include "nasbench/graph/onnx_file.h"

namespace tenshot::nasbench {

/// The inputs of the graph that are weights: of fixed shape and floating point, without a stored value, and read where
/// a convolution, a norm or a recurrent layer has its weights; or called as PyTorch calls weights. PyTorch writes its
/// parameters so with export_params=False. The first input is none of them.
std::set<std::string> weight_inputs(const OnnxFile& file);

}  // namespace tenshot::nasbench
