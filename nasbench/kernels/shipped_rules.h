#pragma once

#include <string_view>
#include <vector>

namespace tenshot::nasbench {

/// A file of nasbench/kernels/shipped/, by its name without ".json".
struct ShippedRules {
  const char* name;
  std::string_view content;
};

/// Built into the library, so that a program without its source tree knows them.
const std::vector<ShippedRules>& shipped_rules();

}  // namespace tenshot::nasbench
