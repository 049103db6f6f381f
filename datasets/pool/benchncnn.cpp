#include "datasets/pool/benchncnn.h"

#include <map>

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
  nasbench::ArchitectureSet seen;
  std::map<std::string_view, long long> settings;  // of the whole log
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const std::string_view text_of_line = trimmed(line);
    for (const std::string_view setting : {"num_threads", "powersave", "gpu_device"}) {
      if (!begins_with(text_of_line, std::string(setting) + " =")) continue;
      const auto value = parse_integer(trimmed(text_of_line.substr(setting.size() + 2)));
      if (!value || settings.emplace(setting, *value).first->second == *value) continue;
      throw InputError(file + ":" + std::to_string(number) + ": " + std::string(setting) + " is " +
                       std::to_string(*value) + " here, and " + std::to_string(settings[setting]) +
                       " above; split the log");
    }
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
  const auto threads = settings.find("num_threads"), gpu = settings.find("gpu_device");
  device.runtime = gpu != settings.end() && gpu->second >= 0 ? "ncnn, Vulkan" : "ncnn";
  if (threads != settings.end() && threads->second > 0 && threads->second < 4096)
    device.threads = static_cast<int>(threads->second);
  if (!device.latencies.empty()) return device;
  throw InputError(file + ": benchncnn measured no network that is known here" +
                   (findings.empty() ? "" : ": " + findings.first().front().message()) +
                   "; name the folder of its *.param files by --networks");
}

}  // namespace tenshot::datasets
