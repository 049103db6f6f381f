#include "nasbench/support/text.h"

#include <cctype>

namespace tenshot {
namespace {

/// Bytes of the UTF-8 character at the start of `text`; 0 where there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) > 0x9F;
  const bool beyond_unicode = lead == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || beyond_unicode ? 0 : length;
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t most) {
  std::string result;
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == most) return result + "…";
    const std::size_t length = character_length(text);
    const auto lead = static_cast<unsigned char>(text.front());
    const bool control = lead < 0x20 || lead == 0x7F ||
                         (length == 2 && lead == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0);  // U+0080 …
    const bool printable = length > 0 && !control;
    result += printable ? text.substr(0, length) : std::string_view("?");
    text.remove_prefix(length > 0 ? length : 1);
  }
  return result;
}

std::string markdown_escaped(std::string_view text) {
  const std::string plain = excerpt(text, std::string_view::npos);
  const auto is_word = [&](std::size_t at) {
    return at < plain.size() && std::isalnum(static_cast<unsigned char>(plain[at])) != 0;
  };
  std::string result;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    // Inside a word an underscore is none of Markdown's (CommonMark 0.30, section 6.2).
    const bool word = plain[i] == '_' && i > 0 && is_word(i - 1) && is_word(i + 1);
    if (!word && std::string_view("\\`*_[]<>|~&").find(plain[i]) != std::string_view::npos) result += '\\';
    result += plain[i];
  }
  return result;
}

bool fits_pattern(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0, star = std::string_view::npos, resumed = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resumed = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {  // the last star takes one character more
      p = star + 1;
      t = ++resumed;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace tenshot
