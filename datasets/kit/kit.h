#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/pool/in_network.h"
#include "nasbench/graph/network_reading.h"
#include "nasbench/spaces/network_space.h"

namespace tenshot::datasets {

constexpr std::string_view kit_format = "tenshot.kit/1";

/// One model of a measurement kit.
struct KitModel {
  std::string id;                ///< names its files: lower-case letters, digits and '_'
  std::string suffix = ".onnx";  ///< of a user's own network in another format: that of its file
  std::string sha256;
  std::string converted_sha256;   ///< of the user's converted file, of two joined by '+'; empty without (converted.h)
  std::uint64_t weight_seed = 0;  ///< of nasbench::random_weights: one of its own
  int runs = 0;                   ///< asked for
  std::vector<nasbench::NetworkInput> inputs;  ///< with the batch; what the file leaves open is fixed in the kit
  Architecture architecture;                   ///< empty unless it is one
  // These three are set for an operator alone.
  std::string operator_name;
  nasbench::OperatorSequence key;
  std::optional<ChainNetwork> chain;  ///< of a chain of an operation, and of surroundings of chains

  bool is_operator() const { return !operator_name.empty(); }
  bool is_architecture() const { return !is_operator() && !chain; }
};

/// What a kit asks for. `id` is a hash over all of its models.
struct KitManifest {
  std::string id;
  const NetworkSpace* space = nullptr;
  nasbench::NetworkShape shape;
  int batch = 1;
  std::uint64_t weight_seed = 1;
  /// Architectures in the order of the plan, then operators, then chains with their surroundings (none in older kits).
  std::vector<KitModel> models;
};

/// What a kit is to measure.
struct KitRequest {
  const NetworkSpace* space = nullptr;
  std::vector<Architecture> architectures;  ///< more say more of the device; each is a file of some megabytes to copy
  nasbench::NetworkShape shape;
  int batch = 1;                  ///< images in an inference
  std::uint64_t weight_seed = 1;  ///< of the first network; each has one of its own
  /// How often an architecture is run. More take longer in proportion on the board, and leave less noise.
  int runs = 200;
  /// How often an operator, a chain or surroundings are run, which take microseconds: more than architectures.
  int operator_runs = 500;
  nasbench::NetworkReadOptions read;  ///< of networks by name: what their files leave open
};

/// What was written.
struct KitSummary {
  std::size_t models = 0;
  std::uintmax_t bytes = 0;  ///< of the models
};

/// Writes `folder`: `models/*.onnx` (the architectures, and every operator of the space, alone and in its chains; of
/// networks by name, the user's own files with their weights, dimensions that ONNX files leave open fixed; those of
/// TensorFlow Lite and ncnn are its converted files too, for measure.sh --command),
/// `manifest.json`, `models.tsv` (the same for a shell), `measure.sh` with its runners, `README.txt`; the manifest
/// last, so that an unfinished kit is none. Converted files that were added to the kit before (converted.h) have to be
/// added again. `written` is told after each model. Throws InputError when there is nothing to measure, when a network
/// cannot be fed (an input without dimensions, or of text, complex numbers or bfloat16) or has another number of images
/// than `batch`, or when the folder holds anything but this kit (results of an earlier one are nobody's to overwrite),
/// and what reading the networks throws: all that before anything is written. FileError when it cannot be written.
KitSummary write_kit(const std::filesystem::path& folder, const KitRequest& request,
                     const std::function<void(std::size_t done, std::size_t all)>& written = {});

/// What keeps a network by name out of a kit of files with that suffix, or any, in one line: nobody named its file, its
/// weights are missing or short, or it is of another format; with a suffix, also that it cannot be fed, or is open.
std::optional<std::string> kit_problem(const Architecture& network, const std::string& suffix = "");

/// The suffix of most networks' files that a kit could hold, else empty: of as many the first in network_formats().
std::string kit_suffix(const std::vector<Architecture>& networks);

/// True when `folder` is one, and holds a manifest.json.
bool is_kit(const std::filesystem::path& folder);

/// Throws FileError (no manifest.json), FormatError that names the key at fault.
KitManifest read_kit_manifest(const std::filesystem::path& folder);

}  // namespace tenshot::datasets
