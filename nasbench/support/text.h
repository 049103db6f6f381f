#pragma once

#include <cstddef>
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

/// `text` fit for a one-line message and for JSON: valid UTF-8 without control characters ('?' stands for either), cut
/// after `most` characters.
std::string excerpt(std::string_view text, std::size_t most = 60);

inline bool begins_with(std::string_view text, std::string_view part) { return text.substr(0, part.size()) == part; }
inline bool ends_with(std::string_view text, std::string_view part) {
  return text.size() >= part.size() && text.substr(text.size() - part.size()) == part;
}

/// True when `text` fits `pattern`, in which `*` stands for any characters, also none.
bool fits_pattern(std::string_view text, std::string_view pattern);

/// `text` as the text of a Markdown table's cell: nothing in it is markup, and it stays in its cell.
std::string markdown_escaped(std::string_view text);

}  // namespace tenshot
