#include "trainer/evaluation/experiment.h"

#include <unistd.h>

#include <iostream>

#include "nasbench/support/files.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/signals.h"

namespace tenshot::cli {

void run_experiment(const OptionParser& options) {
  const std::string spec_file = options.required("spec"), out = options.required("out");
  trainer::evaluation::ExperimentOptions run_options;
  run_options.out = out;
  run_options.jobs = options.has("jobs") ? options.integer("jobs", 1)
                                         : static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  if (options.has("shard")) {
    run_options.shard = from_option("shard", [&] { return trainer::evaluation::parse_shard(options.get("shard")); });
  }
  run_options.resume = options.has("resume");
  if (options.has("merge") && options.has("shard")) throw UsageError("--merge takes all shards: leave out --shard");
  const trainer::evaluation::ExperimentSpec spec = trainer::evaluation::read_spec(spec_file, options.has("quick"));
  FileRoles files("the spec", spec_file);
  spec.data.is_table ? files.reads("its table", spec.data.path) : files.reads_folder("its pool", spec.data.path);
  files.writes_experiment("--out", out);
  const bool merged = options.has("merge") || run_options.shard.count == 1;
  MadeFolders made;
  if (options.has("merge")) {
    trainer::evaluation::merge_experiment(spec, out);
  } else {
    made.folder(out);
    ProgressLine progress;
    run_options.go_on = [] { return !stop_requested(); };
    run_options.on_progress = [&progress](const trainer::evaluation::ExperimentProgress& now) {
      progress.show(std::to_string(now.done) + " of " + std::to_string(now.total) + ", " + duration(now.seconds_left) +
                    " left, done: " + now.what);
    };
    trainer::evaluation::run_experiment(spec, run_options);
  }
  if (!merged) return say("this shard is done; --merge writes the results once all are");
  if (options.has("json")) {
    std::cout << read_file(std::filesystem::path(out) / "results.json");
  } else {
    say_written((std::filesystem::path(out) / "README.md").string(), "results",
                "tenshot report " + shell_word(out) + " --out report.html");
  }
}

}  // namespace tenshot::cli
