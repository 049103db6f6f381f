#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nasbench/spaces/network_space.h"

namespace tenshot {
class JsonReader;
}

namespace tenshot::datasets {

/// The space that `text` names: one known by name, or a file FILE.json of a layered space (nasbench::LayeredSpace).
/// Throws InputError that lists the names, FileError, FormatError.
const nasbench::NetworkSpace& named_space(const std::string& text);

/// The search space that the object's key "space" names: `kept`, which stands beside the file, where it has that name,
/// else one known by name. Throws FormatError.
const nasbench::NetworkSpace& space_of(const JsonReader& reader, const nasbench::NetworkSpace* kept = nullptr);

constexpr const char* space_file_name = "space.json";
constexpr const char* networks_file_name = "networks.json";

/// What a folder of devices, or a kit, keeps of its space: reads `networks.json` where there is one, so that its
/// networks are known, and returns the space of `space.json`, or null where there is none. Throws as named_space().
const nasbench::NetworkSpace* read_space_files(const std::filesystem::path& folder);

/// Writes what read_space_files() needs to know `architectures` of `space`: `space.json` for a space that is not known
/// by name; `networks.json` for networks, beside those that the folder has already; makes the folder. Throws InputError
/// when the folder keeps another space, or another network of one's name, and FileError.
void write_space_files(const std::filesystem::path& folder, const nasbench::NetworkSpace& space,
                       const std::vector<nasbench::Architecture>& architectures);

}  // namespace tenshot::datasets
