#include "datasets/tables/network_sources.h"

#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "datasets/tables/csv.h"
#include "nasbench/formats/network_file.h"
#include "nasbench/support/file_kind.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace fs = std::filesystem;
namespace {

nasbench::NamedNetwork read_named(const fs::path& file, std::string name, const nasbench::NetworkReadOptions& options) {
  const nasbench::Network read = nasbench::read_network_file(file, options);
  nasbench::NamedNetwork network = nasbench::named_network(std::move(name), read, file.string());
  network.file = file.string();
  network.read_again = [file, options] { return nasbench::read_network_file(file, options); };
  return network;
}

/// Of a network that lies there in several formats, as one converted from the other, the first format's file counts.
std::vector<fs::path> network_files_of(const fs::path& folder) {
  std::map<std::string, std::pair<std::size_t, fs::path>> by_name;
  std::vector<std::string> folders;
  for (const fs::path& file : entries_of(folder)) {
    if (is_folder(file)) folders.push_back(file.filename().string());
    if (!nasbench::is_network_file(file)) continue;
    const auto rank = static_cast<std::size_t>(&nasbench::network_format(file) - nasbench::network_formats().data());
    const auto [known, added] = by_name.try_emplace(file.stem().string(), rank, file);
    if (!added && rank < known->second.first) known->second = {rank, file};
  }
  if (by_name.empty()) {
    throw InputError(folder.string() + ": holds no network, expected files such as resnet18.onnx (" +
                     joined(nasbench::network_suffixes()) + ")" +
                     (folders.empty() ? "" : "; its folders are not read: " + joined(folders)));
  }
  std::vector<fs::path> files;
  for (auto& [name, file] : by_name) files.push_back(std::move(file.second));
  return files;
}

/// As read_networks of a folder, of these files; none need be left with `left_out`. Files of one stem go by their path.
std::vector<nasbench::Architecture> read_network_files(const std::vector<fs::path>& files,
                                                       const nasbench::NetworkReadOptions& given,
                                                       std::vector<LeftOutFile>* left_out) {
  nasbench::NetworkReadOptions options = given;
  if (files.size() > 1 && !options.inputs_of_several) {
    options.inputs_of_several = std::make_shared<std::set<std::string>>();
  }
  std::vector<nasbench::NamedNetwork> networks;
  std::vector<nasbench::Architecture> identities;
  const auto unless_refused = [left_out](const fs::path& file, const auto& use) {
    try {
      use();
    } catch (const Error& error) {
      if (left_out == nullptr) throw;
      left_out->push_back({file.string(), error.what()});
    }
  };
  std::map<std::string, std::set<fs::path>> files_of;
  for (const fs::path& file : files) files_of[file.stem().string()].insert(fs::weakly_canonical(file));
  for (const fs::path& file : files) {
    const std::string stem = file.stem().string();
    unless_refused(
        file, [&] { networks.push_back(read_named(file, files_of[stem].size() > 1 ? file.string() : stem, options)); });
  }
  if (!given.inputs_of_several && !networks.empty()) require_shapes_used(options);
  for (nasbench::NamedNetwork& network : networks) {  // known from here on: what is refused makes nothing known
    unless_refused(fs::path(network.file), [&] { identities.push_back(nasbench::add_network(std::move(network))); });
  }
  return identities;
}

}  // namespace

void require_shapes_used(const nasbench::NetworkReadOptions& options) {
  for (const auto& [input, shape] : options.shapes) {
    if (!options.inputs_of_several || options.inputs_of_several->count(input) != 0) continue;
    const std::string others = joined(*options.inputs_of_several);
    throw InputError("no network has an input '" + input + "' to give a shape to; " +
                     (others.empty() ? "none was read from a file" : "their inputs are " + others));
  }
}

InputError none_left(const std::vector<LeftOutFile>& left_out) {
  const std::size_t others = left_out.size() - 1;
  return InputError(left_out.front().reason +
                    (others == 0 ? "" : "; nor can any of the " + std::to_string(others) + " others be used"));
}

std::vector<nasbench::Architecture> read_networks(const fs::path& path, const nasbench::NetworkReadOptions& options,
                                                  std::vector<LeftOutFile>* left_out) {
  if (is_folder(path)) {
    const fs::path kept = path / "networks.json";
    if (is_there(kept)) return read_networks(kept, options);
    std::vector<LeftOutFile> refused;
    std::vector<nasbench::Architecture> identities =
        read_network_files(network_files_of(path), options, left_out == nullptr ? nullptr : &refused);
    if (identities.empty()) throw none_left(refused);
    if (left_out != nullptr) left_out->insert(left_out->end(), refused.begin(), refused.end());
    return identities;
  }
  if (nasbench::is_network_file(path)) return read_network_files({path}, options, nullptr);
  const std::string file = name_in_messages(path);
  if (!options.shapes.empty() && !options.inputs_of_several) {
    throw InputError(file + ": its networks are lists of operators, and none has an input '" +
                     options.shapes.begin()->first + "' to give a shape to");
  }
  const std::string text = read_file(path);
  if (path.extension() == ".json") return nasbench::add_networks(parse_json(text, file), file);
  std::vector<nasbench::NamedNetwork> networks = parse_operator_table(text, file);
  for (nasbench::NamedNetwork& network : networks) {
    network = nasbench::named_network(network.name, with_padding(std::move(network.operators)), file);
  }
  return nasbench::add_networks(std::move(networks));
}

nasbench::Architecture architecture_or_file(const std::string& text, const nasbench::NetworkSpace& space,
                                            const nasbench::NetworkReadOptions& options) {
  if (!nasbench::is_network_file(text)) {
    try {
      return space.parse(text);
    } catch (const InputError&) {  // a file, perhaps, of a kind that we do not read
      if (const auto other = other_kind_message(text, "a network's file")) throw InputError(*other);
      throw;
    }
  }
  if (&space != &nasbench::networks()) {
    throw InputError(text + ": is a network's file, and this predictor is of the space " + std::string(space.name()) +
                     "; take one of the space networks, or write an architecture such as " + space.example());
  }
  return read_networks(text, options).front();
}

std::vector<nasbench::Architecture> architectures_or_files(const std::vector<std::string>& texts,
                                                           const nasbench::NetworkSpace& space,
                                                           const nasbench::NetworkReadOptions& options,
                                                           std::vector<LeftOutFile>* left_out) {
  if (texts.size() == 1) return {architecture_or_file(texts.front(), space, options)};
  std::vector<fs::path> files;
  if (&space == &nasbench::networks()) {
    std::copy_if(texts.begin(), texts.end(), std::back_inserter(files), nasbench::is_network_file);
  }
  std::vector<LeftOutFile> refused;
  const std::vector<nasbench::Architecture> read =
      read_network_files(files, options, left_out == nullptr ? nullptr : &refused);
  // Two files may have networks of one name: what was read counts, not what their name means.
  auto next = read.begin();
  std::vector<nasbench::Architecture> architectures;
  for (const std::string& text : texts) {
    const bool is_refused =
        std::any_of(refused.begin(), refused.end(), [&](const LeftOutFile& file) { return file.file == text; });
    if (is_refused) continue;
    const bool is_file = !files.empty() && nasbench::is_network_file(text);
    architectures.push_back(is_file ? *next++ : architecture_or_file(text, space, options));
  }
  if (architectures.empty() && !refused.empty()) throw none_left(refused);
  if (left_out != nullptr) left_out->insert(left_out->end(), refused.begin(), refused.end());
  return architectures;
}

}  // namespace tenshot::datasets
