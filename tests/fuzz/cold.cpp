// Stages and plans of cold starts, and the file of weights beside a plan, with the right hash of its table; the first
// byte says which. Small stages that are accepted can be planned: no plan is under its bound, and it is read again the
// same.

#include <algorithm>

#include "descriptor/cold/cold_files.h"
#include "descriptor/cold/cold_weights.h"
#include "tests/fuzz/memory_file.h"
#include "trainer/cold/planner.h"

using namespace tenshot;

namespace {

constexpr std::string_view key = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk";

bool is_small(const descriptor::ColdStages& stages) {
  constexpr std::size_t most = 4;
  return stages.layers.size() <= most &&
         std::all_of(stages.layers.begin(), stages.layers.end(),
                     [](const descriptor::LayerStages& layer) { return layer.kernels.size() <= most; });
}

void read_stages(std::string_view input) {
  const descriptor::ColdStages stages = descriptor::read_stages(fuzz::path_of(input));
  const std::string text = to_text(stages);
  fuzz::require(to_text(descriptor::read_stages(fuzz::path_of(text))) == text, "stages that are written read again");
  if (!is_small(stages)) return;
  const descriptor::ColdPlan plan = trainer::plan_cold_start(stages, {}).plan;
  fuzz::require(plan.lower_bound_ms <= plan.predicted_ms * (1 + 1e-9), "no plan is under its bound");
  const std::string planned = to_text(plan);
  fuzz::require(to_text(descriptor::read_plan(fuzz::path_of(planned))) == planned,
                "a plan that is written reads again");
}

void read_plan(std::string_view input) {
  const std::string text = to_text(descriptor::read_plan(fuzz::path_of(input)));
  fuzz::require(to_text(descriptor::read_plan(fuzz::path_of(text))) == text, "a plan that is written reads again");
}

/// The input is the offset, the bytes and the hash of each of two records, and what follows the table.
void read_weights(std::string_view input) {
  constexpr std::size_t records = 2, table = records * 3 * sizeof(std::uint64_t), start = 16 + key.size() + 8;
  if (input.size() < table) return;
  std::string content =
      descriptor::WeightFile::content(std::string(key), std::vector<std::string>(records)).substr(0, start);
  content += input.substr(0, table);
  const std::uint64_t hash = descriptor::quick_hash(content.data(), content.size());
  content.append(reinterpret_cast<const char*>(&hash), sizeof hash).append(input.substr(table));
  const descriptor::WeightFile file(fuzz::path_of(content), std::string(key), records);
  for (std::size_t i = 0; i < records; ++i) {
    fuzz::require(file.bytes(i) <= content.size(), "a record lies in the file");
    std::string record(file.bytes(i), '\0');
    file.read(i, record.data());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input = fuzz::text_of(data + 1, size - 1);
  return fuzz::survives([&] {
    if (data[0] == 's') read_stages(input);
    if (data[0] == 'p') read_plan(input);
    if (data[0] == 'w') read_weights(input);
  });
}
