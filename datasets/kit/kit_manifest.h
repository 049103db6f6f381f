#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/kit/kit.h"

/// What a kit's folder says of its models; for the sources of the kit only.

namespace tenshot::datasets {

/// Where the model's file lies inside the kit's folder.
std::string model_file(const KitModel& model);

/// manifest.json, which read_kit_manifest reads.
nlohmann::json manifest_json(const KitManifest& manifest);

/// models.tsv: the same, a model a line, for a shell.
std::string models_table(const KitManifest& manifest);

/// A file of datasets/kit/board/ that goes into every kit as it is.
struct KitFile {
  std::string_view name;
  std::string_view content;
  bool executable = false;
};

/// Built into the library, so that a program without its source tree can write kits.
const std::vector<KitFile>& kit_files();

}  // namespace tenshot::datasets
