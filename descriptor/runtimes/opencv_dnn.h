#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "descriptor/runtimes/runtime.h"
#include "nasbench/graph/network.h"

namespace tenshot::descriptor {

/// `opencv-dnn`: OpenCV's own network engine on the processor, in float32. It reads the ONNX model that
/// nasbench::onnx_model writes of the network, with the weights that the other runtimes have too; batch norms and
/// activations are fused into the convolutions before them. Preparing names what OpenCV's reader does not take.
constexpr std::string_view opencv_runtime_name = "opencv-dnn";

/// Whether this build has it (TENSHOT_OPENCV).
bool has_opencv();

/// Throws InputError that says what to install where this build lacks it.
std::unique_ptr<Runtime> make_opencv_runtime();

/// The network of an ONNX file's bytes, as a cold start reads it: nothing is run yet. Throws as Runtime::prepare.
std::unique_ptr<PreparedNetwork> prepare_opencv_onnx(const std::string& onnx, const nasbench::Network& network,
                                                     const RuntimeOptions& options);

}  // namespace tenshot::descriptor
