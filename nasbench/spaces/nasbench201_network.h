#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/spaces/cell.h"
#include "nasbench/spaces/search_space.h"

namespace tenshot::nasbench {

/// NAS-Bench-201 (Dong and Yang, ICLR 2020), reached through nasbench201().
class NasBench201 final : public SearchSpace {
 public:
  std::string_view name() const override { return "nasbench201"; }
  const std::vector<int>& decisions() const override { return decisions_; }
  Architecture parse(std::string_view text) const override;
  void append_format(std::string& text, const Architecture& architecture) const override;
  char part_separator() const override { return '+'; }
  const std::vector<std::string>& counted_operations() const override { return counted_operations_; }
  std::vector<double> operation_counts(const Architecture& architecture) const override;
  bool connected(const Architecture& architecture) const override { return live_edges(cell_of(architecture)) != 0; }
  Architecture canonical(const Architecture& architecture) const override;

  // Its networks (§2.1 and figure 1). All throw InputError on a shape that three stages, each of half the resolution of
  // the one before, cannot have.

  /// Stem, three stages of five equal cells with a residual block before the second and the third, classifier.
  Network computation(const Architecture& architecture, const NetworkShape& shape, int batch) const override;
  /// What the benchmark publishes as FLOPs, from the operations alone: the multiplications and additions of
  /// convolutions for one image, and of the classifier with its biases.
  std::int64_t flop_count(const Architecture& architecture, const NetworkShape& shape) const override;
  std::vector<Operator> operators(const NetworkShape& shape, int batch) const override;
  std::vector<double> operator_occurrences(const Architecture& architecture) const override;
  /// The counted operations but skip_connect, which costs nothing inside a network, and "add", "relu" and "multiply"
  /// (what `none` is), at the channels and resolutions of the 3 stages, operation by operation.
  std::vector<OperationChain> operation_chains(const NetworkShape& shape, int batch) const override;
  /// What an operation of the cell, or one of "add", "relu" and "multiply", executes on an image of these extents;
  /// nothing for another name, and where an extent is not positive or beyond 2^20.
  std::optional<OperatorSequence> named_operation(std::string_view name, int channels, int resolution) const override;

 private:
  std::vector<int> decisions_ = std::vector<int>(edge_count, static_cast<int>(operation_count));
  std::vector<std::string> counted_operations_{operation_names.begin() + 1, operation_names.end()};
};

}  // namespace tenshot::nasbench
