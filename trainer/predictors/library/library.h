#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/structures/structures.h"
#include "trainer/predictors/posterior/intervals.h"

namespace tenshot::trainer::structured {

using FeatureRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// One device-runtime of the pool as costs: its latency is features · costs under the structure that fits it best.
struct LibraryEntry {
  std::string device;  ///< its id; "generic" for the entry that stands for a device unlike any of the pool
  std::size_t structure = 0;
  double log_rms = 0;     ///< root mean square of log(measured / fitted)
  double median_ms = 0;   ///< of its measured latencies
  Eigen::VectorXd costs;  ///< one a feature, in units of the median latency
};

/// Adaptation looks at every entry of a library of at most so many; of a larger one at those nearest to the evidence.
constexpr std::size_t exhaustive_entries = 64;

/// What the pool teaches: which costs device-runtimes have and how they vary together. The last entry is generic.
struct StructuredLibrary {
  const nasbench::StructureModel* model = nullptr;
  std::vector<LibraryEntry> entries;
  /// The cluster of every entry but the generic one (cluster_entries). Empty: adaptation looks at every entry.
  std::vector<std::uint32_t> cluster_of;
  IntervalCalibration calibration;

  std::size_t features() const { return model->features().size(); }
};

/// The entry of the device-runtime of that id. Throws FormatError where the library has none.
const LibraryEntry& entry_of(const StructuredLibrary& library, const std::string& device);

/// Those of its entries, in this order.
StructuredLibrary part_of(const StructuredLibrary& library, const std::vector<std::size_t>& entries);

/// The library without the entries of the devices named: for holding devices out.
StructuredLibrary without(const StructuredLibrary& library, const std::vector<std::string>& devices);

/// What each feature typically costs, in units of the median latency.
Eigen::VectorXd typical_costs(const nasbench::StructureModel& model);

/// Costs that choose a slowest path: none under .003 of `median`, in their unit, so that no operation shortens a path.
Eigen::VectorXd path_costs(const Eigen::VectorXd& costs, double median = 1);

/// The one of `alternatives` rows of features, which lie one after the other, whose features · path_costs are most.
const double* slowest_row(const double* rows, std::size_t alternatives, const Eigen::VectorXd& path_costs);
/// The features of architectures of `table`, or of all, under one structure: their slowest rows by `path_costs`.
FeatureRows rows_at(const nasbench::StructureTable& table, std::size_t structure,
                    const std::vector<std::size_t>& architectures, const Eigen::VectorXd& path_costs);
FeatureRows rows_at(const nasbench::StructureTable& table, std::size_t structure, const Eigen::VectorXd& path_costs);
/// The latencies that the entry's costs sum to for every architecture of `table`, in units of its median latency.
std::vector<double> relative_latencies(const LibraryEntry& entry, const nasbench::StructureTable& table);

}  // namespace tenshot::trainer::structured
