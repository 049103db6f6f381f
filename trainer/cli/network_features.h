#pragma once

#include <string>
#include <vector>

namespace tenshot::cli {

/// `tenshot network features`: writes what an exported predictor of networks by name takes of networks that it does not
/// carry.
void network_features(const std::vector<std::string>& arguments);
extern const char* const network_features_example;

}  // namespace tenshot::cli
