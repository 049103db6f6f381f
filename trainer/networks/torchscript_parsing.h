#pragma once

#include <torch/script.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "nasbench/spaces/search_space.h"

namespace tenshot::trainer {

/// Gives `module` the attribute `decisions`, how many options each has, and the methods
///   encode(architectures: List[str]) -> Tensor[N, encoding_width] (float32)
///   ordinals(architectures: List[str]) -> Tensor[N] (int64)
/// which parse inside TorchScript, the latter for spaces whose architectures can be counted. A string is parts
/// joined by the space's separator, and each part decides some of the decisions: the methods look parts up in one
/// dictionary each and add what they stand for. Raises on a bad string.
void define_parsing(torch::jit::Module& module, const nasbench::SearchSpace& space);

/// The module as a file's content, with the card as the extra file "card.json". Of another quantity than latency the
/// module has the attributes `quantity` ("energy") and `unit` ("mJ").
std::string with_card(const torch::jit::Module& module, const nlohmann::json& card);

}  // namespace tenshot::trainer
