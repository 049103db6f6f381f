#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/graph/network_reading.h"
#include "nasbench/spaces/network_space.h"
#include "trainer/core/predictor.h"

namespace tenshot::python {

// What Python gives, as the library takes it.

using Strings = std::vector<std::string>;
/// Latencies in milliseconds by architecture string; or CSV files of them, device-runtimes' folders, kits.
using MeasurementSource =
    std::variant<std::map<std::string, double>, std::filesystem::path, std::vector<std::filesystem::path>>;
/// Extents by the name of an ONNX file's input.
using Shapes = std::map<std::string, std::vector<std::int64_t>>;

/// A checkpoint's file, or the name of a shipped one; nothing: the shipped one that fits what is given.
using Checkpoint = std::optional<std::filesystem::path>;

/// `checkpoint`, or the shipped one of networks by name or of NAS-Bench-201, whichever the first of `candidates`, or of
/// `measurements`, is of; of neither given, of NAS-Bench-201. Throws FileError where it is not shipped.
std::filesystem::path checkpoint_for(const Checkpoint& checkpoint, const Strings& candidates,
                                     const std::optional<MeasurementSource>& measurements);

/// Architectures, names or files from whatever holds them: a list, an array, a pandas Series, or the column
/// `architecture` or `network` of a DataFrame. Throws py::type_error on what is neither text nor a path.
Strings strings_of(const pybind11::iterable& architectures);

/// The content of docs.txt.
const std::string& module_docs(const std::string& name);

nasbench::NetworkReadOptions read_options(const Shapes& shapes);

/// Architectures, names of networks or their files. Throws InputError, FileError, FormatError.
std::vector<nasbench::Architecture> parse_all(const nasbench::NetworkSpace& space, const Strings& strings,
                                              const Shapes& shapes = {});
Strings format_all(const nasbench::NetworkSpace& space, const std::vector<nasbench::Architecture>& architectures);

/// `fleet` is that of datasets::read_joined(). Of the quantity that is asked for by name, or that the checkpoint's pool
/// holds. Throws InputError on measurements that cannot be used, and what reading a file throws.
trainer::AdaptationSet adaptation_set(const trainer::PoolModel& model, const MeasurementSource& source,
                                      const std::optional<std::string>& quantity, bool fleet);

}  // namespace tenshot::python
