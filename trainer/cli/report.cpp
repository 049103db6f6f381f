#include "trainer/report/report.h"

#include "datasets/tables/network_sources.h"
#include "nasbench/support/files.h"
#include "trainer/cli/shared_options.h"

namespace tenshot::cli {
namespace {

std::vector<std::pair<std::string, std::string>> commands_of(const std::vector<std::string>& arguments,
                                                             const std::string& what) {
  std::string again = "tenshot report";
  for (const std::string& argument : arguments) again += " " + shell_word(argument);
  if (std::filesystem::is_directory(what)) return {{"This page again", again}};
  const std::string file = shell_word(what);
  return {{"Predictions of further networks: files, or architectures in quotes",
           "tenshot predict --predictor " + file + " model.onnx"},
          {"How well it predicts further measurements",
           "tenshot evaluate --predictor " + file + " --measurements measured.csv"},
          {"This page again", again}};
}

trainer::report::DeviceReportOptions report_options(const OptionParser& options) {
  trainer::report::DeviceReportOptions result;
  for (const std::string& path : options.all("measurements")) result.measured.emplace_back(path);
  result.fleet = options.has("fleet");
  if (options.has("accuracies")) result.accuracies = options.get("accuracies");
  result.limit = limit_option(options);
  result.explained = options.all("explain");
  result.read = read_options(options);
  return result;
}

}  // namespace

void run_report(const OptionParser& options) {
  const std::string what = options.required("what"), out = options.required("out");
  FileRoles files(options);
  std::filesystem::is_directory(what) ? files.reads_experiment("the experiment", what)
                                      : files.reads("the predictor", what);
  files.makes("--out", out);
  trainer::report::DeviceReportOptions asked = report_options(options);
  asked.own = networks_of(options, asked.read);
  asked.commands = commands_of(options.arguments(), what);
  const trainer::report::Page page = trainer::report::make_report(what, asked);
  datasets::require_shapes_used(asked.read);
  write_file_atomically(out, page.html());
  say_written(out, "page", "open it in a browser");
  if (!options.has("pictures")) return;
  const std::filesystem::path folder = options.get("pictures");
  make_folder(folder);
  for (const auto& picture : page.pictures()) write_file_atomically(folder / (picture.name + ".svg"), picture.svg);
}

}  // namespace tenshot::cli
