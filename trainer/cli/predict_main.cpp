#include <iostream>

#include "trainer/cli/command.h"

namespace tenshot::cli {

/// `tenshot-predict …` is `tenshot predict …`; the verb may be there too, for scripts that call the program tenshot.
int run(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "" : arguments[0];
  if (first == "--version" || first == "-V") {
    std::cout << "tenshot-predict " << TENSHOT_VERSION << "\n";
  } else {
    predict_command.run({arguments.begin() + (first == "predict" ? 1 : 0), arguments.end()});
  }
  return 0;
}

}  // namespace tenshot::cli
