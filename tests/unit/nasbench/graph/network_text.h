#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/support/error.h"

// What tests of the readers of network files say of what is read, whatever the format is.

namespace tenshot::nasbench {

/// The operators, a line each.
inline std::vector<std::string> lines(const Network& network) {
  std::vector<std::string> result;
  for (const NetworkNode& node : network.nodes) result.push_back(format(node.operation));
  return result;
}

/// The message of the error that `read` throws; it is one line that names the file.
inline std::string refusal_of(const std::string& file, const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(file + "'"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace tenshot::nasbench
