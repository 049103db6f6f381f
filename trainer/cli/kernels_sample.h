#pragma once

#include <string>
#include <vector>

namespace tenshot::cli {

// What `kernels` does with measured kernels.

/// `kernels sample`: measures kernels of a runtime by adaptive sampling.
void sample_kernels(const std::vector<std::string>& arguments);

/// `kernels grid`: measures kernels of a runtime on a grid, and interpolates between them.
void grid_kernels(const std::vector<std::string>& arguments);

/// `kernels train`: the predictor `kernels` from measured kernels.
void train_kernels(const std::vector<std::string>& arguments);

extern const char* const sample_kernels_example;
extern const char* const grid_kernels_example;
extern const char* const train_kernels_example;

}  // namespace tenshot::cli
