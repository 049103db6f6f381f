#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"
#include "nasbench/support/random.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::datasets {

using nasbench::SearchSpace;

inline const SearchSpace& space() { return nasbench::nasbench201(); }

/// The string of the architecture at `ordinal`.
inline std::string text_of(std::uint64_t ordinal) { return space().format(space().at(ordinal)); }

/// The message of the tenshot::Error that `work` throws; a failure of the test when it throws none.
template <class Work>
std::string message_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// A device with 15 operators, 18 operations inside a network and `rows` latencies, every number of it drawn from
/// `rng`.
inline DeviceRuntime random_device(const std::string& id, std::size_t rows, Rng& rng) {
  DeviceRuntime device;
  device.id = id;
  device.device = "board of " + id;
  device.runtime = "libtorch-eager";
  device.precision = "fp32";
  device.batch = 1 + static_cast<int>(rng.below(64));
  device.threads = static_cast<int>(rng.below(8));
  device.input_shape = {3, 32, 32};
  device.environment = R"({"clocks":[600,1400],"cpu":"Cortex-A72 µ"})";
  device.descriptor.source = "perf_event";
  device.descriptor.counters.assign(default_counters.begin(), default_counters.end());
  for (const nasbench::Operator& op : space().operators({}, 1)) {
    OperatorProfile profile{op.name, op.key, rng.uniform(), {}};
    for (std::size_t c = 0; c < default_counters.size(); ++c) profile.counts.push_back(1e6 * rng.uniform());
    device.descriptor.operators.push_back(profile);
  }
  for (const nasbench::OperationChain& chain : space().operation_chains({}, 1)) {
    device.descriptor.in_network.push_back({chain.name, chain.key, rng.uniform()});
  }
  std::vector<Architecture> architectures = space().all();
  rng.shuffle(architectures);
  for (std::size_t i = 0; i < rows; ++i) {
    Measurement row{architectures[i], 1 + 50 * rng.uniform()};
    if (rng.below(2) == 0) {
      row.stddev_ms = rng.uniform();
      row.runs = 1 + static_cast<std::int64_t>(rng.below(1000));
    }
    device.latencies.push_back(row);
  }
  return device;
}

inline Pool random_pool(std::size_t devices, std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  Pool pool;
  pool.space = &space();
  for (std::size_t d = 0; d < devices; ++d) {
    pool.devices.push_back(random_device("board-" + std::to_string(d), rows, rng));
  }
  return pool;
}

/// The public NAS-Bench-201 table of HELP, where TENSHOT_TABLES names the folder of public tables.
inline std::optional<std::filesystem::path> public_table() {
  const char* folder = std::getenv("TENSHOT_TABLES");
  if (folder == nullptr) return std::nullopt;
  return std::filesystem::path(folder) / "help-nasbench201" / "latency_ms.csv";
}

}  // namespace tenshot::datasets

#define TENSHOT_REQUIRE_PUBLIC_TABLE(table)                                                                   \
  const auto table = public_table();                                                                          \
  if (!table) {                                                                                               \
    GTEST_SKIP() << "TENSHOT_TABLES is not set; it names a folder with help-nasbench201/latency_ms.csv, the " \
                    "NAS-Bench-201 latencies of HELP (Lee et al., NeurIPS 2021)";                             \
  }
