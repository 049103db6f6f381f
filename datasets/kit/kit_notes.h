#pragma once

#include <filesystem>
#include <map>
#include <string>

/// The notes that measure.sh keeps, lines of key=value; for the sources of the kit only.
namespace tenshot::datasets {

using KitNotes = std::map<std::string, std::string>;

/// Empty without the file; what is no such line is passed over.
KitNotes read_notes(const std::filesystem::path& path);

/// Empty without the key.
std::string note(const KitNotes& notes, const std::string& key);

}  // namespace tenshot::datasets
