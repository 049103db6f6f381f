#include "trainer/core/knowledge.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "nasbench/support/error.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/random.h"
#include "nasbench/support/suggestion.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot::trainer {
namespace {

constexpr std::string_view sources_format = "tenshot.sources/1";
constexpr const char* own_source = "your own pool";

/// Gives devices of which no error was seen the mean quantiles of others, and those of few the wider of both.
void lend_quantiles(const OwnFits& lender, OwnFits& fits) {
  constexpr std::size_t few = 40;
  if (lender.probabilities.empty()) return;
  const bool none_seen = fits.probabilities.empty();
  fits.probabilities = lender.probabilities;
  std::vector<double> mean(lender.probabilities.size(), 0);
  for (const OwnFit& fit : lender.devices) {
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += fit.quantiles[i] / static_cast<double>(lender.devices.size());
    }
  }
  for (OwnFit& fit : fits.devices) {
    if (none_seen) fit.quantiles = mean;
    if (none_seen || fit.networks >= few) continue;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      double& own = fit.quantiles[i];
      own = lender.probabilities[i] < 0.5 ? std::min(own, mean[i]) : std::max(own, mean[i]);
    }
  }
}

std::vector<std::size_t> claimed_sources(const datasets::Pool& pool, const std::vector<KnowledgeSource>& sources) {
  std::vector<std::size_t> source_of, devices(sources.size(), 0);
  for (const datasets::DeviceRuntime& device : pool.devices) {
    std::vector<std::size_t> claiming;
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const auto claims = [&](const std::string& pattern) { return fits_pattern(device.id, pattern); };
      if (std::any_of(sources[s].devices.begin(), sources[s].devices.end(), claims)) claiming.push_back(s);
    }
    if (claiming.empty()) {
      throw InputError("device-runtime '" + device.id + "' is of no source: name it in the 'devices' of one");
    }
    if (claiming.size() > 1) {
      throw InputError("device-runtime '" + device.id + "' is of two sources, '" + sources[claiming[0]].name +
                       "' and '" + sources[claiming[1]].name + "': name it in the 'devices' of one alone");
    }
    source_of.push_back(claiming.front());
    ++devices[claiming.front()];
  }
  const auto unused = std::find(devices.begin(), devices.end(), std::size_t{0});
  if (unused != devices.end()) {
    throw InputError("source '" + sources[static_cast<std::size_t>(unused - devices.begin())].name +
                     "' has no device-runtime of the pool: its 'devices' fit none of the ids");
  }
  return source_of;
}

}  // namespace

std::vector<KnowledgeSource> sources_from_json(const nlohmann::json& json, const std::string& file) {
  return guarded_json(file, "file of sources", [&] {
    const JsonReader reader(json, file, "");
    reader.require_format(sources_format, "file of sources");
    std::vector<KnowledgeSource> sources;
    for (const JsonReader& entry : reader.objects("sources")) {
      const auto filled = [&](const char* key) { return entry.text_that(key, "a text that is not empty", is_filled); };
      KnowledgeSource source{filled("name"), entry.text("url", ""), filled("licence"), {}};
      for (const nlohmann::json& pattern : entry.array("devices")) {
        if (!pattern.is_string()) entry.fail("devices", "ids, or patterns with *", pattern);
        source.devices.push_back(pattern.get<std::string>());
      }
      sources.push_back(std::move(source));
    }
    if (sources.empty()) reader.fail("sources", "at least one source", reader.array("sources"));
    return sources;
  });
}

Knowledge make_knowledge(const datasets::Pool& pool, std::vector<KnowledgeSource> sources, OwnFits own_fits) {
  std::vector<std::size_t> source_of = claimed_sources(pool, sources);
  return {std::move(sources), std::move(source_of), std::move(own_fits), datasets::content_hash(pool)};
}

datasets::Pool identities_of(const datasets::Pool& pool) {
  datasets::Pool identities;
  identities.space = pool.space;
  for (const datasets::DeviceRuntime& device : pool.devices) {
    identities.devices.push_back(
        {device.id, device.device, device.runtime, device.precision, device.batch, device.threads});
    identities.devices.back().quantity = device.quantity;
  }
  return identities;
}

Knowledge grown_knowledge(Knowledge knowledge, const datasets::Pool& own, std::vector<KnowledgeSource> sources,
                          OwnFits own_fits) {
  const std::vector<double>& kept = knowledge.own_fits.probabilities;
  const std::vector<double>& added = own_fits.probabilities;
  if (!kept.empty() && !added.empty() && kept != added) {
    throw InputError("the checkpoint's intervals are of another version than this program's; make it again");
  }
  lend_quantiles(knowledge.own_fits, own_fits);
  if (knowledge.own_fits.probabilities.empty()) lend_quantiles(own_fits, knowledge.own_fits);
  for (OwnFit& fit : own_fits.devices) knowledge.own_fits.devices.push_back(std::move(fit));
  if (sources.empty()) sources.push_back({own_source, "", "yours", {"*"}});
  for (const std::size_t source : claimed_sources(own, sources)) {
    const auto is_it = [&](const KnowledgeSource& other) { return other.name == sources[source].name; };
    const auto known = std::find_if(knowledge.sources.begin(), knowledge.sources.end(), is_it);
    knowledge.source_of.push_back(static_cast<std::size_t>(known - knowledge.sources.begin()));
    if (known == knowledge.sources.end()) knowledge.sources.push_back(sources[source]);
  }
  knowledge.pool_sha256 = sha256_hex(knowledge.pool_sha256 + datasets::content_hash(own));
  return knowledge;
}

datasets::Pool joined_identities(const datasets::Pool& identities, const datasets::Pool& own) {
  if (identities.space != own.space) {
    throw InputError("the pool is of space '" + std::string(own.space->name()) + "', the checkpoint of '" +
                     std::string(identities.space->name()) + "', another one");
  }
  if (identities.quantity() != own.quantity()) {
    throw InputError("the pool holds " + column(own.quantity()) + ", the checkpoint " + column(identities.quantity()));
  }
  datasets::Pool joined = identities;
  for (datasets::DeviceRuntime& device : identities_of(own).devices) {
    if (identities.find(device.id) != nullptr) {
      throw InputError("device '" + device.id +
                       "' is in the checkpoint already; give yours another id: by --id when you measure or import "
                       "it, or in its device.json and its folder's name");
    }
    joined.devices.push_back(std::move(device));
  }
  return joined;
}

std::vector<Architecture> known_architectures(const datasets::Pool& pool) {
  std::vector<Architecture> known = datasets::latency_matrix(pool).architectures;
  const SearchSpace* space = pool.space->search_space();
  if (!known.empty() || space == nullptr) return known;
  constexpr std::size_t enough = 1000, most_draws = 100'000;
  Rng rng(1);
  nasbench::ArchitectureSet drawn;
  for (std::size_t draw = 0; draw < most_draws && known.size() < enough; ++draw) {
    const Architecture architecture = space->random(rng);
    if (space->connected(architecture) && drawn.insert(architecture).second) known.push_back(architecture);
  }
  return known;
}

std::vector<Architecture> not_measured(const NetworkSpace& space, const std::vector<Architecture>& architectures,
                                       const std::vector<Architecture>& measured, std::size_t most) {
  nasbench::ArchitectureSet seen(measured.begin(), measured.end());
  std::vector<Architecture> others;
  for (const Architecture& architecture : architectures) {
    if (others.size() == most) break;
    if (space.connected(architecture) && seen.insert(architecture).second) others.push_back(architecture);
  }
  return others;
}

double stepped_scale_ms(double median_ms) {
  constexpr double steps = 35;  // for each doubling: 2 %
  return std::exp2((std::floor(steps * std::log2(median_ms)) + 0.5) / steps);
}

std::string runtime_named(const datasets::Pool& pool, const std::string& text) {
  std::set<std::string> runtimes;
  for (const datasets::DeviceRuntime& device : pool.devices) {
    if (!device.runtime.empty()) runtimes.insert('"' + device.runtime + '"');
    if (!device.runtime.empty() && lower_case(device.runtime) == lower_case(text)) return device.runtime;
  }
  throw InputError("no device-runtime that this checkpoint knows has the runtime '" + excerpt(text) +
                   "'; leave it out" + (runtimes.empty() ? "" : ", or take one of " + joined(runtimes)));
}

std::size_t device_named(const datasets::Pool& pool, const std::string& id) {
  const std::vector<std::string> ids = datasets::device_ids(pool);
  const auto found = std::find(ids.begin(), ids.end(), id);
  if (found != ids.end()) return static_cast<std::size_t>(found - ids.begin());
  throw InputError("there is no device-runtime '" + excerpt(id) + "' among the " + std::to_string(ids.size()) +
                   " that this checkpoint knows; most like it: " + joined(nearest_names(id, ids, 3)) +
                   "; tenshot devices lists them all");
}

}  // namespace tenshot::trainer
