#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "datasets/kit/kit.h"

/// What a kit's folder says of its models; for the sources of the kit only.
namespace tenshot::datasets {

/// Where the model's file lies inside the kit's folder.
std::string model_file(const KitModel& model);

/// manifest.json, which read_kit_manifest reads.
nlohmann::json manifest_json(const KitManifest& manifest);

/// models.tsv: the same, a model a line, for a shell.
std::string models_table(const KitManifest& manifest);

}  // namespace tenshot::datasets
