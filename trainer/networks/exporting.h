#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trainer/core/predictor.h"
#include "trainer/networks/formula.h"

namespace tenshot::trainer {

/// The content of one TorchScript file that needs nothing of tenshot: torch.jit.load in Python or C++ gives a module
/// with, whatever the predictor and the space,
///   predict(architectures: List[str]) -> latency_ms Tensor[N]
///   encode(architectures: List[str]) -> Tensor[N, width]
///   forward(encoding: Tensor[N, width]) -> latency_ms Tensor[N]
/// and from predictors that have intervals, for a confidence up to 0.999,
///   predict_interval(architectures: List[str], confidence: float) -> (latency_ms, lower_ms, upper_ms)
///   forward_interval(encoding: Tensor[N, width], confidence: float) -> the same
/// where NaN stands for a network that they refuse. Strings are read inside TorchScript, which raises on one
/// that is no architecture of the space. `forward` has gradients with respect to the encoding, which may hold the
/// probabilities of options. The card is the extra file "card.json"; of another quantity than latency the module has
/// the attributes `quantity` ("energy") and `unit` ("mJ").
std::string torchscript(const ExportedFormula& exported, const NetworkSpace& space, const nlohmann::json& card);

/// Writes that file of a predictor; needs LibTorch. Throws InputError for kinds without a formula, FileError.
void export_torchscript(const Predictor& predictor, const std::filesystem::path& path);

/// Writes one ONNX file (opset 17), for ONNX Runtime in any language:
///   encoding: float32 [N, width] -> latency_ms: float32 [N]
/// and from predictors that have intervals lower_ms and upper_ms, the bounds of this confidence, where NaN in all three
/// stands for a network that they refuse. Of another quantity the outputs have its names: energy_mj. The encoding is
/// one-hot, in the order of the space's decisions, or of networks by name what `tenshot network features` writes.
/// Metadata: "card", "confidence", and "decisions", how many options each has.
/// Throws InputError for kinds without a formula, and unless the confidence is in (0, 1); FileError.
void export_onnx(const Predictor& predictor, const std::filesystem::path& path, double confidence = 0.9);

}  // namespace tenshot::trainer
