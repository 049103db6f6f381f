#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tenshot::trainer {

/// Everything that training by Adam changes; restoring it continues as if never interrupted.
struct AdamState {
  std::vector<float> parameters;
  std::vector<float> first_moment;
  std::vector<float> second_moment;
  std::int64_t steps = 0;
};

/// How far a training has come.
struct TrainingState {
  AdamState adam;
  int done = 0;  ///< epochs, or episodes
  double loss = 0;
  std::vector<float> best = {};  ///< parameters of the best state so far, where states are judged
  double best_score = -1e9;
};

/// `fingerprint` is of the data and options that the training depends on. Throws FileError.
void save_training_state(const TrainingState& state, const std::string& fingerprint, const std::filesystem::path& file);

/// What an earlier call left, or nothing: an unfinished state that cannot be read or belongs to other data is worth no
/// error, the training simply starts over. `file` may be empty.
std::optional<TrainingState> find_training_state(const std::string& fingerprint, const std::filesystem::path& file);

}  // namespace tenshot::trainer
