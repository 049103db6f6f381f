#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/kit/kit.h"

namespace tenshot::datasets {

/// What add_converted() did.
struct ConvertedSummary {
  std::string format;                    ///< the suffix of the files, without the dot: "tflite"
  std::size_t models = 0;                ///< of the kit that have a converted file now
  std::size_t without = 0;               ///< operators and chains of the kit that have none: they are not measured
  std::vector<std::string> passed_over;  ///< names of files that are no converted models
};

/// Copies the files of `converted` (the top of that folder) that a user made of the models of the kit in `folder` into
/// its folder `converted/`, and notes them with their SHA-256 in `converted.tsv`, for measure.sh, and in the manifest.
/// A file belongs to the model whose id it has (`arch_01.tflite` of `models/arch_01.onnx`), or whose network's name.
/// What was added before is forgotten, and other files are passed over. `converted` may be the kit's own `converted/`
/// or `models/`. Throws FileError and FormatError as read_kit_manifest() does, and InputError that names the files at
/// fault: an architecture has none, or half of one, two are of one model, or of two formats. The kit stays as it was.
ConvertedSummary add_converted(const std::filesystem::path& folder, const std::filesystem::path& converted);

}  // namespace tenshot::datasets
