#include "trainer/report/report.h"

#include "nasbench/support/files.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/written.h"

namespace tenshot::cli {
namespace {

void run(const std::vector<std::string>& arguments) {
  OptionParser options("report", "Draws an experiment's results or a predictor as one HTML page that needs no network.",
                       "  tenshot report out/pooling --out report.html --pictures pictures\n"
                       "  tenshot report device.tenshot --measured truth.csv --out report.html\n");
  options.add_positional("what", "folder that `tenshot experiment` wrote, or file that `tenshot adapt` wrote");
  options.add()("out", "page to write", cxxopts::value<std::string>())(
      "pictures", "folder to write the page's pictures to as well, as SVG files", cxxopts::value<std::string>())(
      "measured", "of a predictor: CSV of further measurements of its device", cxxopts::value<std::string>());
  if (!options.parse(arguments)) return;
  const std::string what = options.required("what"), out = options.required("out");
  FileRoles files;
  if (std::filesystem::is_directory(what)) {
    files.reads_experiment("the experiment", what);
  } else {
    files.reads("the predictor", what);
  }
  if (options.has("measured")) files.reads("--measured", options.get("measured"));
  files.writes("--out", out);
  files.require_distinct();
  require_writable_target(out);
  std::optional<std::filesystem::path> measured;
  if (options.has("measured")) measured = options.get("measured");
  const trainer::report::Page page = trainer::report::make_report(what, measured);
  write_file_atomically(out, page.html());
  say_written(out, "page", "open it in a browser", options.has("quiet"));
  if (!options.has("pictures")) return;
  const std::filesystem::path folder = options.get("pictures");
  make_folder(folder);
  for (const auto& picture : page.pictures()) write_file_atomically(folder / (picture.name + ".svg"), picture.svg);
}

}  // namespace

const Command report_command = {"report", "draw an experiment or a predictor as one HTML page", run};

}  // namespace tenshot::cli
