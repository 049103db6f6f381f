#include "nasbench/support/files.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/shared_options.h"
#include "trainer/networks/exporting.h"
#include "trainer/predictors/registry.h"

namespace tenshot::cli {

void run_export(const OptionParser& options) {
  const std::string file = options.required("predictor");
  FileRoles files("--predictor", file);
  std::vector<std::string> wanted;
  for (const char* option : {"torchscript", "onnx", "document"}) {
    if (!options.has(option)) continue;
    wanted.push_back(options.get(option));
    files.makes(std::string("--") + option, wanted.back());
  }
  if (wanted.empty()) {
    throw UsageError("tenshot export needs --torchscript, --onnx or --document; see tenshot export --help");
  }
  if (options.has("confidence") && !options.has("onnx")) throw UsageError("--confidence is of the bounds of --onnx");
  const auto predictor = trainer::load_predictor(file);
  tell_of_no_intervals(options, *predictor);
  if (options.has("torchscript")) {
    export_torchscript(*predictor, options.get("torchscript"));
    say_written(options.get("torchscript"), "TorchScript", "torch.jit.load(…).predict([strings])");
  }
  if (options.has("onnx")) {
    export_onnx(*predictor, options.get("onnx"), options.get<double>("confidence"));
    say_written(options.get("onnx"), "ONNX model", "onnxruntime.InferenceSession(…).run(None, {'encoding': …})");
  }
  if (options.has("document")) {
    write_file_atomically(options.get("document"), predictor->to_document().dump(1) + "\n");
    say_written(options.get("document"), "document", "read it with any language's JSON");
  }
}

}  // namespace tenshot::cli
