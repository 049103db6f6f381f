#include "datasets/tables/space_files.h"

#include <nlohmann/json.hpp>

#include "nasbench/spaces/layered_space.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::datasets {
namespace fs = std::filesystem;
namespace {

std::vector<nasbench::Architecture> read_networks_file(const fs::path& file) {
  return nasbench::add_networks(parse_json(read_file(file), file.string()), file.string(), nasbench::NamedBy::file);
}

}  // namespace

const nasbench::NetworkSpace& named_space(const std::string& text) {
  const std::vector<std::string> known = nasbench::space_names();
  const bool is_file = fs::path(text).extension() == ".json" || text.find('/') != std::string::npos;
  if (!is_file || std::find(known.begin(), known.end(), text) != known.end()) return nasbench::known_space(text);
  return nasbench::read_layered_space(text);
}

const nasbench::NetworkSpace& space_of(const JsonReader& reader, const nasbench::NetworkSpace* kept) {
  const std::string name = reader.text_that("space", "the name of a search space, such as \"nasbench201\"", is_filled);
  if (kept != nullptr && kept->name() == name) return *kept;
  try {
    return nasbench::known_space(name);
  } catch (const InputError& error) {
    throw FormatError(reader.file() + ": space: " + error.what());
  }
}

const nasbench::NetworkSpace* read_space_files(const fs::path& folder) {
  if (is_there(folder / networks_file_name)) read_networks_file(folder / networks_file_name);
  return is_there(folder / space_file_name) ? &nasbench::read_layered_space(folder / space_file_name) : nullptr;
}

void write_space_files(const fs::path& folder, const nasbench::NetworkSpace& space,
                       const std::vector<nasbench::Architecture>& architectures) {
  const fs::path space_file = folder / space_file_name, networks_file = folder / networks_file_name;
  make_folder(folder);
  if (const std::string definition = space.definition(); !definition.empty()) {
    if (!is_there(space_file)) {
      write_file_atomically(space_file, nlohmann::json::parse(definition).dump(2) + "\n");
    } else if (&nasbench::read_layered_space(space_file) != &space) {
      throw InputError(space_file.string() + ": is another space than '" + std::string(space.name()) +
                       "' of what is to be written; keep one space in one folder");
    }
  }
  if (&space != &nasbench::networks()) return;
  std::vector<nasbench::Architecture> all;
  if (is_there(networks_file)) all = read_networks_file(networks_file);
  const std::size_t before = all.size();
  nasbench::ArchitectureSet known(all.begin(), all.end());
  for (const nasbench::Architecture& architecture : architectures) {
    if (known.insert(architecture).second) all.push_back(architecture);
  }
  nasbench::require_distinct_names(all);
  if (all.size() > before) write_file_atomically(networks_file, nasbench::networks_json(all).dump(1) + "\n");
}

}  // namespace tenshot::datasets
