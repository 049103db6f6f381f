#include "trainer/predictors/structured/pool_library.h"

#include <algorithm>

#include "nasbench/support/error.h"
#include "trainer/predictors/structured/library_fit.h"

namespace tenshot::trainer::structured {
namespace {

/// No latency that the library expects is below this share of the median latency.
constexpr double smallest_expected = 1e-3;

std::vector<double> latencies_of(const StructuredLibrary& library, const LibraryEntry& entry,
                                 const nasbench::StructureTable& table) {
  const auto width = static_cast<Eigen::Index>(library.features());
  const Eigen::VectorXd paths = path_costs(entry.costs);
  std::vector<double> latency_ms;
  for (std::size_t a = 0; a < table.size; ++a) {
    const double* row = slowest_row(table, entry.structure, a, paths);
    const double relative = Eigen::Map<const Eigen::VectorXd>(row, width).dot(entry.costs);
    latency_ms.push_back(entry.median_ms * std::max(relative, smallest_expected));
  }
  return latency_ms;
}

}  // namespace

StructuredLibrary library_of(const datasets::Pool& pool) {
  return fit_library(nasbench::structures_of(*pool.space), datasets::device_ids(pool), datasets::latency_matrix(pool));
}

std::vector<std::vector<double>> latencies_of_pool(const StructuredLibrary& library, const datasets::Pool& pool,
                                                   const std::vector<nasbench::Architecture>& architectures) {
  const nasbench::StructureTable table = library.model->table(architectures);
  std::vector<std::vector<double>> latency_ms;
  for (const std::string& id : datasets::device_ids(pool)) {
    const auto entry = std::find_if(library.entries.begin(), library.entries.end(),
                                    [&](const LibraryEntry& e) { return e.device == id; });
    if (entry == library.entries.end()) throw FormatError("the library has no entry for device " + id);
    latency_ms.push_back(latencies_of(library, *entry, table));
  }
  return latency_ms;
}

}  // namespace tenshot::trainer::structured
