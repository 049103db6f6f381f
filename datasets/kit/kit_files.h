#pragma once

#include <string_view>
#include <vector>

namespace tenshot::datasets {

/// A file of datasets/kit/board/ that goes into every kit as it is.
struct KitFile {
  std::string_view name;
  std::string_view content;
  bool executable = false;
};

/// Built into the library, so that a program without its source tree can write kits.
const std::vector<KitFile>& kit_files();

}  // namespace tenshot::datasets
