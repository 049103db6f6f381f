#include "descriptor/callgrind/callgrind.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <string_view>

#include "descriptor/callgrind/callgrind_dump.h"
#include "descriptor/machine/child_process.h"
#include "descriptor/machine/machine.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define TENSHOT_VALGRIND 1
#else
#define TENSHOT_VALGRIND 0
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_DUMP_STATS_AT(name)
#define CALLGRIND_STOP_INSTRUMENTATION
#define RUNNING_ON_VALGRIND 0
#endif

namespace tenshot::descriptor {
namespace {

/// The dump's name, which both sides make from what they believe is counted.
std::string dump_name(std::size_t index, int runs) {
  return "operator " + std::to_string(index) + ", " + std::to_string(runs) + " runs";
}

/// Runs that share a dump.
struct Part {
  std::string dump;
  int runs = 0;
};

/// Callgrind empties its caches whenever it starts, so what warms them must run under it. Warm-up takes two dumps: what
/// lies between one dump and the next is then cached too, and an operator that does nothing misses next to nothing.
std::vector<Part> parts_of_counting(std::size_t index, int runs) {
  return {{"warm-up", 2}, {"warm-up", 1}, {dump_name(index, runs), runs}};
}

struct WorkingFolder {
  TemporaryFolder folder;
  std::filesystem::path output = folder.path() / "output";
  std::filesystem::path dumps = folder.path() / "counts";  ///< callgrind appends ".1" for the first, ".2" …

  /// What was counted of an operator, in the last of its parts.
  std::filesystem::path dump(std::size_t index) const {
    return dumps.string() + "." + std::to_string(parts_of_counting(index, 1).size() * (index + 1));
  }
};

std::string cache_option(const CacheGeometry& cache) {
  return std::to_string(cache.bytes) + "," + std::to_string(cache.ways) + "," + std::to_string(cache.line_bytes);
}

std::string described(const CacheGeometry& cache) {
  return std::to_string(cache.bytes >> 10) + " KiB " + std::to_string(cache.ways) + "-way with lines of " +
         std::to_string(cache.line_bytes) + " B";
}

std::vector<std::string> command_of(const CallgrindOptions& options, const std::filesystem::path& valgrind,
                                    const WorkingFolder& folder) {
  std::vector<std::string> command = {valgrind.string(),
                                      "--quiet",
                                      "--tool=callgrind",
                                      "--cache-sim=yes",
                                      "--instr-atstart=no",
                                      "--I1=" + cache_option(options.instructions),
                                      "--D1=" + cache_option(options.data),
                                      "--LL=" + cache_option(options.last_level),
                                      "--callgrind-out-file=" + folder.dumps.string(),
                                      options.program.string()};
  command.insert(command.end(), options.arguments.begin(), options.arguments.end());
  return command;
}

/// What has to be said to the libraries of a program under valgrind, in place of what the caller was told.
std::vector<std::string> simulated_environment() {
  // Threads under valgrind take turns: one that waits by spinning would be counted as if it worked.
  std::vector<std::string> environment = {"OMP_WAIT_POLICY=passive"};
  // Libraries believe a name before they look at the processor, and valgrind offers AVX2 at most.
  const auto cap = [&](const char* variable, std::initializer_list<std::string_view> beyond, const std::string& most) {
    const char* value = std::getenv(variable);
    if (value == nullptr || std::find(beyond.begin(), beyond.end(), value) == beyond.end()) return;
    environment.push_back(std::string(variable) + '=' + most);
  };
  cap("OPENBLAS_CORETYPE", {"SkylakeX", "SKYLAKEX", "Cooperlake", "COOPERLAKE", "SapphireRapids", "SAPPHIRERAPIDS"},
      "Haswell");
  cap("ATEN_CPU_CAPABILITY", {"avx512"}, "avx2");
  return environment;
}

void count_in_child(const CallgrindOptions& options, const WorkingFolder& folder) {
  const std::filesystem::path valgrind = find_program(options.valgrind);
  if (valgrind.empty()) {
    throw Error("'" + options.valgrind + "' is not in PATH, and the simulated counters need it: install valgrind");
  }
  std::size_t counted = 0;
  const auto go_on = [&] {
    while (counted < options.operators && std::filesystem::exists(folder.dump(counted))) ++counted;
    return !options.go_on || options.go_on(counted);
  };
  run_child(
      {command_of(options, valgrind, folder), folder.output, options.time_limit_s, simulated_environment(), go_on});
}

std::vector<double> counters_of(const CallgrindDump& dump, int runs, const std::string& file) {
  const auto of = [&](const char* event) {
    const auto found = dump.counts.find(event);
    if (found != dump.counts.end()) return found->second / runs;
    throw FormatError(file + ": a callgrind dump without the event '" + event + "'; expected one of a run with " +
                      "--cache-sim=yes");
  };
  const double instructions = of("Ir"), load_misses = of("D1mr");
  const double first_level_misses = of("I1mr") + load_misses + of("D1mw");
  const double last_level_misses = of("ILmr") + of("DLmr") + of("DLmw");
  const double cycles = instructions + 10 * first_level_misses + 100 * last_level_misses;
  return {cycles, instructions, first_level_misses, last_level_misses, of("Dr"), load_misses};
}

CallgrindDump read_dump(const std::filesystem::path& file, const std::string& expected_name) {
  if (!std::filesystem::exists(file)) {
    throw FormatError("callgrind left no dump '" + expected_name +
                      "': expected one for each operator; does the program run as many operators as are asked for?");
  }
  CallgrindDump dump = parse_callgrind_dump(read_file(file), file.filename().string());
  if (dump.trigger != expected_name) {
    throw FormatError(file.filename().string() + ": the callgrind dump of '" + dump.trigger + "', expected '" +
                      expected_name + "'");
  }
  return dump;
}

std::map<std::string, std::string> conditions_of(const CallgrindOptions& options, const std::string& creator) {
  return {
      {"simulator", creator + ", --cache-sim=yes"},
      {"simulated_caches", "I1 " + described(options.instructions) + ", D1 " + described(options.data) + ", LL " +
                               described(options.last_level)},
      {"simulated_cycles", "an estimate: Ir + 10 (I1mr + D1mr + D1mw) + 100 (ILmr + DLmr + DLmw)"},
      {"simulated_processor",
       "what valgrind offers a program: AVX2 at most; threads take turns and sleep where they wait"},
      {"runs", std::to_string(options.runs) + " of each operator, after warm-up"},
  };
}

void require_countable(const CallgrindOptions& options) {
  if (!TENSHOT_VALGRIND) {
    throw Error(
        "tenshot was built without valgrind's headers, which the simulated counters need: install valgrind and build "
        "again");
  }
  if (options.operators == 0) throw InputError("no operators to count: expected at least 1");
}

}  // namespace

std::string why_no_valgrind() {
  if (find_program("valgrind").empty()) return "valgrind is not installed";
#ifdef __x86_64__
  // libhwy, with which Debian's LibTorch is linked, executes it when loaded, as valgrind's CPUID promises it.
  if (!has_cpu_flag("rdtscp")) return "valgrind loads no LibTorch on a processor without the instruction rdtscp";
#endif
  return "";
}

OperatorCounts count_by_callgrind(const CallgrindOptions& options) {
  require_countable(options);
  const WorkingFolder folder;
  count_in_child(options, folder);
  OperatorCounts counts;
  counts.source = "callgrind";
  counts.events.assign(default_counters.begin(), default_counters.end());
  for (std::size_t i = 0; i < options.operators; ++i) {
    const CallgrindDump dump = read_dump(folder.dump(i), dump_name(i, options.runs));
    counts.per_run.push_back(counters_of(dump, options.runs, folder.dump(i).filename().string()));
    if (i == 0) counts.conditions = conditions_of(options, dump.creator);
  }
  return counts;
}

void run_for_callgrind(const std::vector<std::unique_ptr<PreparedNetwork>>& operators, int runs) {
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const std::vector<Part> parts = parts_of_counting(i, runs);
    operators[i]->run();  // what LibTorch does once only need not be simulated
    CALLGRIND_START_INSTRUMENTATION;
    for (const Part& part : parts) {
      for (int run = 0; run < part.runs; ++run) operators[i]->run();
      CALLGRIND_DUMP_STATS_AT(part.dump.c_str());
    }
    CALLGRIND_STOP_INSTRUMENTATION;
  }
}

bool under_valgrind() { return RUNNING_ON_VALGRIND != 0; }

}  // namespace tenshot::descriptor
