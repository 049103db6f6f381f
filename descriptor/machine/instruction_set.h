#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenshot::descriptor {

/// Processors of earlier years, as far as the libraries under LibTorch can be told not to use newer instructions:
/// "sse4.1" (2008), "avx" (2011), "avx2" (2013), "avx512" (2017), and "native" for whatever there is.
std::vector<std::string> instruction_sets();

/// The environment variables that cap oneDNN, LibTorch's own kernels and OpenBLAS, with their values; empty for
/// "native". The libraries read them when they are loaded: they must be there before the process starts. XNNPACK has no
/// such switch. Throws InputError that lists the names.
std::vector<std::pair<std::string, std::string>> instruction_set_environment(std::string_view name);

/// Whether this process was started with them.
bool instruction_set_in_force(std::string_view name);

}  // namespace tenshot::descriptor
