#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "datasets/pool/pool.h"
#include "descriptor/timing/timing.h"

namespace tenshot::datasets {

/// What a collection has measured and could not judge yet: the batch in work, whose sentinel is looked at again when it
/// is done, and the finished batches of the repeat check. A file beside the measurements, written after every network
/// or every visit (descriptor::TurnJournal), so that not even a process that is killed loses them. A journal that is
/// damaged or of another batch is as good as none.
class CollectJournal {
 public:
  CollectJournal(std::filesystem::path file, const NetworkSpace& space);

  /// What is measured of the batch in work, one network after the other.
  std::vector<Measurement> rows(const std::vector<Architecture>& batch) const;
  void keep_rows(const std::vector<Architecture>& batch, const std::vector<Measurement>& rows);

  /// The same of a batch whose networks are measured in turn.
  std::optional<descriptor::TurnProgress> turn(const std::vector<Architecture>& batch) const;
  void keep_turn(const std::vector<Architecture>& batch, const descriptor::TurnProgress& progress);

  /// The batch in work is done, and its rows are kept elsewhere.
  void forget_batch();

  /// A batch of the repeat check, with its sentinel.
  std::optional<std::vector<Measurement>> repeated(const std::vector<Architecture>& batch) const;
  void keep_repeated(const std::vector<Architecture>& batch, const std::vector<Measurement>& rows);

  /// Removes the file.
  void forget();

 private:
  nlohmann::json names(const std::vector<Architecture>& batch) const;
  bool in_work(const std::vector<Architecture>& batch, const char* key) const;
  void save() const;

  std::filesystem::path file_;
  const NetworkSpace& space_;
  nlohmann::json content_;
};

}  // namespace tenshot::datasets
