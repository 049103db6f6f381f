#include "trainer/cli/written.h"

#include "trainer/cli/command.h"

namespace tenshot::cli {

void say_written(const std::string& out, const std::string& what, const std::string& next, bool quiet) {
  if (out == "-") return;
  tell_people(out + ": " + what + " written" + (next.empty() ? "" : "; next: " + next), quiet);
}

}  // namespace tenshot::cli
