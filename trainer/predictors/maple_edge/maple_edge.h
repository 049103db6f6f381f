#pragma once

#include <memory>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/networks/feed_forward.h"
#include "trainer/networks/training.h"
#include "trainer/predictors/maple_edge/descriptor_features.h"
#include "trainer/predictors/maple_edge/simulated_devices.h"

namespace tenshot::trainer {

/// Everything that can be chosen about the method of MAPLE-Edge. Two of its three additions to MAPLE are switches here;
/// the third, targeted uniform sampling, is a choice of sampler when planning (Table 4).
struct MapleEdgeSettings {
  std::string kind = "maple-edge";  ///< what the checkpoint calls itself
  /// Widths of the hidden layers. Wider ones express more, take longer and know a small pool by heart.
  std::vector<int> hidden = {512, 128};
  FitOptions fit;
  /// Of adaptation from the checkpoint's weights. More epochs, or larger steps, follow the few measurements further.
  int fine_tune_epochs = 20;
  double fine_tune_learning_rate = 5e-4;
  /// Augmentation factor K (§2.4): each measured architecture is present K times. Larger weighs the new device against
  /// the pool.
  int default_clones = 7;
  /// Architectures that describe a pool device in an epoch of the pool's own training: as many as a new device will
  /// have measured. More describe it better than the new device will be.
  int reference_samples = 10;
  bool normalise = true;        ///< counters by operator latency (§2.1.2), costs by the device's scale
  bool scale_latencies = true;  ///< targets are latencies over the device's scale, not milliseconds
  /// When adapting from scratch, describe pool devices anew in every epoch, as in training.
  bool redraw_references = true;
  std::string descriptor = "auto";  ///< a DescriptorKind's name, or the richest that the pool has
  /// Of the network that learns from simulated devices: how long it is pre-trained for any set of measurements, before
  /// there are any; 0: not at all, so that every adaptation trains from scratch.
  int pretraining_epochs = 0;
  SimulationOptions simulation;  ///< of the network that learns from simulated devices alone
};

/// Settings of the network that learns from simulated devices: what `maple-edge` is unless told otherwise.
MapleEdgeSettings simulated_network_settings();

/// The network of the paper.
MapleEdgeSettings plain_settings();

/// MAPLE without the additions of MAPLE-Edge: milliseconds as targets, absolute descriptors, no clones.
MapleEdgeSettings maple_settings();

/// Trains the regression network on the pool (MAPLE-Edge §2.1). In every epoch each device is described by another
/// random draw of `reference_samples` architectures, which give its scale and, for inferred descriptors, its costs: at
/// adaptation the new device is described by ten architectures just so. Throws InputError (a pool without devices or
/// common architectures), Interrupted.
std::unique_ptr<PoolModel> train_maple_edge(const datasets::Pool& pool, const MapleEdgeSettings& settings,
                                            const TrainingControl& control);

/// From an archive whose card names "maple-edge-plain", "maple", or "maple-edge" of an earlier release. Throws
/// FormatError.
std::unique_ptr<PoolModel> load_maple_edge(const Archive& archive);

}  // namespace tenshot::trainer
