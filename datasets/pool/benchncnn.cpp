#include "datasets/pool/benchncnn.h"

#include "datasets/pool/wide_table_file.h"
#include "datasets/tables/csv.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::datasets {
namespace {

/// A network and what should be its mean, of a line "name min = A max = B avg = C"; none where the line is cut short.
struct Row {
  std::string_view name, mean_ms;
};

std::optional<Row> row_of(std::string_view line) {
  constexpr std::string_view average = " avg =";
  const std::size_t least = line.rfind(" min ="), most = line.rfind(" max ="), mean = line.rfind(average);
  if (least == std::string_view::npos || trimmed(line.substr(0, least)).empty()) return std::nullopt;
  const bool whole = least < most && most < mean && mean != std::string_view::npos;
  return Row{trimmed(line.substr(0, least)), whole ? trimmed(line.substr(mean + average.size())) : ""};
}

/// The number that "12.3" is, or "12,3" where the board's language writes it so; never a part of it.
LatencyEntry milliseconds(std::string_view word) {
  std::string text(word);
  const bool has_comma = std::count(text.begin(), text.end(), ',') == 1 && text.find('.') == std::string::npos;
  if (has_comma) text[text.find(',')] = '.';
  return parse_latency(text);
}

}  // namespace

bool is_benchncnn_output(std::string_view text) {
  const std::vector<std::string_view> lines = lines_of(text);
  return std::any_of(lines.begin(), lines.end(),
                     [](std::string_view line) { return !row_of(line).value_or(Row()).mean_ms.empty(); });
}

DeviceRuntime parse_benchncnn(std::string_view text, const std::string& file, const std::string& id,
                              Findings& findings) {
  DeviceRuntime device = imported_device(id, file, Quantity::latency, 0);
  device.runtime = "ncnn";
  nasbench::ArchitectureSet seen;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    constexpr std::string_view threads_are = "num_threads =", gpu_is = "gpu_device =";
    if (begins_with(line, threads_are)) {
      const auto threads = parse_integer(trimmed(line.substr(threads_are.size())));
      if (threads && device.threads > 0 && *threads != device.threads) {
        throw InputError(file + ":" + std::to_string(number) + ": another number of threads than above, " +
                         std::to_string(*threads) + " and " + std::to_string(device.threads) + "; split the log");
      }
      if (threads && *threads > 0 && *threads < 4096) device.threads = static_cast<int>(*threads);
    }
    const bool on_gpu = begins_with(line, gpu_is) && parse_integer(trimmed(line.substr(gpu_is.size()))) >= 0;
    if (on_gpu) device.runtime = "ncnn, Vulkan";
    const std::optional<Row> row = row_of(line);
    if (!row) continue;
    const LatencyEntry mean = milliseconds(row->mean_ms);
    const std::filesystem::path name = std::string(row->name);
    const std::string network = name.extension() == ".param" ? name.stem().string() : name.string();
    const auto leave_out = [&](Problem problem, std::string_view value) {
      findings.add({problem, file, number, "", std::string(value)});
    };
    if (mean.problem) {
      leave_out(*mean.problem, row->mean_ms);
      continue;
    }
    try {
      const Architecture architecture = nasbench::networks().parse(network);
      if (seen.insert(architecture).second) {
        device.latencies.push_back({architecture, mean.latency_ms});
      } else {
        leave_out(Problem::duplicate, network);
      }
    } catch (const InputError&) {
      leave_out(Problem::unknown_architecture, network);
    }
  }
  if (!device.latencies.empty()) return device;
  throw InputError(file + ": benchncnn measured no network that is known here" +
                   (findings.empty() ? "" : ": " + findings.first().front().message()) +
                   "; name the folder of its *.param files by --networks");
}

}  // namespace tenshot::datasets
