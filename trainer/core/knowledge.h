#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "nasbench/spaces/search_space.h"

namespace tenshot::trainer {

using nasbench::Architecture;
using nasbench::NetworkSpace;
using nasbench::SearchSpace;

/// A table or a measurement from which a model learned what it knows of some device-runtimes.
struct KnowledgeSource {
  std::string name;
  std::string url;                   ///< of the table, or of its paper
  std::string licence;               ///< its name: "MIT"
  std::vector<std::string> devices;  ///< ids of the device-runtimes, or patterns with `*`
};

/// The file of sources, `tenshot.sources/1`: {"format", "sources": [{"name", "url", "licence", "devices"}]}. Throws
/// FormatError that names the place in `file`.
std::vector<KnowledgeSource> sources_from_json(const nlohmann::json& json, const std::string& file);

/// How well the costs of one device-runtime predict networks that they were fitted without.
struct OwnFit {
  std::size_t networks = 0;       ///< that it was learned from; each was left out once
  double within_10 = 0;           ///< the share of them that was predicted within ±10 %; NaN where none was
  double within_20 = 0;           ///< … within ±20 %
  std::vector<double> quantiles;  ///< of the standardised errors of log latency, at OwnFits::probabilities
};

struct OwnFits {
  std::vector<double> probabilities;  ///< ascending; empty where no error was seen
  std::vector<OwnFit> devices;        ///< in the order of the pool
};

/// What a model says of its pool where it keeps none of its rows: where each device was learned from, and how well.
struct Knowledge {
  std::vector<KnowledgeSource> sources;
  std::vector<std::size_t> source_of;  ///< the source of each device-runtime, in the order of the pool
  OwnFits own_fits;
  std::string pool_sha256;  ///< datasets::content_hash() of the pool that it was learned from
};

/// Throws InputError that names the first device-runtime that no source claims, or two, or a source that claims none.
Knowledge make_knowledge(const datasets::Pool& pool, std::vector<KnowledgeSource> sources, OwnFits own_fits);

/// The same with another pool's device-runtimes and sources behind it; without sources, the user's own as one.
Knowledge grown_knowledge(Knowledge knowledge, const datasets::Pool& own, std::vector<KnowledgeSource> sources,
                          OwnFits own_fits);
/// The identities of both, those of `own` last. Throws InputError on two spaces, two quantities, or an id of both.
datasets::Pool joined_identities(const datasets::Pool& identities, const datasets::Pool& own);

/// The device-runtimes of a pool by what they are, without anything that was measured of them.
datasets::Pool identities_of(const datasets::Pool& pool);

/// The architectures that a pool measured. Where it has no rows, they are a seeded draw of 1,000 connected ones of its
/// space; there are none of networks by name, which are the user's to name.
std::vector<Architecture> known_architectures(const datasets::Pool& pool);

/// Those of `architectures` that are connected and none of `measured`, each once, in their order, at most `most`.
std::vector<Architecture> not_measured(const NetworkSpace& space, const std::vector<Architecture>& architectures,
                                       const std::vector<Architecture>& measured, std::size_t most);

/// A scale near `median_ms` in steps of 2 % that no table holds; it stands for a median, which is one of the latencies.
double stepped_scale_ms(double median_ms);

/// The runtime of a pool that a user calls `text`, whatever the case. Throws InputError that names all there are.
std::string runtime_named(const datasets::Pool& pool, const std::string& text);

/// The device-runtime of that id. Throws InputError that names those most like it.
std::size_t device_named(const datasets::Pool& pool, const std::string& id);

}  // namespace tenshot::trainer
