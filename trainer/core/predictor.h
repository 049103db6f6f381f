#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/kit/conditions.h"
#include "datasets/pool/pool.h"
#include "datasets/tables/fleet.h"
#include "datasets/tables/operator_latencies.h"
#include "datasets/tables/quantity.h"
#include "nasbench/spaces/search_space.h"
#include "sampling/architectures/information.h"
#include "trainer/core/archive.h"
#include "trainer/core/knowledge.h"

namespace tenshot::trainer {

/// The few architectures measured on the new device-runtime, and its descriptor and operators where they were measured.
struct AdaptationSet {
  std::vector<Architecture> architectures;  ///< distinct
  std::vector<double> latency_ms;           ///< finite and positive, one for each architecture
  bool whole_milliseconds = false;          ///< the device's clock counts whole milliseconds
  std::optional<datasets::HardwareDescriptor> descriptor = std::nullopt;
  /// What runs the networks on the device, as the pool labels it ("ncnn, Vulkan"): other runtimes then count less.
  std::string runtime = {};
  std::optional<datasets::Quantity> quantity = std::nullopt;  ///< of `latency_ms`; nothing: what the pool holds
  std::vector<datasets::OperatorLatency> operator_latencies = {};
  datasets::MeasuringConditions conditions = {};        ///< how `latency_ms` were measured, as far as that is known
  std::optional<datasets::Fleet> fleet = std::nullopt;  ///< of latencies of the typical one of several boards
  std::size_t doubts = 0;  ///< why `latency_ms` may not be of one device-runtime (MeasuredSource::doubts)

  void add(const Architecture& architecture, double ms) {
    architectures.push_back(architecture);
    latency_ms.push_back(ms);
  }
};

/// Latency of each architecture asked for, ms; the bounds are empty for predictors without intervals. Of a predictor of
/// another quantity (Predictor::quantity), that quantity in its unit.
struct Predictions {
  std::vector<double> latency_ms;
  std::vector<double> lower_ms;
  std::vector<double> upper_ms;

  /// Appends one of `others`, with its bounds where these have some.
  void add(const Predictions& others, std::size_t i) {
    latency_ms.push_back(others.latency_ms[i]);
    if (others.lower_ms.empty()) return;
    lower_ms.push_back(others.lower_ms[i]);
    upper_ms.push_back(others.upper_ms[i]);
  }
};

/// How long work reports itself and is stopped.
struct TrainingProgress {
  int epoch = 0;   ///< finished
  int epochs = 0;  ///< in all
  double loss = 0;
  double seconds_left = 0;
};

struct TrainingControl {
  /// Where unfinished training is kept after every epoch, and found again; empty = nowhere.
  std::filesystem::path state_file;
  /// Called after every epoch; returning false stops the training (Interrupted) after its state is saved.
  std::function<bool(const TrainingProgress&)> on_epoch;
  int threads = 1;
};

struct AdaptOptions {
  std::optional<int> clones;   ///< augmentation factor K, how often each measured one is present; nothing: the model's
  std::string mode = "joint";  ///< "joint": from scratch on pool and clones; "fine-tune": from the checkpoint's weights
  std::uint64_t seed = 1;
  /// A device-runtime of the pool that the new one is like: it and its other settings are the whole prior. Empty: all.
  std::string like;
  TrainingControl control;
};

/// How a network differs from those that a pool measured.
struct Unfamiliar {
  std::vector<std::string> operators;  ///< names of the groups of operators that none of the pool's networks has
  /// How many times as costly it is as the most costly of them; below 1, as the least costly; 1 where it is in between.
  double size = 1;
};

/// A part of a latency.
struct PartCost {
  std::string name;  ///< "convolution 3x3 stride 2 1x3x224x224 -> 1x32x112x112", "nor_conv_3x3", "base"
  std::string kind;  ///< operator_group_name(), "base", "decisions"; empty for one occurrence in a cell
  double cost_ms = 0;
  double deviation_ms = 0;  ///< standard deviation of the cost; those of parts are not independent
  std::string key = {};     ///< of an operator of a network: operator_key(), by which measured times are found
};

/// What planning by information looks at: how uncertain candidates are, given what was measured already.
struct PlanningView {
  sampling::LatencyCovariance covariance;  ///< covariance of the candidates' log latencies
  sampling::InformationOptions options;    ///< what a measurement is expected to be, and what is enough
  double own = 0;                          ///< σ of what is a candidate's own, which no measurement of another tells
  double profiled_noise = 0;               ///< that of `options` where operators are timed too; 0: the same
};

/// What a predictor found out about its device, in one sentence.
struct Remark {
  std::string text;
  bool warns = false;  ///< it says what is suspicious

  friend bool operator==(const Remark& a, const Remark& b) { return a.text == b.text && a.warns == b.warns; }
};

/// As people read it on one line, and as files keep it: a warning begins with "Warning: ".
std::string in_words(const Remark& remark);

struct ExportedFormula;

/// A latency predictor of one device-runtime: what `adapt` makes and a search loop loads. Its card names its kind
/// ("predictor"), its space and what it predicts, and says what it was made from.
class Predictor {
 public:
  explicit Predictor(nlohmann::json card) : card_(std::move(card)) {}
  virtual ~Predictor() = default;
  std::string_view kind() const { return card_.at("predictor").get_ref<const std::string&>(); }
  virtual const NetworkSpace& space() const = 0;
  datasets::Quantity quantity() const;
  virtual bool has_intervals() const { return false; }
  /// Latencies, and where it has intervals, those that hold the truth with probability `confidence`.
  virtual Predictions predict(const std::vector<Architecture>& architectures, double confidence) const = 0;
  /// The same as if they were of a kind that nobody measured; nothing where networks are not compared with the pool's.
  virtual Predictions predict_as_unlike(const std::vector<Architecture>& /*architectures*/,
                                        double /*confidence*/) const {
    return {};
  }
  /// One for each architecture; nothing for predictors that do not compare networks with those of the pool.
  virtual std::vector<Unfamiliar> unfamiliar(const std::vector<Architecture>& /*architectures*/) const { return {}; }
  /// The file's content: the card, and what put_weights() adds.
  Archive to_archive() const;
  /// What it computes, as it is exported (trainer/networks/exporting.h). Throws InputError where that has no form.
  virtual ExportedFormula formula() const = 0;
  /// The same predictor as plain numbers: the card, how strings of its space are read (part_vocabulary.h), numbers().
  virtual nlohmann::json to_document() const;
  /// What the predictor found out about the device when it was adapted. May be empty.
  virtual std::vector<Remark> explanation() const { return {}; }

  // What some kinds of predictors know beside latencies, for reports: nothing (empty) for a kind that does not know it.

  /// What operators cost on the device: one occurrence of each in the cell, or by kind the mean of `typical` networks.
  virtual std::vector<PartCost> operator_costs(const std::vector<Architecture>& /*typical*/) const { return {}; }
  /// What the operators of a network cost, in their order; the sum is the predicted latency.
  virtual std::vector<PartCost> network_costs(const Architecture& /*architecture*/) const { return {}; }
  /// What is uncertain about candidates, which are connected and were not measured.
  virtual std::optional<PlanningView> uncertainty(const std::vector<Architecture>& /*candidates*/) const {
    return std::nullopt;
  }

 protected:
  virtual void put_weights(Archive& archive) const = 0;
  virtual nlohmann::json numbers() const = 0;

  nlohmann::json card_;
};

/// What a pool teaches planning about a device nobody has measured: built once per pool, asked for every round of every
/// device. It refers to the pool or the model that it was built from, which must outlive it.
class PlanningPrior {
 public:
  virtual ~PlanningPrior() = default;
  /// Candidates are connected. What `measured` holds, its descriptor included, is conditioned on. Throws InputError.
  virtual PlanningView view(const std::vector<Architecture>& candidates, const AdaptationSet& measured) const = 0;
  /// Latency [device of the pool][architecture], ms, that it expects there.
  virtual std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const = 0;
};

/// Which part of a hardware descriptor a predictor makes use of (`--descriptor-kind`).
enum class DescriptorKind {
  inferred,    ///< none: devices are described by their measured networks
  latency,     ///< the latencies of operators measured alone
  in_network,  ///< what one more of an operation costs inside a network
  counters     ///< counters of operators measured alone, and their latencies (MAPLE-Edge §2.1.2)
};

/// As the command line and files name it.
std::string_view name(DescriptorKind kind);

/// The inverse, of the kinds that a predictor has. Throws InputError that lists their names.
DescriptorKind descriptor_kind(std::string_view name, const std::vector<DescriptorKind>& possible);

/// What was learned from the device pool, ready to be adapted: the content of a pool checkpoint.
class PoolModel {
 public:
  PoolModel(datasets::Pool pool, std::string_view kind, std::optional<Knowledge> knowledge = std::nullopt)
      : pool_(std::move(pool)), knowledge_(std::move(knowledge)), kind_(kind) {}
  virtual ~PoolModel() = default;
  std::string_view kind() const { return kind_; }
  const datasets::Pool& pool() const { return pool_; }
  /// datasets::content_hash() of the pool learned from, found once: of ten thousand device-runtimes it takes a second.
  const std::string& pool_sha256() const;
  /// What of a hardware descriptor adaptation uses: "counters" (all), "latency" (its operator latencies) or "inferred"
  /// (nothing: devices are described by their measured networks).
  virtual std::string descriptor_kind() const { return "inferred"; }
  /// The checkpoint's content: what it is, the versions, the pool or the knowledge in its place (pool_archive.h), so
  /// that adapting and planning need no other file, and what the kind has learned, by put_learned().
  Archive to_archive() const;
  /// Throws InputError on an adaptation set that cannot be used (none measured, another kind of descriptor).
  virtual std::unique_ptr<Predictor> adapt(const AdaptationSet& set, const AdaptOptions& options) const = 0;
  /// Latency [device][architecture] that the model expects on the pool's devices, for architectures they may not have
  /// measured; any positive scale per device. Of a model that expects nothing, multiply–adds in millions on every one.
  virtual std::vector<std::vector<double>> predict_pool(const std::vector<Architecture>& architectures) const;
  /// What the model has learned that planning can use, under the model's own assumptions; it must not outlive the
  /// model. Nothing for models that have learned nothing of the kind.
  virtual std::shared_ptr<const PlanningPrior> planning_prior() const { return nullptr; }

  /// What a model without rows says of its pool, whose devices then hold no latencies; nothing where it has them.
  const Knowledge* knowledge() const { return knowledge_ ? &*knowledge_ : nullptr; }
  /// How well the costs of each device-runtime predict networks that they were fitted without: kept where the model has
  /// no rows, else found out now. Throws InputError for models that have no costs.
  virtual OwnFits own_fits() const;
  /// What the model has learned, without a row of the pool that it was learned from. Throws InputError for models that
  /// answer from the pool's rows, and as make_knowledge().
  virtual std::unique_ptr<PoolModel> without_rows(std::vector<KnowledgeSource> sources) const;
  /// What the model has learned and, beside it, the devices of a pool of the same space, as that model knows networks.
  /// `sources` says where they come from, or nothing where they are the user's own. Throws InputError where both have a
  /// device of one id, as make_knowledge() for the sources, and for models that do not grow.
  virtual std::unique_ptr<PoolModel> grown_by(const datasets::Pool& pool, std::vector<KnowledgeSource> sources) const;
  /// A predictor of the pool's device-runtime of that id, without any measurement. Throws InputError that names the
  /// nearest ids, and for models that know none by themselves.
  virtual std::unique_ptr<Predictor> known_device(const std::string& id) const;

 protected:
  virtual void put_learned(Archive& /*archive*/) const {}

  datasets::Pool pool_;
  std::optional<Knowledge> knowledge_;

 private:
  std::string kind_;
  mutable std::once_flag hashed_;
  mutable std::string pool_sha256_;
};

}  // namespace tenshot::trainer
