#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "nasbench/support/error.h"
#include "trainer/core/archive_reader.h"

// Structs of options as JSON: what cards keep and experiments set. Each struct has, in the namespace of its own source,
// a template each_option(options, visit) that calls visit(name, value) for each of its options, once.

namespace tenshot::trainer {

/// All options by their names.
template <class Options>
nlohmann::json options_json(const Options& options) {
  nlohmann::json json = nlohmann::json::object();
  each_option(options, [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

/// What `json` has; a key that is absent is the default, and unknown ones are ignored. Throws
/// nlohmann::json::exception.
template <class Options>
Options options_from(const nlohmann::json& json) {
  Options options;
  each_option(options, [&](const char* name, auto& value) {
    if (json.contains(name)) json.at(name).get_to(value);
  });
  return options;
}

constexpr std::size_t longest_option_list = 1000;
constexpr std::int64_t largest_option_count = 10'000'000;

inline void read_option(const CardField& field, double& value) { value = field.number(any_number); }
inline void read_option(const CardField& field, bool& value) { value = field.boolean(); }
inline void read_option(const CardField& field, int& value) {
  value = static_cast<int>(field.whole_number(0, largest_option_count));
}
inline void read_option(const CardField& field, std::size_t& value) {
  value = static_cast<std::size_t>(field.whole_number(0, largest_option_count));
}
inline void read_option(const CardField& field, std::vector<std::string>& values) {
  values = field.texts(longest_option_list);
}
inline void read_option(const CardField& field, std::vector<double>& values) {
  values.clear();
  for (const CardField& entry : field.list(longest_option_list)) values.push_back(entry.number(any_number));
}

/// The same from a file, every value of its kind: throws FormatError that names the field at fault.
template <class Options>
Options options_from(const CardField& settings) {
  Options options;
  each_option(options, [&](const char* name, auto& value) {
    if (const auto field = settings.find(name)) read_option(*field, value);
  });
  return options;
}

/// Throws InputError "`what` must be `range`" unless it is.
inline void require_option(bool valid, const std::string& what, const std::string& range) {
  if (!valid) throw InputError(what + " must be " + range);
}

}  // namespace tenshot::trainer
