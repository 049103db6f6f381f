#pragma once

#include <memory>
#include <string>
#include <vector>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/networks/training.h"
#include "trainer/predictors/maple_edge/descriptor_features.h"
#include "trainer/predictors/maple_edge/simulated_devices.h"

namespace tenshot::trainer {

/// Everything that can be chosen about the method of MAPLE-Edge. Two of its three additions to MAPLE are switches here;
/// the third, targeted uniform sampling, is a sampler of plans (Table 4). maple_edge_settings.cpp explains each option.
struct MapleEdgeSettings {
  std::string kind = "maple-edge-plain";  ///< what the checkpoint calls itself
  std::vector<int> hidden = {512, 128};
  FitOptions fit;
  int fine_tune_epochs = 20;
  double fine_tune_learning_rate = 5e-4;
  int default_clones = 7;
  int reference_samples = 10;
  bool normalise = true;
  bool scale_latencies = true;
  bool redraw_references = true;
  std::string descriptor = "auto";
  int pretraining_epochs = 0;
  SimulationOptions simulation;
};

/// The options of `maple-edge`, the network that learns from simulated devices, of the network of the paper, and of
/// MAPLE, which lacks the additions of MAPLE-Edge: milliseconds as targets, absolute descriptors, no clones.
extern const Declaration<MapleEdgeSettings> simulated_options, plain_options, maple_options;

/// Trains the regression network on the pool (MAPLE-Edge §2.1). In every epoch each device is described by another
/// random draw of `reference_samples` architectures, which give its scale and, for inferred descriptors, its costs: at
/// adaptation the new device is described by ten architectures just so. Throws InputError, Interrupted.
std::unique_ptr<PoolModel> train_maple_edge(const datasets::Pool& pool, const MapleEdgeSettings& settings,
                                            const TrainingControl& control);

/// From an archive whose card names "maple-edge-plain", "maple", or an earlier "maple-edge". Throws FormatError.
std::unique_ptr<PoolModel> load_maple_edge(const Archive& archive);

/// The regression network of MAPLE-Edge, taught by devices that are made up. A pool is a handful of devices, and tells
/// a network little about the next one; the structures and costs that explain the pool (predictors/structured) make up
/// as many as it wants. Training waits for the measurements: the network's input is an architecture and the log
/// latencies of just the architectures that were measured, so that it learns what those say of all others.
///
/// Fits the library of the pool, in seconds; adaptation trains for settings.fit.epochs epochs of
/// settings.simulation.rows rows, some seconds. Throws InputError (no structures, or fewer architectures than costs).
///
/// With settings.pretraining_epochs, also pre-trains a network under `control` that takes measurements by a set encoder
/// (simulated_samples.h): mode "set-encoder" answers without training, and "fine-tune" goes on from there.
std::unique_ptr<PoolModel> train_simulated_network(const datasets::Pool& pool, const MapleEdgeSettings& settings,
                                                   const TrainingControl& control = {});

/// From an archive whose card names "maple-edge". Throws FormatError.
std::unique_ptr<PoolModel> load_simulated_network(const Archive& archive);

}  // namespace tenshot::trainer
