#pragma once

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tenshot {

/// A table by name. Its rows are a value and the names that have it, with spaces between them.
template <class Value>
std::map<std::string, Value> by_name(const std::vector<std::pair<Value, std::string>>& rows) {
  std::map<std::string, Value> table;
  for (const auto& [value, names] : rows) {
    std::istringstream words(names);
    for (std::string name; words >> name;) table.emplace(name, value);
  }
  return table;
}

/// Names and what each stands for, in turns.
inline std::map<std::string, std::string> pairs_of(const std::string& text) {
  std::map<std::string, std::string> table;
  std::istringstream words(text);
  for (std::string name; words >> name;) words >> table[name];
  return table;
}

}  // namespace tenshot
