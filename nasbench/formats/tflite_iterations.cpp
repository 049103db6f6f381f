// Numbers of a TensorFlow Lite file, and how often its loops run by them.

#include <algorithm>

#include "nasbench/formats/tflite_file.h"

namespace tenshot::nasbench {

std::optional<std::vector<std::int64_t>> integers_of(const TfliteFile& file, const TfliteTensor& tensor) {
  constexpr std::uint64_t most = 1024;
  const int bytes = tensor.file_type == 4 ? 8 : tensor.file_type == 2 ? 4 : tensor.file_type == 7 ? 2 : 1;
  const bool integer = tensor.file_type == 2 || tensor.file_type == 4 || tensor.file_type == 7 ||
                       tensor.file_type == 9 || tensor.file_type == 3;
  const std::uint64_t count = tensor.data.length / static_cast<std::uint64_t>(bytes);
  if (!tensor.has_data || !integer || count > most) return std::nullopt;
  if (count != static_cast<std::uint64_t>(element_count(tensor.shape))) return std::nullopt;
  file.bytes->count_listed(count);
  std::vector<std::int64_t> numbers;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t place = tensor.data.place + i * static_cast<std::uint64_t>(bytes);
    FlatFile& from = *file.bytes;
    numbers.push_back(bytes == 8              ? from.number<std::int64_t>(place)
                      : bytes == 4            ? from.number<std::int32_t>(place)
                      : bytes == 2            ? from.number<std::int16_t>(place)
                      : tensor.file_type == 9 ? std::int64_t{from.number<std::int8_t>(place)}
                                              : std::int64_t{from.number<std::uint8_t>(place)});
  }
  return numbers;
}

namespace {

std::optional<std::int64_t> single_number(const TfliteFile& file, std::int32_t tensor) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (tensor < 0) return std::nullopt;
  const auto numbers = integers_of(file, file.tensors[static_cast<std::size_t>(tensor)]);
  const bool usual = numbers && numbers->size() == 1 && numbers->front() < most && numbers->front() > -most;
  return usual ? std::optional(numbers->front()) : std::nullopt;
}

/// What an iteration adds to what it takes as `tensor`, 0 where it hands that on; nothing where it does anything else.
std::optional<std::int64_t> step_of(const TfliteFile& file, const TfliteIteration& iteration, std::int32_t tensor) {
  constexpr std::int32_t add = 0;
  std::optional<std::int64_t> step;
  for (std::size_t i = 0; i < iteration.inputs.size(); ++i) {
    if (iteration.inputs[i] != tensor) continue;
    std::optional<std::int64_t> own;
    if (iteration.outputs[i] == tensor) own = 0;
    for (const TfliteOperator& op : iteration.operators) {
      if (op.code != add || op.inputs.size() != 2 || op.outputs.front() != iteration.outputs[i]) continue;
      if (op.inputs[0] == tensor) own = single_number(file, op.inputs[1]);
      if (op.inputs[1] == tensor) own = single_number(file, op.inputs[0]);
    }
    if (!own || (step && step != own)) return std::nullopt;
    step = own;
  }
  return step;
}

}  // namespace

std::optional<std::int64_t> iteration_count(const TfliteFile& file, const std::vector<TfliteOperator>& condition,
                                            const TfliteIteration& iteration) {
  constexpr std::int32_t less = 58, less_equal = 63, logical_and = 86;
  std::optional<std::int64_t> least;
  for (const TfliteOperator& op : condition) {
    if (op.code == logical_and) continue;
    if ((op.code != less && op.code != less_equal) || op.inputs.size() != 2) return std::nullopt;
    const auto start = single_number(file, op.inputs[0]), step = step_of(file, iteration, op.inputs[0]);
    const auto limit = single_number(file, op.inputs[1]);
    const bool is_carried = std::count(iteration.inputs.begin(), iteration.inputs.end(), op.inputs[1]) > 0;
    if (is_carried && step_of(file, iteration, op.inputs[1]) != 0) return std::nullopt;
    if (!start || !step || !limit || *step < 1) return std::nullopt;
    const std::int64_t room = *limit + (op.code == less_equal ? 1 : 0) - *start;
    const std::int64_t count = room <= 0 ? 0 : (room - 1) / *step + 1;
    least = std::min(least.value_or(count), count);
  }
  return least;
}

}  // namespace tenshot::nasbench
