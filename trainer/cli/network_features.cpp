#include "trainer/cli/network_features.h"

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "trainer/cli/command.h"
#include "trainer/cli/file_roles.h"
#include "trainer/cli/made_folders.h"
#include "trainer/cli/shared_options.h"
#include "trainer/networks/formula.h"
#include "trainer/predictors/registry.h"

namespace tenshot::cli {
namespace {

/// A row for each network: its name, and what forward() of the exported predictor takes of it.
std::string table_of(const nasbench::NetworkSpace& space, const trainer::ExportedFormula& formula,
                     const std::vector<nasbench::Architecture>& networks) {
  const Eigen::MatrixXd encoding = formula.encode(networks);
  std::string text = "network";
  for (const std::string& column : formula.columns) text += "," + column;
  text += "\n";
  for (std::size_t i = 0; i < networks.size(); ++i) {
    text += space.format(networks[i]);
    for (const double value : encoding.row(static_cast<Eigen::Index>(i))) text += "," + shortest(value);
    text += "\n";
  }
  return text;
}

}  // namespace

const char* const network_features_example =
    "  tenshot network features --predictor board.tenshot models/*.onnx --out features.csv\n";

void network_features(const std::vector<std::string>& arguments) {
  OptionParser options("network features",
                       "Writes what forward() of an exported predictor takes of networks that it does not carry: a row "
                       "for each, of the features of that predictor.",
                       network_features_example);
  options.text("predictor", "required: what `tenshot adapt` wrote, of the space networks");
  options.text("out", "required: features to write as CSV, - for standard output");
  add_network_options(options, "to describe");
  options.add_rest("network", "files of networks, or names that the predictor knows");
  if (!options.parse(arguments)) return;
  const std::string file = options.required("predictor"), out = options.required("out");
  FileRoles files("--predictor", file);
  reads_networks(files, options);
  for (const std::string& network : options.rest()) files.reads_file_or_name("the network", network);
  files.writes_last("--out", out);
  const MadeFolders made(out);
  const auto predictor = trainer::load_predictor(file);
  const trainer::ExportedFormula formula = predictor->formula();
  if (formula.encode == nullptr) {
    throw InputError(file + ": is a predictor '" + std::string(predictor->kind()) + "' of the space " +
                     std::string(predictor->space().name()) +
                     ", whose export reads strings or has none; features are of networks by name");
  }
  const std::vector<nasbench::Architecture> networks = networks_or_arguments(options, predictor->space());
  if (networks.empty()) throw UsageError("which networks? name them as arguments (model.onnx) or by --networks");
  write_file_atomically(out, table_of(predictor->space(), formula, networks));
  say_written(out, std::to_string(networks.size()) + " networks",
              "torch.jit.load(…).forward(torch.tensor(pandas.read_csv(file, index_col=0).to_numpy()))",
              options.has("quiet"));
}

}  // namespace tenshot::cli
