#pragma once

#include <filesystem>
#include <unordered_map>
#include <vector>

#include "datasets/collect/fresh_start.h"
#include "datasets/pool/pool.h"
#include "nasbench/spaces/architecture.h"

namespace tenshot::datasets {

/// The starts of networks that are started in rounds, until the last round makes a row of them. The file has a line of
/// JSON for each start, written when the start has ended, so that a process that is killed loses none of them. A line
/// that is damaged, or of a network that the space does not know, is as good as none.
class StartJournal {
 public:
  /// Reads the file, where there is one. Throws FileError.
  StartJournal(std::filesystem::path file, const NetworkSpace& space);

  /// The starts of a network, in the order in which they were made.
  std::vector<FreshStart> of(const Architecture& architecture) const;
  /// Throws FileError where the line cannot be written.
  void add(const Architecture& architecture, const FreshStart& start);
  /// Removes the file.
  void forget();

 private:
  void read();

  std::filesystem::path file_;
  const NetworkSpace& space_;
  std::unordered_map<Architecture, std::vector<FreshStart>, nasbench::ArchitectureHash> starts_;
};

}  // namespace tenshot::datasets
