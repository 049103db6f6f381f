#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/kit/kit.h"
#include "nasbench/support/files.h"

/// What a kit's folder says of its models; for the sources of the kit only.

namespace tenshot::datasets {

/// Where the model's file lies inside the kit's folder.
std::string model_file(const KitModel& model);

/// manifest.json, which read_kit_manifest reads.
nlohmann::json manifest_json(const KitManifest& manifest);

/// models.tsv: the same, a model a line, for a shell.
std::string models_table(const KitManifest& manifest);

/// The files of datasets/kit/board/, which go into every kit as they are.
const std::vector<ShippedFile>& kit_files();

}  // namespace tenshot::datasets
