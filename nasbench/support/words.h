#pragma once

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "nasbench/support/numbers.h"

namespace tenshot {

/// The words of a text, which have white space between them.
template <class Words = std::set<std::string>>
Words words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

/// The parts of a text between separators, empty ones too; the text itself where there is none.
inline std::vector<std::string> parts_between(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + separator.size()) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// The parts that are not empty, without the white space around them: "a, b,,c" is {a, b, c}.
inline std::vector<std::string> filled_parts(const std::string& text, const std::string& separator = ",") {
  std::vector<std::string> filled;
  for (const std::string& part : parts_between(text, separator)) {
    if (!trimmed(part).empty()) filled.emplace_back(trimmed(part));
  }
  return filled;
}

/// A table by name. Its rows are a value and the names that have it, as words.
template <class Value>
std::map<std::string, Value> by_name(const std::vector<std::pair<Value, std::string>>& rows) {
  std::map<std::string, Value> table;
  for (const auto& [value, names] : rows) {
    for (const std::string& name : words_of(names)) table.emplace(name, value);
  }
  return table;
}

/// ASCII letters in lower case, all else as it is.
inline std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// A table of names, as words. Each stands for itself in lower case, or for what is behind its "=": "Relu Neg=negate".
inline std::map<std::string, std::string> lower_cased(const std::string& names) {
  std::map<std::string, std::string> table;
  for (const std::string& name : words_of(names)) {
    const std::size_t end = name.find('=');
    table.emplace(name.substr(0, end), end == std::string::npos ? lower_case(name) : name.substr(end + 1));
  }
  return table;
}

}  // namespace tenshot
