#include "trainer/core/pool_archive.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#ifdef TENSHOT_HAS_TORCH
#include <torch/version.h>
#else
#define TORCH_VERSION "none"
#endif

#include "datasets/pool/device_file.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/predictor.h"
#include "trainer/core/quantity_card.h"
#include "trainer/core/space_card.h"

namespace tenshot::trainer {
namespace {

constexpr std::int64_t knowledge_version = 1;
constexpr std::size_t most_sources = 10'000, most_probabilities = 1000;
constexpr std::int64_t most_counted = 1'000'000'000;
constexpr const char* probabilities_name = "own_fit.probabilities";
constexpr const char* quantiles_name = "own_fit.quantiles";

nlohmann::json identity_json(const datasets::DeviceRuntime& device, std::size_t source) {
  return {{"id", device.id},           {"device", device.device},
          {"runtime", device.runtime}, {"precision", device.precision},
          {"threads", device.threads}, {"batch", device.batch},
          {"source", source}};
}

datasets::DeviceRuntime identity_from(const JsonField& field, Quantity quantity) {
  datasets::DeviceRuntime device;
  device.id = field.at("id").text();
  device.device = field.at("device").text();
  device.runtime = field.at("runtime").text();
  device.precision = field.at("precision").text();
  device.threads = static_cast<int>(field.at("threads").whole_number(0, most_counted));
  device.batch = static_cast<int>(field.at("batch").whole_number(0, most_counted));
  device.quantity = quantity;
  return device;
}

/// "scores.own_fit": for each id how many networks, and where they are known the shares within ±10 and ±20 %.
void put_own_fits(Archive& archive, const datasets::Pool& identities, const OwnFits& fits) {
  std::vector<float> quantiles;
  for (std::size_t d = 0; d < fits.devices.size(); ++d) {
    const OwnFit& fit = fits.devices[d];
    nlohmann::json& kept = archive.card["scores"]["own_fit"][identities.devices[d].id];
    kept.push_back(fit.networks);
    if (std::isfinite(fit.within_10)) kept.insert(kept.end(), {fit.within_10, fit.within_20});
    quantiles.insert(quantiles.end(), fit.quantiles.begin(), fit.quantiles.end());
  }
  const auto width = static_cast<std::int64_t>(fits.probabilities.size());
  archive.put(probabilities_name, to_array(fits.probabilities, {width}));
  archive.put(quantiles_name, to_array(quantiles, {static_cast<std::int64_t>(fits.devices.size()), width}));
}

OwnFits get_own_fits(const Archive& archive, const std::vector<JsonField>& devices) {
  constexpr Range inside{1e-9, 1 - 1e-9}, standard_deviations{-1e3, 1e3};
  OwnFits fits;
  fits.probabilities = checked_doubles(archive, probabilities_name, inside);
  const std::size_t width = fits.probabilities.size();
  if (width > most_probabilities || !std::is_sorted(fits.probabilities.begin(), fits.probabilities.end())) {
    throw FormatError("array '" + std::string(probabilities_name) + "' is not ascending");
  }
  const std::vector<float> quantiles =
      checked_floats(archive, quantiles_name, standard_deviations, devices.size() * width);
  const JsonField card = JsonField(archive).at("scores").at("own_fit");
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const JsonField field = card.at(devices[d].at("id").text());
    const std::vector<JsonField> numbers = field.list(3);
    if (numbers.size() != 1 && numbers.size() != 3)
      field.fail("how many networks, and two shares where they are known");
    OwnFit fit;
    fit.networks = static_cast<std::size_t>(numbers[0].whole_number(0, most_counted));
    fit.within_10 = numbers.size() > 1 ? numbers[1].number(share) : std::numeric_limits<double>::quiet_NaN();
    fit.within_20 = numbers.size() > 1 ? numbers[2].number(share) : std::numeric_limits<double>::quiet_NaN();
    const auto begin = quantiles.begin() + static_cast<std::ptrdiff_t>(d * width);
    fit.quantiles.assign(begin, begin + static_cast<std::ptrdiff_t>(width));
    if (!std::is_sorted(fit.quantiles.begin(), fit.quantiles.end())) {
      throw FormatError("array '" + std::string(quantiles_name) + "'[" + std::to_string(d) + "] is not ascending");
    }
    fits.devices.push_back(std::move(fit));
  }
  return fits;
}

std::vector<JsonField> devices_of(const Archive& archive) {
  const JsonField field = JsonField(archive).at("pool").at("devices");
  std::vector<JsonField> devices = field.list();
  if (devices.empty()) field.fail("at least one device");
  return devices;
}

datasets::Pool get_identities(const Archive& archive) {
  const JsonField field = JsonField(archive).at("knowledge").at("version");
  const std::int64_t version = field.whole_number(1, std::numeric_limits<std::int64_t>::max());
  if (version != knowledge_version) {
    throw FormatError("knowledge of version " + std::to_string(version) + ", and this tenshot reads version " +
                      std::to_string(knowledge_version) + "; use a newer one");
  }
  datasets::Pool pool;
  pool.space = &get_space(archive.card);
  const Quantity quantity = get_quantity(archive.card);
  std::unordered_set<std::string> ids;
  for (const JsonField& device : devices_of(archive)) {
    pool.devices.push_back(identity_from(device, quantity));
    if (!ids.insert(pool.devices.back().id).second) device.at("id").fail("an id that no device before it has");
  }
  return pool;
}

/// Puts a pool in compact form: architectures as bytes, latencies [device][architecture] as 64-bit floats, NaN where
/// not measured. Returns descriptors and names as JSON for the card. 9 devices × 900 architectures take 70 KB.
nlohmann::json put_pool(Archive& archive, const datasets::Pool& pool) {
  const datasets::LatencyMatrix matrix = datasets::latency_matrix(pool);
  const auto rows = static_cast<std::int64_t>(matrix.architectures.size());
  std::vector<double> latency_ms;
  for (const std::vector<double>& row : matrix.latency_ms) latency_ms.insert(latency_ms.end(), row.begin(), row.end());
  nlohmann::json devices = nlohmann::json::array();
  for (const datasets::DeviceRuntime& device : pool.devices) {
    devices.push_back(datasets::to_json(device, *pool.space));
    devices.back().erase("environment");
  }
  put_space(archive.card, *pool.space, matrix.architectures);
  archive.card["content"] = "pool checkpoint";
  archive.put("pool.architectures", to_array(packed(matrix.architectures),
                                             {rows, static_cast<std::int64_t>(pool.space->architecture_bytes())}));
  archive.put("pool.latency_ms", to_array(latency_ms, {static_cast<std::int64_t>(pool.devices.size()), rows}));
  return devices;
}

/// Puts where the pool's devices were learned from, with a version of its own; returns who they are, for the card.
nlohmann::json put_knowledge(Archive& archive, const datasets::Pool& identities, const Knowledge& knowledge) {
  nlohmann::json devices = nlohmann::json::array(), sources = nlohmann::json::array();
  for (std::size_t d = 0; d < identities.devices.size(); ++d) {
    devices.push_back(identity_json(identities.devices[d], knowledge.source_of[d]));
  }
  for (const KnowledgeSource& source : knowledge.sources) {
    sources.push_back({{"name", source.name}, {"url", source.url}, {"licence", source.licence}});
  }
  put_space(archive.card, *identities.space, {});
  archive.card.erase("networks");
  archive.card["content"] = knowledge_content;
  archive.card["knowledge"] = {{"version", knowledge_version}, {"sources", std::move(sources)}};
  put_own_fits(archive, identities, knowledge.own_fits);
  return devices;
}

}  // namespace

Archive PoolModel::to_archive() const {
  Archive archive;
  archive.card = {{"predictor", kind_}, {"versions", version_card()}};
  put_quantity(archive.card, pool_.quantity());
  nlohmann::json devices = knowledge_ ? put_knowledge(archive, pool_, *knowledge_) : put_pool(archive, pool_);
  archive.card["pool"] = {{"content_sha256", pool_sha256()}, {"devices", std::move(devices)}};
  put_learned(archive);
  return archive;
}

datasets::Pool get_pool(const Archive& archive) {
  if (is_knowledge(archive)) return get_identities(archive);
  datasets::Pool pool;
  pool.space = &get_space(archive.card);
  const std::vector<std::uint8_t> choices = archive.bytes("pool.architectures");
  const std::vector<double> latency_ms = archive.doubles("pool.latency_ms");
  const std::vector<JsonField> devices = devices_of(archive);
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
    datasets::DeviceRuntime device = datasets::device_file_from_json(devices[d].json(), "its card", pool.space).device;
    if (pool.find(device.id) != nullptr) devices[d].at("id").fail("an id that no device before it has");
    for (std::size_t r = 0; r < rows; ++r) {
      const double latency = latency_ms[d * rows + r];
      if (std::isnan(latency)) continue;
      if (!(latency >= positive.least && latency <= positive.most)) {
        require_in_range(latency, positive,
                         "array 'pool.latency_ms'[" + std::to_string(d) + ", " + std::to_string(r) + "]");
      }
      device.latencies.push_back({architectures[r], latency});
    }
    if (!pool.devices.empty() && device.quantity != pool.quantity()) {
      devices[d].fail("a device that holds " + std::string(datasets::name(pool.quantity())) + ", as those before it");
    }
    pool.devices.push_back(std::move(device));
  }
  return pool;
}

nlohmann::json version_card() { return {{"tenshot", TENSHOT_VERSION}, {"libtorch", TORCH_VERSION}}; }

std::string training_fingerprint(const nlohmann::json& what, const datasets::Pool& pool) {
  return sha256_hex(what.dump() + datasets::content_hash(pool) + TORCH_VERSION);
}

bool is_knowledge(const Archive& archive) { return archive.card.value("content", "") == knowledge_content; }

std::optional<Knowledge> get_knowledge(const Archive& archive) {
  if (!is_knowledge(archive)) return std::nullopt;
  const JsonField card(archive);
  Knowledge knowledge;
  for (const JsonField& source : card.at("knowledge").at("sources").list(most_sources)) {
    knowledge.sources.push_back({source.at("name").text(), source.at("url").text(), source.at("licence").text(), {}});
  }
  const std::vector<JsonField> devices = devices_of(archive);
  const auto last = static_cast<std::int64_t>(knowledge.sources.size()) - 1;
  for (const JsonField& device : devices) {
    knowledge.source_of.push_back(static_cast<std::size_t>(device.at("source").whole_number(0, last)));
  }
  knowledge.pool_sha256 = card.at("pool").at("content_sha256").text();
  knowledge.own_fits = get_own_fits(archive, devices);
  return knowledge;
}

}  // namespace tenshot::trainer
