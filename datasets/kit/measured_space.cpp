#include "datasets/kit/measured_space.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "datasets/kit/kit.h"
#include "datasets/pool/pool.h"
#include "datasets/tables/csv.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"

namespace tenshot::datasets {
namespace fs = std::filesystem;

bool is_cell(const std::string& text) {
  try {
    nasbench::nasbench201().parse(text);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

const nasbench::NetworkSpace* space_of_measurements(const fs::path& path) {
  std::error_code error;
  if (path == "-") return nullptr;
  if (fs::is_directory(path, error)) return is_kit(path) ? read_kit_manifest(path).space : read_device(path).space;
  if (path.filename() == "device.json") return read_device(path).space;
  const std::string text = read_file(path), file = path.string();
  CsvReader csv(text, file);
  const std::optional<std::size_t> named = csv.find("architecture");
  const std::optional<std::size_t> column = named ? named : csv.find("network");
  if (!column || !csv.next() || csv.fields().size() <= *column) return nullptr;
  return is_cell(std::string(csv.fields()[*column])) ? &nasbench::nasbench201() : &nasbench::networks();
}

const nasbench::NetworkSpace& space_given(const std::vector<std::string>& names, const std::vector<fs::path>& tables) {
  if (!std::all_of(names.begin(), names.end(), is_cell)) return nasbench::networks();
  for (const fs::path& table : tables) {
    if (const nasbench::NetworkSpace* space = space_of_measurements(table)) return *space;
  }
  return nasbench::nasbench201();
}

}  // namespace tenshot::datasets
