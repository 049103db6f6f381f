#pragma once

#include <string>
#include <string_view>

namespace tenshot {

/// "a, b, c": the texts of a container, in its order.
template <class Texts>
std::string joined(const Texts& texts, std::string_view separator = ", ") {
  std::string result;
  bool first = true;
  for (const auto& text : texts) {
    if (!first) result += separator;
    first = false;
    result += text;
  }
  return result;
}

}  // namespace tenshot
