#include "tests/integration/program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "datasets/tables/measurements.h"
#include "nasbench/spaces/search_space.h"
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

datasets::DeviceRuntime new_device() { return synthetic_device("new", 5, 1.0, 0.01, 12, 9); }

void write_adapted_device(const std::filesystem::path& folder) {
  const std::string checkpoint = quoted(folder / "pool.tenshot"), measured = quoted(folder / "measured.csv");
  datasets::write_pool(folder / "pool", synthetic_pool(40));
  datasets::write_measurements(folder / "measured.csv", new_device().latencies, nasbench::nasbench201());
  ASSERT_EQ(run("tenshot train --predictor flops --pool " + quoted(folder / "pool") + " --out " + checkpoint).exit_code,
            0);
  ASSERT_EQ(run("tenshot adapt --checkpoint " + checkpoint + " --measurements " + measured + " --out " +
                quoted(folder / "device.tenshot"))
                .exit_code,
            0);
}

}  // namespace tenshot::test
