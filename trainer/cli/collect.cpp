#include "datasets/collect.h"

#include <algorithm>
#include <filesystem>

#include "datasets/collect_descriptor.h"
#include "datasets/collect_record.h"
#include "datasets/measurements.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "trainer/cli/command.h"
#include "trainer/cli/runtime_choice.h"

namespace tenshot::cli {
namespace {

/// `--archs` is a file of architectures, or how many to draw: the first N of a fixed order, so that every
/// device-runtime measures the same ones and a larger N extends a smaller one.
std::vector<nasbench::Architecture> architectures_of(const std::string& archs, const nasbench::SearchSpace& space,
                                                     std::uint64_t seed, bool quiet) {
  const auto count = parse_integer(archs);
  if (!count || std::filesystem::exists(archs)) {
    const datasets::ArchitectureList list = datasets::read_architectures(archs, space);
    report(list.findings, quiet);
    if (list.architectures.empty()) throw InputError(archs + ": holds no usable architecture");
    return list.architectures;
  }
  if (*count < 1) throw UsageError("--archs is a file, or a number of at least 1");
  std::vector<nasbench::Architecture> all = space.all();
  Rng rng(seed);
  rng.shuffle(all);
  all.resize(std::min<std::size_t>(all.size(), static_cast<std::size_t>(*count)));
  return all;
}

datasets::DescriptorOptions descriptor_options(const OptionParser& options) {
  datasets::DescriptorOptions descriptor;
  descriptor.wanted = options.has("descriptor");
  descriptor.counters = options.get("counters");
  if (options.has("events")) descriptor.events = split_list(options.get("events"));
  if (descriptor.events.empty()) throw UsageError("--events names no event");
  descriptor.passes = options.integer("passes", 0);
  std::error_code unknown;
  descriptor.program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return descriptor;
}

void run(const std::vector<std::string>& arguments) {
  OptionParser options("collect", "Measures architectures on this machine and writes a device-runtime.",
                       "  tenshot collect --runtime libtorch-frozen --descriptor --archs 50 --out dev/\n");
  add_runtime_options(options, "of the draw of architectures and of the weights");
  options.add()("archs", "CSV with an architecture column, or how many to draw",
                cxxopts::value<std::string>()->default_value("50"))(
      "runs", "of a network at most; it stops earlier, after half of them, once its median is known to 1 %",
      cxxopts::value<std::string>()->default_value("60"))(
      "descriptor", "measure the space's operators too: a hardware descriptor of latencies and counters")(
      "counters", "where counters come from: auto, perf_event, callgrind (simulated), latency_only",
      cxxopts::value<std::string>()->default_value("auto"))(
      "events", "to count, comma-separated, by perf's or libpfm's names (the six of MAPLE-Edge unless said)",
      cxxopts::value<std::string>())("passes", "of counting; 0: as many as leave at most four events in each",
                                     cxxopts::value<std::string>()->default_value("0"))(
      "rounds", "measure the networks of a batch in turn, this often (1: one after the other)",
      cxxopts::value<std::string>()->default_value("6"))(
      "patience", "seconds in all to wait for a disturbed machine to settle before measuring again",
      cxxopts::value<std::string>()->default_value("300"))(
      "repeat-check", "measure 5 % of the architectures again at the end")("out", "folder to write <id>/device.json to",
                                                                           cxxopts::value<std::string>());
  if (!options.parse(arguments)) return;
  const bool quiet = options.has("quiet");
  const RuntimeChoice choice = runtime_choice(options);
  const nasbench::SearchSpace& space = *choice.space;
  datasets::CollectOptions collect;
  collect.folder = options.required("out");
  collect.runtime = choice.runtime;
  collect.runtime_options = choice.options;
  collect.shape = choice.shape;
  collect.timing.rounds = static_cast<int>(options.integer("rounds", 1));
  collect.timing.maximum_runs = static_cast<int>(options.integer("runs", 1));
  collect.timing.minimum_runs = (collect.timing.maximum_runs + 1) / 2;
  collect.patience_s = options.integer("patience", 0);
  collect.descriptor = descriptor_options(options);
  collect.repeat_check = options.has("repeat-check");
  collect.architectures = architectures_of(options.get("archs"), space, choice.options.weight_seed, quiet);
  collect.instruction_set = choice.instruction_set;
  if (collect.descriptor.wanted) {
    const datasets::CounterChoice counters = datasets::choose_counters(collect.descriptor);
    collect.descriptor.counters = counters.source;
    if (!counters.reason.empty()) say(counters.reason, quiet);
  }
  make_folder(collect.folder);
  ProgressLine progress(quiet);
  const auto device =
      datasets::collect(collect, space, [&](std::size_t done, std::size_t total, const std::string& note) {
        progress.show(std::to_string(done) + " of " + std::to_string(total) + " architectures" +
                      (note.empty() ? "" : "; " + note));
        return !stop_requested();
      });
  say((collect.folder / device.id).string() + ": " + std::to_string(device.latencies.size()) + " architectures", quiet);
  say(datasets::to_text(datasets::record_of(device)), quiet);
}

}  // namespace

const Command collect_command = {"collect", "measure architectures on this machine", run};

}  // namespace tenshot::cli
