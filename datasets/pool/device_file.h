#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/pool/pool.h"
#include "datasets/tables/quantity.h"
#include "nasbench/graph/operator_sequence.h"
#include "nasbench/spaces/network_space.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::datasets {

constexpr std::string_view device_format = "tenshot.device/1";
constexpr std::string_view device_id_rule = "letters, digits, '.', '_' and '-', at most 128, not beginning with '.'";

/// True when `id` obeys device_id_rule, so that it can safely name a folder.
bool is_device_id(std::string_view id);

/// The file beside a device file that its measurements are in: "latencies.csv", "energy.csv".
std::string measurements_name(Quantity quantity);

/// Everything a device file says: the device, without its latencies, and where they are.
struct DeviceFile : DeviceOfSpace {
  std::string latencies;  ///< a plain file name, in the device file's folder; empty when the file has none
};

/// Throws FormatError that names `file` and the key at fault: no device file, a newer format, a value of the
/// wrong kind or out of range, a `latencies` that would leave the folder. Keys it does not know are ignored. `kept` is
/// the space that the folder keeps, where it keeps one (read_space_files).
DeviceFile device_file_from_json(const nlohmann::json& json, const std::string& file,
                                 const NetworkSpace* kept = nullptr);

/// As write_device, without what the folder keeps of the space.
void write_device_files(const std::filesystem::path& folder, const DeviceRuntime& device, const NetworkSpace& space);

/// Throws InputError where the folder has a device of a space of another name that is not to be replaced.
void require_one_space(const std::filesystem::path& folder, const NetworkSpace& space,
                       const std::vector<std::string>& replaced = {});

/// The folders directly in a pool's folder, sorted, without hidden ones and pools of other spaces. Throws FileError
/// where it is no folder.
std::vector<std::filesystem::path> device_folders(const std::filesystem::path& folder);

/// Whether the space knows that operator by its name, channels and resolution (NetworkSpace::named_operation), or
/// nothing more is known of it: files then call it so.
bool is_known_by_name(const std::string& name, const nasbench::OperatorSequence& key,
                      const nasbench::NetworkSpace& space);

/// Writes `name`, `channels` and `resolution` into an entry of a file; where they do not say which operator it is, also
/// `input` and `operators`, its specifications.
void put_operator(nlohmann::json& entry, const std::string& name, const nasbench::OperatorSequence& key,
                  const nasbench::NetworkSpace& space);

/// The inverse: an operator that neither the entry nor the space says more of is an opaque one. Throws FormatError that
/// names the file and the key at fault.
nasbench::OperatorSequence read_operator_key(const JsonReader& entry, const std::string& name,
                                             const nasbench::NetworkSpace& space);

}  // namespace tenshot::datasets
