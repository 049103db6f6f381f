#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "datasets/pool/pool.h"
#include "datasets/tables/quantity.h"
#include "descriptor/timing/timing.h"
#include "nasbench/spaces/architecture.h"

namespace tenshot::datasets {

/// A network's starts: medians of their parts.
struct StartRow {
  descriptor::Timing value;   ///< of the quantity, in its unit
  std::vector<double> parts;  ///< as StartTable::parts; NaN where unknown
};

/// The starts of networks, in the order in which they were measured: a CSV with the columns of measurements
/// (datasets/tables/measurements.h) and one for each part.
class StartTable {
 public:
  explicit StartTable(Quantity quantity) : quantity_(quantity) {}

  /// Columns beside the quantity's own: of cold latency `load_ms, prepare_ms, first_ms, warm_ms, memory_mib`, of others
  /// none.
  const std::vector<std::string>& parts() const;
  bool has(const Architecture& architecture) const { return rows_.count(architecture) != 0; }
  const std::vector<Architecture>& order() const { return order_; }
  void add(const Architecture& architecture, StartRow row);
  /// Adds the rows of `file` whose value is positive. Throws FileError, InputError.
  void read(const std::filesystem::path& file, const NetworkSpace& space);
  std::string to_csv(const NetworkSpace& space) const;
  std::vector<Measurement> measurements() const;

 private:
  Quantity quantity_;
  std::vector<Architecture> order_;
  std::unordered_map<Architecture, StartRow, nasbench::ArchitectureHash> rows_;
};

}  // namespace tenshot::datasets
