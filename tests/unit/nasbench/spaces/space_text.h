#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "nasbench/spaces/layered_space.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {

/// The operators of the architecture of that text, a line each.
inline std::vector<std::string> lines_of(const SearchSpace& space, const std::string& text) {
  std::vector<std::string> lines;
  for (const OperatorSpecification& operation : space.operator_list(space.parse(text))) {
    lines.push_back(format(operation));
  }
  return lines;
}

/// What reading `definition` complains of.
inline std::string complaint(const nlohmann::json& definition) {
  try {
    layered_space(definition, "bad.json");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "nothing";
}

/// Reading `definition` complains in one line that has all of `parts`.
inline testing::AssertionResult says(const nlohmann::json& definition, const std::vector<std::string>& parts) {
  const std::string message = complaint(definition);
  for (const std::string& part : parts) {
    if (message.find(part) == std::string::npos) {
      return testing::AssertionFailure() << "'" << part << "' is not in: " << message;
    }
  }
  if (message.find('\n') != std::string::npos) return testing::AssertionFailure() << "more than a line: " << message;
  return testing::AssertionSuccess();
}

}  // namespace tenshot::nasbench
