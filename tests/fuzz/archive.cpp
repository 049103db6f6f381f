// Checkpoints and predictors with a right checksum: the input is the card, a byte 0, and the bytes of the arrays. What
// loads must predict and export, to numbers or to an error; what knowledge says of a device too.

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "tests/fuzz/fuzz.h"
#include "trainer/core/prediction_table.h"
#include "trainer/predictors/registry.h"

using namespace tenshot;

namespace {

/// The bytes of a *.tenshot file.
std::string whole_file(std::string_view card, std::string_view arrays) {
  std::string bytes = "TENSHOT\n";
  bytes += std::string("\1\0\0\0", 4);
  for (std::size_t i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(card.size() >> (8 * i) & 0xff));
  bytes.append(card).append(arrays);
  return bytes + sha256_hex(bytes);
}

/// A file in memory that has a path.
const std::string& path_of(const std::string& content) {
  static const int file = ::memfd_create("archive", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  fuzz::require(::ftruncate(file, 0) == 0, "the file is emptied");
  fuzz::require(::pwrite(file, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()),
                "the file is written");
  return path;
}

void use(const trainer::Predictor& predictor) {
  const nasbench::SearchSpace& space = nasbench::search_space(predictor.space());
  const std::vector<nasbench::Architecture> some = {space.at(0), space.at(1), space.at(4711), space.at(15624)};
  const trainer::Predictions predictions = predictor.predict(some, 0.9);
  trainer::require_usable(predictions, some, space);
  predictor.to_document();
  predictor.explanation();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  const std::size_t end = std::min(input.find('\0'), input.size());
  const std::string_view arrays = end < input.size() ? input.substr(end + 1) : std::string_view();
  const std::string& path = path_of(whole_file(input.substr(0, end), arrays));
  fuzz::survives([&] { use(*trainer::load_predictor(path)); });
  return fuzz::survives([&] {
    const auto model = trainer::load_pool_model(path);
    if (model->knowledge() == nullptr) return;
    const auto known = model->known_device(model->pool().devices.front().id);
    if (known->space().search_space() != nullptr) use(*known);
  });
}
