#pragma once

#include <string>

namespace tenshot::descriptor {

/// The BLAS library that LibTorch's matrix products run on in this process: "OpenBLAS 0.3.21 (openmp, SkylakeX)",
/// "reference BLAS (slow: install libopenblas0-openmp)", or what LibTorch was built with when it brings its own.
std::string blas_in_use();

/// "LibTorch 1.13.0, oneDNN 2.6.3, OpenBLAS 0.3.21 (openmp, SkylakeX), AVX2": what decides how fast a network is
/// here. LibTorch's version is what it says of itself (Debian's 1.13.1 says 1.13.0).
std::string torch_versions();

/// torch_versions() and the number of threads; one line, for `tenshot --version`, which says so without LibTorch.
std::string torch_summary();

}  // namespace tenshot::descriptor
