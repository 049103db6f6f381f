#pragma once

#include <string>
#include <vector>

#include "nasbench/formats/network_file.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"
#include "tests/unit/nasbench/graph/network_text.h"

namespace tenshot::nasbench {

inline Network read_param(const std::string& text, const NetworkReadOptions& options = {}) {
  const TemporaryFolder folder;
  write_file_quickly(folder.path() / "net.param", text);
  return read_ncnn(folder.path() / "net.param", options);
}

inline std::string param_refusal(const std::string& text, const NetworkReadOptions& options = {}) {
  return refusal_of("net.param", [&] { read_param(text, options); });
}

/// The operators of `layers`, which read the blob "x" of width 6, height 8 and 4 channels.
inline std::vector<std::string> param_operators(const std::string& layers, int count) {
  return lines(read_param("7767517\n" + std::to_string(count + 1) + " 99\nInput x 0 1 x 0=6 1=8 2=4\n" + layers));
}

}  // namespace tenshot::nasbench
