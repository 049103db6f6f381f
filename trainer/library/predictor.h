#pragma once

#include <tenshot/error.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#define TENSHOT_API __attribute__((visibility("default")))

namespace tenshot {

namespace trainer {
class Predictor;
}
namespace nasbench {
struct NamedNetwork;
}

/// What a network executes, as <tenshot/network.h> reads it from a file. Copies share their content.
class TENSHOT_API Network {
 public:
  /// For read_network().
  explicit Network(std::shared_ptr<const nasbench::NamedNetwork> content);
  const std::string& name() const;
  const nasbench::NamedNetwork& content() const { return *content_; }

 private:
  std::shared_ptr<const nasbench::NamedNetwork> content_;
};

/// The latency of one network, in ms, and the bounds of the confidence asked for, NaN where the predictor has none.
struct PredictedLatency {
  double latency_ms = 0;
  double lower_ms = 0;
  double upper_ms = 0;
};

/// A latency predictor of one device, as `tenshot adapt` writes it. Copies share their content. Any number of threads
/// may call the functions of one predictor, and of several, at the same time.
class TENSHOT_API LatencyPredictor {
 public:
  /// Throws FileError (missing, unreadable), FormatError (not a predictor, of a newer version, damaged).
  explicit LatencyPredictor(const std::filesystem::path& file);
  /// The same of a file's content in memory, which messages call `name`.
  static LatencyPredictor from_memory(std::string_view content, const std::string& name);

  /// "structured", "operators", "maple-edge" and so on.
  std::string kind() const;
  /// The search space whose architectures it predicts: "nasbench201", "fbnet", "networks" and so on.
  std::string space() const;
  bool has_intervals() const;
  /// What the file says that it was made from, as JSON: "pool", "adaptation_set", "conditions", "versions", "seed".
  std::string provenance() const;
  /// How far `adapt` trusted it, in a sentence; empty where it has no intervals or an earlier version wrote it.
  std::string verdict() const;

  /// The latency of one architecture, in ms. Throws InputError on a string that is no architecture of the space.
  double predict(const std::string& architecture) const;
  /// The same of many, in their order; one call is faster than many.
  std::vector<PredictedLatency> predict(const std::vector<std::string>& architectures, double confidence = 0.9) const;
  /// The same of networks, by a predictor of the space `networks`. Throws InputError on another predictor.
  std::vector<PredictedLatency> predict(const std::vector<Network>& networks, double confidence = 0.9) const;

 private:
  explicit LatencyPredictor(std::unique_ptr<trainer::Predictor> predictor);

  std::shared_ptr<const trainer::Predictor> predictor_;
};

}  // namespace tenshot
