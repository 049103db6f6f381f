#include <cstdlib>
#include <iostream>

#include "nasbench/support/late_library.h"
#include "nasbench/support/quantiles.h"
#include "trainer/cli/command.h"

// This file is all that tenshot-predict is, so that it stands in for three functions of the libraries that it is made
// of. Where an exception is not caught, libstdc++ would name its type by a demangler, a hundredth of this program.
namespace __gnu_cxx {
void __verbose_terminate_handler() { std::abort(); }
}  // namespace __gnu_cxx

// Nothing can be loaded into a program that is linked statically.
void* tenshot::late_function(LateLibrary, const char*, const char*) {
  throw Error("this needs LibTorch or another engine, which tenshot-predict is without; take tenshot");
}

// Adapting and training ask for it, and predicting does not.
double tenshot::t_quantile(double, std::size_t) { throw Error("tenshot-predict does not adapt; take tenshot adapt"); }

namespace tenshot::cli {

const std::vector<std::string> help_files = {"help_of_predict"};

/// `tenshot-predict …` is `tenshot predict …`; the verb may be there too, for scripts that call the program tenshot.
int run(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "" : arguments[0];
  if (first == "--version" || first == "-V") {
    std::cout << "tenshot-predict " << TENSHOT_VERSION << "\n";
  } else {
    OptionParser options("predict", {});
    if (!options.parse({arguments.begin() + (first == "predict" ? 1 : 0), arguments.end()})) return 0;
    run_predict(options);
    print_outcome();
  }
  return 0;
}

}  // namespace tenshot::cli
