#include "trainer/core/pool_archive.h"

#include <cmath>

#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/knowledge_archive.h"
#include "trainer/core/libtorch.h"
#include "trainer/core/quantity_card.h"
#include "trainer/core/space_card.h"

namespace tenshot::trainer {
namespace {

constexpr std::size_t most_devices = 10'000'000;

}  // namespace

void put_pool(Archive& archive, const datasets::Pool& pool) {
  const datasets::LatencyMatrix matrix = datasets::latency_matrix(pool);
  const auto rows = static_cast<std::int64_t>(matrix.architectures.size());
  std::vector<double> latency_ms;
  for (const std::vector<double>& row : matrix.latency_ms) latency_ms.insert(latency_ms.end(), row.begin(), row.end());

  nlohmann::json devices = nlohmann::json::array();
  for (const datasets::DeviceRuntime& device : pool.devices) {
    nlohmann::json described = datasets::to_json(device, *pool.space);
    described.erase("environment");
    devices.push_back(std::move(described));
  }
  put_space(archive.card, *pool.space, matrix.architectures);
  archive.card["pool"] = {{"content_sha256", datasets::content_hash(pool)}, {"devices", devices}};
  archive.put("pool.architectures", to_array(packed(matrix.architectures),
                                             {rows, static_cast<std::int64_t>(pool.space->architecture_bytes())}));
  archive.put("pool.latency_ms", to_array(latency_ms, {static_cast<std::int64_t>(pool.devices.size()), rows}));
}

datasets::Pool get_pool(const Archive& archive) {
  if (is_knowledge(archive)) return get_identities(archive);
  datasets::Pool pool;
  const JsonField card(archive);
  pool.space = &get_space(archive.card);
  const std::vector<std::uint8_t> choices = archive.bytes("pool.architectures");
  const std::vector<double> latency_ms = archive.doubles("pool.latency_ms");
  const std::vector<JsonField> devices = card.at("pool").at("devices").list(most_devices);
  if (devices.empty()) card.at("pool").at("devices").fail("at least one device");
  const std::vector<nasbench::Architecture> architectures = unpacked(choices, *pool.space);
  const std::size_t rows = architectures.size();
  if (choices.size() != rows * pool.space->architecture_bytes() || latency_ms.size() != rows * devices.size()) {
    throw FormatError("arrays 'pool.architectures' (" + std::to_string(choices.size()) +
                      " values) and 'pool.latency_ms' (" + std::to_string(latency_ms.size()) +
                      " values) do not fit each other and the " + std::to_string(devices.size()) +
                      " devices of the card");
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (pool.space->could_be(architectures[r])) continue;
    throw FormatError("array 'pool.architectures'[" + std::to_string(r) + "] is no architecture of " +
                      std::string(pool.space->name()));
  }
  for (std::size_t d = 0; d < devices.size(); ++d) {
    datasets::DeviceRuntime device = datasets::device_from_json(devices[d].json(), "its card", pool.space);
    if (pool.find(device.id) != nullptr) devices[d].at("id").fail("an id that no device before it has");
    for (std::size_t r = 0; r < rows; ++r) {
      const double latency = latency_ms[d * rows + r];
      if (std::isnan(latency)) continue;
      if (!(latency >= positive.least && latency <= positive.most)) {
        require_in_range(latency, positive,
                         "array 'pool.latency_ms'[" + std::to_string(d) + ", " + std::to_string(r) + "]");
      }
      datasets::Measurement measurement;
      measurement.architecture = architectures[r];
      measurement.latency_ms = latency;
      device.latencies.push_back(measurement);
    }
    if (!pool.devices.empty() && device.quantity != pool.quantity()) {
      devices[d].fail("a device that holds " + std::string(datasets::name(pool.quantity())) + ", as those before it");
    }
    pool.devices.push_back(std::move(device));
  }
  return pool;
}

Archive checkpoint_archive(const datasets::Pool& pool, std::string_view predictor) {
  Archive archive;
  put_pool(archive, pool);
  archive.card["content"] = "pool checkpoint";
  archive.card["predictor"] = predictor;
  put_quantity(archive.card, pool.quantity());
  archive.card["versions"] = version_card();
  return archive;
}

nlohmann::json version_card() { return {{"tenshot", TENSHOT_VERSION}, {"libtorch", libtorch_version()}}; }

std::string training_fingerprint(const nlohmann::json& what, const datasets::Pool& pool) {
  return sha256_hex(what.dump() + datasets::content_hash(pool) + libtorch_version());
}

}  // namespace tenshot::trainer
