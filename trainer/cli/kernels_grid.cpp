#include <cmath>
#include <optional>
#include <set>

#include "descriptor/runtimes/runtime.h"
#include "nasbench/kernels/kernel_network.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/kernel_verbs.h"
#include "trainer/cli/made_folders.h"
#include "trainer/cli/shared_options.h"

namespace tenshot::cli {
namespace {

/// The numbers of a list: "7,14,28".
std::vector<int> sizes(const OptionParser& options, const std::string& option) {
  std::set<int> numbers;
  for (const std::string& text : split_list(options.get(option))) {
    const std::optional<double> value = parse_number(text);
    if (!value || *value < 1 || *value > 1e5 || *value != std::floor(*value)) {
      throw UsageError("--" + option + ": '" + excerpt(text) + "' is no whole number from 1 to 100000");
    }
    numbers.insert(static_cast<int>(*value));
  }
  if (numbers.empty()) throw UsageError("--" + option + " names no size, expected some as 7,14,28");
  return {numbers.begin(), numbers.end()};
}

/// The kernels of a type on the grid, each once; what has no place for its window is no point of it.
std::vector<nasbench::Network> points_of(const OptionParser& options, const std::string& type) {
  const double most_multiply_adds = 1e6 * options.integer("most", 1);
  if (!nasbench::can_be_made(type)) nasbench::made_kernel(type, {});  // throws, and says why
  std::vector<nasbench::Network> points;
  std::set<std::string> known;
  for (const int image : sizes(options, "image")) {
    for (const int inputs : sizes(options, "channels")) {
      for (const int outputs : sizes(options, "channels")) {
        for (const int window : sizes(options, "window")) {
          for (const int stride : sizes(options, "stride")) {
            try {
              nasbench::Network network = nasbench::made_kernel(type, {image, inputs, outputs, window, stride});
              const bool small = static_cast<double>(nasbench::multiply_adds(network)) <= most_multiply_adds;
              if (small && known.insert(format(leading_operator(network))).second) points.push_back(std::move(network));
            } catch (const InputError&) {
              continue;
            }
          }
        }
      }
    }
  }
  return points;
}

/// Measures what the table lacks.
void measure_grid(const OptionParser& options, const std::string& table, Outcome& outcome) {
  std::vector<std::string> kinds = split_list(joined(options.all("kind"), ","));
  if (kinds.empty()) kinds = {"convolution", "depthwise_convolution"};
  std::vector<std::vector<nasbench::Network>> grids;
  for (const std::string& kind : kinds) grids.push_back(points_of(options, kind));
  const MadeFolders made(table);
  KernelMeasuring measure(options, "grid", table);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::size_t refused = 0;
    for (const nasbench::Network& network : grids[i]) refused += std::isnan(measure(kinds[i], network)) ? 1 : 0;
    outcome.tell(kinds[i] + ": " + std::to_string(grids[i].size()) + " points, " + std::to_string(refused) +
                 " refused by the runtime");
  }
  measure.journal().keep();
}

}  // namespace

const char* const grid_kernels_example =
    "  tenshot kernels grid --runtime libtorch-frozen --kernels grid.csv --out device.tenshot\n"
    "  tenshot kernels grid --runtime libtorch-eager --kind convolution++relu,linear --image 7,28,112 "
    "--channels 8,128,512 --kernels grid.csv --out device.tenshot\n";

void grid_kernels(const std::vector<std::string>& arguments) {
  OptionParser options(
      "kernels grid",
      "Measures kernels on a grid of their sizes, fills what is missing, and makes a predictor that "
      "interpolates what a multiply-add costs between the points (MONNET); an interrupted run goes on.",
      grid_kernels_example);
  options.text("runtime",
               "what measures; without it the table is taken as it is: " + joined(descriptor::runtime_names()));
  options.text("threads", "threads of the runtime", "1");
  options.texts("kind", "kernels, as convolution++relu; may be repeated; convolution,depthwise_convolution by default");
  options.text("image", "heights of the image", "7,14,28,56,112");
  options.text("channels", "in and out", "8,32,128,512");
  options.text("window", "heights of the window", "1,3,5");
  options.text("stride", "strides", "1,2");
  options.text("most", "millions of multiply-adds of a kernel: larger ones stay out, and are filled", "500");
  options.text("kernels", "required: CSV of the grid; one that is there is gone on with");
  add_learning_options(options);
  if (!options.parse(arguments)) return;
  const std::string table = options.required("kernels");
  FileRoles files;
  files.reads_file_or_name("--rules", options.get("rules"));
  if (options.has("measurements")) files.reads_measured("--measurements", options.get("measurements"));
  reads_networks(files, options);
  files.writes("--kernels", table);
  files.writes_last("--out", options.required("out"));
  Outcome outcome(options);
  if (options.has("runtime")) measure_grid(options, table, outcome);
  learn_kernels(options, table, trainer::kernels::LearnerKind::grid, outcome);
}

}  // namespace tenshot::cli
