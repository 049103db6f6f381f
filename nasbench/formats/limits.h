#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "nasbench/graph/network.h"
#include "nasbench/graph/network_builder.h"

namespace tenshot::nasbench {

// What readers of strangers' network files check before they compute with a number.

/// Most operators that a network's file may have.
constexpr std::size_t operator_limit = 100'000;

/// Throws FormatError unless every dimension is from 1 to 2³¹ − 1 and the tensor has at most 2³⁶ elements.
void require_tensor_size(const Shape& shape);

/// Throws FormatError unless kernel, stride and dilation are from 1 to 2¹⁶ and no padding is negative or above that.
void require_window(const WindowOptions& window);

/// Throws FormatError unless `groups` is positive and divides both numbers of channels, and there are channels out.
void require_groups(std::int64_t groups, std::int64_t in, std::int64_t out);

/// Throws FormatError where the tensors or the products of an operator are more than can be meant, or counted.
void require_countable(const NetworkNode& node);

/// "1x3x224x224"; "scalar" for an empty shape.
std::string text_of(const Shape& shape);

}  // namespace tenshot::nasbench
