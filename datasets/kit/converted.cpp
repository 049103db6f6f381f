#include "datasets/kit/converted.h"

#include <nlohmann/json.hpp>

#include "datasets/tables/csv.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/words.h"

namespace tenshot::datasets {
namespace {

namespace fs = std::filesystem;

/// A format of converted models by its suffix; `second` is that of the file beside it, where a model has two.
struct Format {
  std::string_view suffix, second;
};
constexpr std::array formats = {Format{"tflite", ""}, Format{"param", "bin"}, Format{"xml", "bin"}, Format{"pte", ""},
                                Format{"engine", ""}, Format{"plan", ""},     Format{"trt", ""},    Format{"ptl", ""},
                                Format{"rknn", ""},   Format{"dlc", ""},      Format{"mnn", ""},    Format{"om", ""},
                                Format{"hef", ""},    Format{"nb", ""},       Format{"tmfile", ""}};

/// The suffixes of all formats, for messages: "tflite, param + bin, …".
std::string converted_formats() {
  std::vector<std::string> suffixes;
  for (const Format& format : formats) {
    suffixes.push_back(std::string(format.suffix) + (format.second.empty() ? "" : " + " + std::string(format.second)));
  }
  return joined(suffixes);
}

/// The id of the empty model, which quantities.sh compares the memory of others with.
constexpr std::string_view empty_model = "empty";

struct Found {
  const Format* format = nullptr;
  std::map<std::string, fs::path> files;  ///< by model's id
  std::optional<fs::path> empty;
  std::vector<std::string> passed_over;
};

const Format* format_of(const fs::path& file) {
  const std::string suffix = file.extension().string();
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const Format& format) { return suffix == "." + std::string(format.suffix); });
  return found == formats.end() ? nullptr : &*found;
}

/// The files of a model, one or two, of which `file` is the first.
std::vector<fs::path> files_of(const fs::path& file, const Format& format) {
  if (format.second.empty()) return {file};
  return {file, fs::path(file).replace_extension(std::string(format.second))};
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const fs::path& file : entries_of(folder, &error)) {
    if (is_file(file)) files.push_back(file);
  }
  if (error) throw FileError(folder.string() + ": " + error.message() + "; expected a folder of converted models");
  return files;
}

/// The models' ids by what their files may be called.
std::map<std::string, std::string> ids_by_name(const KitManifest& manifest) {
  std::map<std::string, std::string> ids;
  for (const KitModel& model : manifest.models) {
    if (model.is_architecture() && manifest.space == &nasbench::networks()) {
      ids.emplace(manifest.space->format(model.architecture), model.id);
    }
  }
  for (const KitModel& model : manifest.models) ids[model.id] = model.id;
  return ids;
}

/// Throws on what the folder holds; what it lacks is said by require_complete.
Found find_converted(const KitManifest& manifest, const fs::path& folder) {
  const std::map<std::string, std::string> ids = ids_by_name(manifest);
  Found found;
  const std::vector<fs::path> files = files_in(folder);
  std::set<fs::path> seconds;
  for (const fs::path& file : files) {
    const Format* format = format_of(file);
    if (format != nullptr) seconds.insert(files_of(file, *format).back());
  }
  for (const fs::path& file : files) {
    const std::string name = file.filename().string(), stem = file.stem().string();
    const Format* format = format_of(file);
    if (format == nullptr) {
      if (file.extension() != ".onnx" && seconds.count(file) == 0) found.passed_over.push_back(name);
      continue;
    }
    if (found.format != nullptr && found.format != format) {
      throw InputError(folder.string() + ": holds models of two formats, ." + std::string(found.format->suffix) +
                       " and ." + std::string(format->suffix) + "; give each a folder, and a kit, of its own");
    }
    found.format = format;
    const auto id = ids.find(stem);
    if (stem == empty_model) {
      found.empty = file;
    } else if (id == ids.end()) {
      found.passed_over.push_back(name);  // of a network that was not planned
    } else if (const auto [other, first] = found.files.emplace(id->second, file);
               !first && read_file(other->second) != read_file(file)) {
      throw InputError(folder.string() + ": " + other->second.filename().string() + " and " + name +
                       " are both of the model " + id->second);
    }
  }
  return found;
}

void require_complete(const KitManifest& manifest, const Found& found, const fs::path& folder) {
  if (found.format == nullptr) {
    throw InputError(folder.string() + ": holds no converted model; known suffixes are " + converted_formats());
  }
  const std::string suffix = "." + std::string(found.format->suffix);
  std::vector<std::string> missing;
  for (const KitModel& model : manifest.models) {
    if (model.is_architecture() && found.files.count(model.id) == 0) missing.push_back(model.id + suffix);
  }
  for (const auto& [id, file] : found.files) {
    const fs::path last = files_of(file, *found.format).back();
    if (!is_file(last)) missing.push_back(last.filename().string());
  }
  if (missing.empty()) return;
  throw InputError(folder.string() + ": " + quoted_list(missing) + (missing.size() == 1 ? " is" : " are") +
                   " missing; every architecture of the kit needs its converted file");
}

/// One converted file in the kit: its name there, and its hash.
struct Copied {
  std::string file, sha256;
};

Copied copy_file(const fs::path& kit, const fs::path& source, const std::string& name) {
  const fs::path target = kit / "converted" / name;
  const std::string bytes = read_file(source);
  std::error_code ignored;
  if (!fs::equivalent(source, target, ignored)) write_file_quickly(target, bytes);
  return {"converted/" + name, sha256_hex(bytes)};
}

std::vector<Copied> copy_model(const fs::path& kit, const fs::path& file, const std::string& id, const Format& format) {
  std::vector<Copied> copied;
  for (const fs::path& part : files_of(file, format))
    copied.push_back(copy_file(kit, part, id + part.extension().string()));
  return copied;
}

/// The lines of models.tsv by their ids, of a kit that read_kit_manifest() has read.
std::map<std::string, std::string> lines_by_id(const fs::path& folder) {
  std::map<std::string, std::string> lines;
  const std::string table = read_file(folder / "models.tsv");
  for (const std::string_view line : split(table, '\n')) lines[std::string(line.substr(0, line.find('\t')))] = line;
  return lines;
}

/// A line of models.tsv with another file and hash: id, kind, file, hash, runs, shape.
std::string converted_line(const std::string& line, const std::vector<Copied>& copied) {
  std::vector<std::string> columns = parts_between(line, "\t");
  if (columns.size() != 6) throw FormatError("models.tsv: '" + excerpt(line) + "' has not 6 columns");
  columns[2] = copied.front().file;
  columns[3] = copied.front().sha256 + (copied.size() > 1 ? "+" + copied[1].sha256 : "");
  return joined(columns, "\t") + "\n";
}

}  // namespace

ConvertedSummary add_converted(const fs::path& folder, const fs::path& converted) {
  const KitManifest manifest = read_kit_manifest(folder);
  Found found = find_converted(manifest, converted);
  require_complete(manifest, found, converted);
  const std::string manifest_file = (folder / "manifest.json").string();
  nlohmann::json json = parse_json(read_file(manifest_file), manifest_file);
  const std::map<std::string, std::string> lines = lines_by_id(folder);

  std::error_code ignored;
  fs::remove(folder / "converted.tsv", ignored);  // until everything is there, the kit is as it was without
  make_folder(folder / "converted");
  ConvertedSummary summary;
  summary.format = found.format->suffix;
  summary.passed_over = std::move(found.passed_over);
  std::string table = "# kit " + manifest.id + "\n# format " + summary.format + "\n";
  for (nlohmann::json& model : json.at("models")) {
    const std::string id = model.at("id");
    model.erase("converted");  // of what was added before
    const auto file = found.files.find(id);
    if (file == found.files.end()) {
      ++summary.without;
      continue;
    }
    const std::vector<Copied> copied = copy_model(folder, file->second, id, *found.format);
    for (const Copied& one : copied) {
      model["converted"]["files"].push_back({{"file", one.file}, {"sha256", one.sha256}});
    }
    const auto line = lines.find(id);
    if (line == lines.end()) throw FormatError((folder / "models.tsv").string() + ": has no line of model " + id);
    table += converted_line(line->second, copied);
    ++summary.models;
  }
  if (found.empty) copy_model(folder, *found.empty, std::string(empty_model), *found.format);
  write_file_atomically(manifest_file, json.dump(1) + "\n");
  write_file_atomically(folder / "converted.tsv", table);
  return summary;
}

}  // namespace tenshot::datasets
