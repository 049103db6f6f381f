#include "tests/integration/program.h"

#include <sys/wait.h>

#include <cstdlib>

#include "nasbench/support/files.h"

namespace tenshot::test {

std::string quoted(const std::filesystem::path& text) {
  std::string result = "'";
  for (const char c : text.string()) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string slurp(const std::filesystem::path& path) { return read_file(path); }

Outcome run(const std::string& command) {
  const Folder folder;
  const auto out = folder.path() / "out", err = folder.path() / "err";
  const std::string script = "tenshot() { " + quoted(TENSHOT_PROGRAM) + " \"$@\"; }\n" + command + "\n";
  write(folder.path() / "script", script);
  const int status = std::system(
      ("bash " + quoted(folder.path() / "script") + " >" + quoted(out) + " 2>" + quoted(err) + " </dev/null").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(out), slurp(err)};
}

}  // namespace tenshot::test
