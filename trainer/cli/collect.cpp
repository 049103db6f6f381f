#include "datasets/collect.h"

#include <algorithm>
#include <filesystem>

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

void run(const std::vector<std::string>& arguments) {
  OptionParser options("collect", "Measures architectures on this machine and writes a device-runtime.",
                       "  tenshot collect --runtime libtorch-frozen --descriptor --archs 50 --out dev/\n");
  add_runtime_options(options, "of the draw of architectures and of the weights");
  options.add()("archs", "CSV with an architecture column, or how many to draw",
                cxxopts::value<std::string>()->default_value("50"))(
      "descriptor", "measure the space's operators too: a hardware descriptor of their latencies")(
      "rounds", "measure the networks of a batch in turn, this often (1: one after the other)",
      cxxopts::value<std::string>()->default_value("6"))(
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
  if (collect.timing.rounds > 1) collect.timing.maximum_runs = 60;
  collect.operator_latencies = options.has("descriptor");
  collect.repeat_check = options.has("repeat-check");
  collect.architectures = architectures_of(options.get("archs"), space, choice.options.weight_seed, quiet);
  make_folder(collect.folder);
  ProgressLine progress(quiet);
  const auto device =
      datasets::collect(collect, space, [&](std::size_t done, std::size_t total, const std::string& note) {
        progress.show(std::to_string(done) + " of " + std::to_string(total) + " architectures" +
                      (note.empty() ? "" : "; " + note));
        return !stop_requested();
      });
  say((collect.folder / device.id).string() + ": " + std::to_string(device.latencies.size()) + " architectures", quiet);
}

}  // namespace

const Command collect_command = {"collect", "measure architectures on this machine", run};

}  // namespace tenshot::cli
