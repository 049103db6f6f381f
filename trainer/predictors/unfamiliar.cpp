#include "trainer/predictors/unfamiliar.h"

#include "nasbench/spaces/networks.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/text.h"

namespace tenshot::trainer {
namespace {

constexpr double far_outside = 2;  ///< times as costly as the most costly of the pool's networks, or the least

std::string note_on(const std::string& name, const Unfamiliar& unfamiliar) {
  std::string note;
  if (!unfamiliar.operators.empty()) {
    note = name + " has operators that no measured network has (" + joined(unfamiliar.operators) +
           "): they count as on other devices, or as the operators most like them, and the interval is wider";
  }
  const bool large = unfamiliar.size > far_outside;
  if (!large && unfamiliar.size >= 1 / far_outside) return note;
  note += note.empty() ? name : "; it";
  note += large ? " costs about " + significant_digits(unfamiliar.size, 3) +
                      " times as much as the most costly network of the pool"
                : " costs about 1/" + significant_digits(1 / unfamiliar.size, 3) +
                      " of what the least costly network of the pool costs";
  return note + ": the prediction extrapolates";
}

}  // namespace

std::vector<std::string> notes_on_unfamiliar(const Predictor& predictor, const std::vector<Architecture>& architectures,
                                             std::size_t most) {
  const std::vector<Unfamiliar> unfamiliar = predictor.unfamiliar(architectures);
  std::vector<std::string> notes;
  std::size_t more = 0;
  for (std::size_t i = 0; i < unfamiliar.size(); ++i) {
    std::string note = note_on(predictor.space().format(architectures[i]), unfamiliar[i]);
    if (note.empty()) continue;
    if (notes.size() < most) {
      notes.push_back(std::move(note));
    } else {
      ++more;
    }
  }
  if (more > 0) notes.push_back("as far from the pool as these: " + std::to_string(more) + " more networks");
  return notes;
}

std::vector<std::string> notes_on_reading(const NetworkSpace& space, const std::vector<Architecture>& architectures,
                                          std::size_t most) {
  std::vector<std::string> notes;
  if (&space != &nasbench::networks()) return notes;
  std::size_t more = 0;
  for (const Architecture& architecture : architectures) {
    const nasbench::NamedNetwork& network = nasbench::named_network(architecture);
    for (const std::string& remark : network.remarks) {
      if (notes.size() < most) {
        notes.push_back(network.name + ": " + remark);
      } else {
        ++more;
      }
    }
  }
  if (more > 0) notes.push_back("remarks like these: " + std::to_string(more) + " more");
  return notes;
}

}  // namespace tenshot::trainer
