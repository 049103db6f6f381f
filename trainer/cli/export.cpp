#include <nlohmann/json.hpp>

#include "nasbench/support/files.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/made_folders.h"
#include "trainer/cli/written.h"
#include "trainer/predictors/registry.h"

namespace tenshot::cli {
namespace {

void run(const std::vector<std::string>& arguments) {
  OptionParser options("export", "Writes a predictor in a form that needs nothing of tenshot.",
                       "  tenshot export --predictor device.tenshot --torchscript device.pt\n"
                       "  tenshot export --predictor device.tenshot --document device.json\n");
  auto add = options.add();
  add("predictor", "required: what `tenshot adapt` wrote", cxxopts::value<std::string>());
  add("torchscript",
      "TorchScript file to write: torch.jit.load(…).predict([strings]), of architectures or names of networks",
      cxxopts::value<std::string>());
  add("document", "JSON file to write: the same numbers, for any language", cxxopts::value<std::string>());
  if (!options.parse(arguments)) return;
  const std::string file = options.required("predictor");
  if (!options.has("torchscript") && !options.has("document")) {
    throw UsageError("tenshot export needs --torchscript or --document; see tenshot export --help");
  }
  FileRoles files;
  files.reads("--predictor", file);
  for (const char* option : {"torchscript", "document"}) {
    if (options.has(option)) files.writes(std::string("--") + option, options.get(option));
  }
  files.require_distinct();
  MadeFolders made;
  for (const char* option : {"torchscript", "document"}) {
    if (options.has(option)) made.for_file(options.get(option));
  }
  const auto predictor = trainer::load_predictor(file);
  const bool quiet = options.has("quiet");
  if (options.has("torchscript")) {
    predictor->export_torchscript(options.get("torchscript"));
    say_written(options.get("torchscript"), "TorchScript", "torch.jit.load(…).predict([strings])", quiet);
  }
  if (options.has("document")) {
    write_file_atomically(options.get("document"), predictor->to_document().dump(1) + "\n");
    say_written(options.get("document"), "document", "read it with any language's JSON", quiet);
  }
}

}  // namespace

const Command export_command = {"export", "write a predictor as TorchScript or JSON", run};

}  // namespace tenshot::cli
