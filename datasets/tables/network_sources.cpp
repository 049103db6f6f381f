#include "datasets/tables/network_sources.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "datasets/tables/csv.h"
#include "datasets/tables/operator_padding.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::datasets {
namespace fs = std::filesystem;
namespace {

nasbench::NamedNetwork read_onnx_network(const fs::path& file, const nasbench::OnnxReadOptions& options) {
  nasbench::NamedNetwork network =
      nasbench::named_network(file.stem().string(), nasbench::read_onnx(file, options), file.string());
  network.onnx_file = file.string();
  network.read_again = [file, options] { return nasbench::read_onnx(file, options); };
  return network;
}

std::vector<nasbench::Architecture> read_onnx_folder(const fs::path& folder, const nasbench::OnnxReadOptions& options) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->path().extension() == ".onnx") files.push_back(entry->path());
  }
  if (error) throw FileError(folder.string() + ": cannot list this folder (" + error.message() + ")");
  if (files.empty()) {
    throw InputError(folder.string() + ": holds no network, expected files such as resnet18.onnx");
  }
  std::sort(files.begin(), files.end());
  std::vector<nasbench::NamedNetwork> read;
  for (const fs::path& file : files) {
    read.push_back(read_onnx_network(file, options));
  }
  std::vector<nasbench::Architecture> identities;
  for (nasbench::NamedNetwork& network : read) identities.push_back(nasbench::add_network(std::move(network)));
  return identities;
}

}  // namespace

std::vector<nasbench::Architecture> read_networks(const fs::path& path, const nasbench::OnnxReadOptions& options) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    const fs::path kept = path / "networks.json";
    return fs::exists(kept, error) ? read_networks(kept) : read_onnx_folder(path, options);
  }
  const std::string file = name_in_messages(path);
  if (path.extension() == ".onnx") {
    return {nasbench::add_network(read_onnx_network(path, options))};
  }
  const std::string text = read_file(path);
  if (path.extension() == ".json") return nasbench::add_networks(parse_json(text, file), file);
  std::vector<nasbench::Architecture> identities;
  for (nasbench::NamedNetwork& network : parse_operator_table(text, file)) {
    network = nasbench::named_network(network.name, with_padding(std::move(network.operators)), file);
    identities.push_back(nasbench::add_network(std::move(network)));
  }
  return identities;
}

nasbench::Architecture architecture_or_file(const std::string& text, const nasbench::SearchSpace& space,
                                            const nasbench::OnnxReadOptions& options) {
  if (std::filesystem::path(text).extension() != ".onnx") return space.parse(text);
  if (&space != &nasbench::networks()) {
    throw InputError(text + ": is an ONNX file, and this predictor is of the space " + std::string(space.name()) +
                     "; take one of the space networks, or write an architecture such as " + space.example());
  }
  return read_networks(text, options).front();
}

}  // namespace tenshot::datasets
