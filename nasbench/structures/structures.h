#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/spaces/search_space.h"

namespace tenshot::nasbench {

/// One term of a latency that is a sum of costs: the base, or how often an operation runs. `typical_cost`, `ridge` and
/// `spread` say what to expect of its cost before anything is known, in units of the device's median latency.
struct StructureFeature {
  std::string name;
  double typical_cost = 0;
  double ridge = 1;              ///< weight in a regularised fit, relative to other features
  std::optional<double> spread;  ///< standard deviation of the cost; nothing: it follows from the size of the costs
  /// A feature that every instance in this one's operation chain runs as well: where a structure counts it apart, it is
  /// not this one's. Empty: none.
  std::string contains;
};

/// One hypothesis of what a runtime executes of an architecture.
struct Structure {
  std::string name;
  std::string meaning;  ///< one sentence for a person: "dead branches are removed"
  /// 1: the latency is features · costs. More: it is the greatest of that many such sums (parallel paths).
  std::size_t alternatives = 1;
  std::vector<bool> uses;  ///< which features can differ from zero, one a feature
};

/// The structure features of a list of architectures, each distinct feature row once.
struct StructureTable {
  struct Column {
    std::size_t alternatives = 1;
    std::size_t rows = 0;
    std::shared_ptr<const std::vector<double>> features;  ///< [rows, alternatives, feature_count]
    std::vector<std::uint32_t> row_of;                    ///< one an architecture
  };
  std::size_t size = 0;  ///< architectures
  std::size_t feature_count = 0;
  std::vector<Column> structures;
  std::vector<std::uint64_t> signatures;  ///< [size]

  /// `alternatives × feature_count` values of one architecture.
  const double* row(std::size_t structure, std::size_t architecture) const {
    const Column& column = structures[structure];
    return column.features->data() + column.row_of[architecture] * column.alternatives * feature_count;
  }
};

/// The structures of NAS-Bench-201: all that the `structured` predictor knows of it. Feature 0 is the base: 1, or 0
/// where nothing of the network runs.
class StructureModel {
 public:
  StructureModel();

  const SearchSpace& space() const { return nasbench201(); }
  const std::vector<StructureFeature>& features() const { return features_; }
  const std::vector<Structure>& structures() const { return structures_; }
  /// How often one unit of a feature runs the operation of that name at each channels and resolution it occurs at.
  double instances_per_shape() const;

  /// Writes the features of `architecture` under one structure: [alternatives, features().size()], row-major.
  void evaluate(std::size_t structure, const Architecture& architecture, double* rows) const;

  /// 64 bits whose Hamming distance says how much two architectures differ, for what no structure explains; and the
  /// distance at which likeness has fallen to 1/e.
  std::uint64_t signature(const Architecture& architecture) const;
  double signature_scale() const { return 16; }

  /// Everything above for many architectures. Once many were asked for, it remembers the whole space.
  StructureTable table(const std::vector<Architecture>& architectures) const;

  /// Index of the structure called `name`. Throws InputError that lists the names.
  std::size_t structure_index(std::string_view name) const;

 private:
  StructureTable evaluated(const std::vector<Architecture>& architectures) const;

  std::vector<StructureFeature> features_;
  std::vector<Structure> structures_;
  mutable std::once_flag is_evaluated_;
  mutable StructureTable whole_space_;  ///< of all architectures, once many were asked for
};

/// Whether execution structures of `space` are known.
bool has_structures(const NetworkSpace& space);
/// The structures of `space`. Throws InputError for a space that has none.
const StructureModel& structures_of(const NetworkSpace& space);

}  // namespace tenshot::nasbench
