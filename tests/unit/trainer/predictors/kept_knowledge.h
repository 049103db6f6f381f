#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/networks.h"
#include "tests/unit/trainer/fixtures.h"
#include "tests/unit/trainer/predictors/operators/made_up_pool.h"
#include "trainer/core/archive.h"
#include "trainer/core/knowledge.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/registry.h"

namespace tenshot::test {

using nasbench::Architecture;
using trainer::Archive;
using trainer::PoolModel;

inline std::vector<trainer::KnowledgeSource> one_source() { return {{"a table", "https://table.org", "MIT", {"*"}}}; }

/// A pool as a table would have it: latencies of five decimals, an odd number of them for each device.
inline datasets::Pool rounded(datasets::Pool pool) {
  for (datasets::DeviceRuntime& device : pool.devices) {
    if (device.latencies.size() % 2 == 0) device.latencies.pop_back();
    for (datasets::Measurement& row : device.latencies) {
      row.latency_ms = std::round(1000 * row.latency_ms) / 1000 + 0.00037;  // no number of settings ends so
    }
  }
  return pool;
}

/// A pool, the model of it, and the same model after its knowledge went through a file.
struct Kept {
  datasets::Pool pool;
  std::unique_ptr<PoolModel> model;
  std::unique_ptr<PoolModel> knowledge;
  Archive archive;
};

inline std::unique_ptr<PoolModel> through_a_file(const Archive& archive) {
  const Folder folder;
  trainer::save(archive, folder.path() / "knowledge.tenshot");
  return trainer::load_pool_model(folder.path() / "knowledge.tenshot");
}

inline Kept kept(const datasets::Pool& pool, const std::string& predictor) {
  Kept result{rounded(pool), nullptr, nullptr, {}};
  result.model = trainer::train_pool_model(predictor, result.pool, {}, {});
  result.archive = result.model->without_rows(one_source())->to_archive();
  result.knowledge = through_a_file(result.archive);
  return result;
}

inline const std::vector<Architecture>& networks() {
  static const std::vector<Architecture> all = made_up_networks(90);
  return all;
}

/// Both predictors that keep knowledge: `structured` in NAS-Bench-201, `operators` on networks by name.
inline const Kept& of_cells() {
  static const Kept cells = kept(synthetic_pool(61), "structured");
  return cells;
}
inline const datasets::Pool& all_networks() {
  static const datasets::Pool all = pool_of(nasbench::networks(), networks());
  return all;
}
inline const Kept& of_networks() {
  static const Kept by_name = [] {
    datasets::Pool pool = all_networks();
    for (datasets::DeviceRuntime& device : pool.devices) device.latencies.resize(61);
    return kept(pool, "operators");
  }();
  return by_name;
}

inline trainer::AdaptationSet first_of(const datasets::DeviceRuntime& device, std::size_t count) {
  trainer::AdaptationSet set;
  for (std::size_t i = 0; i < count; ++i) {
    set.architectures.push_back(device.latencies[i].architecture);
    set.latency_ms.push_back(1.3 * device.latencies[i].latency_ms);
  }
  return set;
}

}  // namespace tenshot::test
