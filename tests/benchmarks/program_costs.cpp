// Wall time and peak memory of whole commands: program_costs RUNS NAME COMMAND [NAME COMMAND …], the commands run in
// turn by the shell. Prints a row each: name, median and fastest wall time in s, peak resident memory in MiB.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Cost {
  double wall_s = 0;
  double peak_mib = 0;
};

Cost cost_of(const char* command) {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", (std::string("exec ") + command).c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "failed: %s\n", command);
    std::exit(1);
  }
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          static_cast<double>(usage.ru_maxrss) / 1024};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) {
    std::fprintf(stderr, "usage: program_costs RUNS NAME COMMAND [NAME COMMAND …]\n");
    return 2;
  }
  const int runs = std::atoi(argv[1]);
  std::vector<std::vector<Cost>> costs(static_cast<std::size_t>(argc - 2) / 2);
  for (int run = 0; run < runs; ++run) {
    for (std::size_t c = 0; c < costs.size(); ++c) costs[c].push_back(cost_of(argv[3 + 2 * c]));
  }
  for (std::size_t c = 0; c < costs.size(); ++c) {
    auto& measured = costs[c];
    std::sort(measured.begin(), measured.end(), [](const Cost& a, const Cost& b) { return a.wall_s < b.wall_s; });
    double peak_mib = 0;
    for (const Cost& cost : measured) peak_mib = std::max(peak_mib, cost.peak_mib);
    std::printf("| %s | %.3f | %.3f | %.0f |\n", argv[2 + 2 * c], measured[measured.size() / 2].wall_s,
                measured.front().wall_s, peak_mib);
  }
}
