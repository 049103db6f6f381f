#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nasbench/spaces/network_space.h"

namespace tenshot::datasets {

/// The space that measurements, or a list of architectures, are of, as far as they say so by themselves: a kit and a
/// device-runtime name their space; a table is of NAS-Bench-201 where its first row names a cell of it, else of
/// networks by name. Null for standard input, which can be read once only, and for a table without a row. Throws
/// FileError, FormatError, InputError as reading them does.
const nasbench::NetworkSpace* space_of_measurements(const std::filesystem::path& path);

/// True where `text` is an architecture of NAS-Bench-201, and so no network's name.
bool is_cell(const std::string& text);

/// The space of what a verb was given: networks by name where any of `names`, architectures or names of networks, is no
/// cell; else that of the first of `tables` that tells; else NAS-Bench-201. Throws as space_of_measurements().
const nasbench::NetworkSpace& space_given(const std::vector<std::string>& names,
                                          const std::vector<std::filesystem::path>& tables);

}  // namespace tenshot::datasets
