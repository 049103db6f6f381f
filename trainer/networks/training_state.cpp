#include "trainer/networks/training_state.h"

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "trainer/core/archive.h"

namespace tenshot::trainer {

void save_training_state(const TrainingState& state, const std::string& fingerprint,
                         const std::filesystem::path& file) {
  const auto count = static_cast<std::int64_t>(state.adam.parameters.size());
  Archive archive;
  archive.card = {{"content", "training state"}, {"fingerprint", fingerprint},     {"epochs_done", state.done},
                  {"loss", state.loss},          {"best_score", state.best_score}, {"steps", state.adam.steps}};
  archive.put("parameters", to_array(state.adam.parameters, {count}));
  archive.put("first_moment", to_array(state.adam.first_moment, {count}));
  archive.put("second_moment", to_array(state.adam.second_moment, {count}));
  archive.put("best", to_array(state.best, {static_cast<std::int64_t>(state.best.size())}));
  write_file_quickly(file, archive.serialise());
}

std::optional<TrainingState> find_training_state(const std::string& fingerprint, const std::filesystem::path& file) {
  if (file.empty() || !std::filesystem::exists(file)) return std::nullopt;
  try {
    const Archive archive = load_archive(file);
    if (archive.card.at("fingerprint") != fingerprint) return std::nullopt;
    return TrainingState{{archive.floats("parameters"), archive.floats("first_moment"), archive.floats("second_moment"),
                          archive.card.at("steps")},
                         archive.card.at("epochs_done"),
                         archive.card.at("loss"),
                         archive.floats("best"),
                         archive.card.at("best_score")};
  } catch (const Error&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace tenshot::trainer
