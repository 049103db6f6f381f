#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/graph/operator_specification.h"

namespace tenshot::experiments {

/// What a profiler says of one operator on one device-runtime.
struct Profile {
  double latency_ms = 0;
  std::string kernel;  ///< what was executed, in the runtime's words; empty where the table has no such column
};

/// A network whose operators were timed one by one.
struct ProfiledNetwork {
  std::string name;
  std::vector<nasbench::OperatorSpecification> operators;
  std::vector<std::vector<Profile>> profiles;  ///< [operator][setting]
};

struct ProfiledNetworks {
  std::vector<std::string> settings;  ///< names of the device-runtimes, in the order of the columns
  std::vector<ProfiledNetwork> networks;
};

/// A table of operators (parse_operator_table) with the columns NAME_ms and, where the runtime tells, NAME_kernel for
/// each device-runtime NAME. Throws InputError that names the line and the column: no such column, a latency that is
/// not a positive number.
ProfiledNetworks parse_profiles(std::string_view text, const std::string& file);

/// The same of a file. Throws FileError, InputError.
ProfiledNetworks read_profiles(const std::filesystem::path& path);

}  // namespace tenshot::experiments
