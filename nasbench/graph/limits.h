#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/operator_specification.h"

namespace tenshot::nasbench {

// What readers of strangers' network files check before they compute with a number, and how they refuse.

/// A part of a message: text, a number, or a shape.
struct MessagePart {
  MessagePart(const char* text) : text(text) {}
  MessagePart(std::string text) : text(std::move(text)) {}
  MessagePart(std::string_view text) : text(text) {}
  template <class Number, class = std::enable_if_t<std::is_integral_v<Number> && !std::is_same_v<Number, char> &&
                                                   !std::is_same_v<Number, bool>>>
  MessagePart(Number number) : text(std::to_string(number)) {}
  MessagePart(const Shape& shape) : text(format(shape)) {}
  std::string text;
};
/// Throws FormatError of these parts: reject({"weights of ", shape, " do not fit ", channels, " channels"}).
[[noreturn]] void reject(std::initializer_list<MessagePart> parts);

/// Most operators that a network's file may have.
constexpr std::size_t operator_limit = 100'000;

/// Throws FormatError unless there are at most 64 dimensions, each from 1 to 2³¹ − 1, and the tensor has at most 2³⁶
/// elements. With `may_be_empty`, as constants may be, a dimension may be 0.
void require_tensor_size(const Shape& shape, bool may_be_empty = false);

/// `axis`, counted from behind where it is negative, counted from the front. Throws FormatError where there is none.
std::size_t front_axis(std::int64_t axis, std::size_t rank);

/// The elements that a slice takes of an axis of `extent`: places count from behind where they are negative, and are
/// cut to the axis. Throws FormatError where it steps by 0.
struct SliceRange {
  std::int64_t start = 0, step = 1, length = 0;
};
SliceRange slice_range(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t extent);

constexpr int widest_window = 1 << 16;  ///< most of a kernel, a stride, a dilation or a padding
/// Throws FormatError unless kernel, stride and dilation are from 1 to widest_window, and paddings from 0.
void require_window(const WindowOptions& window);

/// Throws FormatError unless `groups` is positive and divides both numbers of channels, and there are channels out.
void require_groups(std::int64_t groups, std::int64_t in, std::int64_t out);

/// Whether the numbers in an operator's tensors and its products are at most 9 × 10¹³: no more can be meant, and sums
/// over an operator's tensors fit 64 bits.
bool is_countable(const OperatorSpecification& specification);
/// Throws FormatError unless the operator is countable.
void require_countable(const OperatorSpecification& specification);
/// Throws FormatError unless the products of all operators together, and the bytes they read and write, fit 64 bits.
void require_countable(const std::vector<OperatorSpecification>& operators);

}  // namespace tenshot::nasbench
