#pragma once

#include <memory>

#include "datasets/pool/pool.h"
#include "trainer/core/predictor.h"
#include "trainer/predictors/maple_edge/maple_edge.h"

namespace tenshot::trainer {

/// The regression network of MAPLE-Edge, taught by devices that are made up. A pool is a handful of devices, and tells
/// a network little about the next one; the structures and costs that explain the pool (predictors/structured) make up
/// as many as it wants. Training waits for the measurements: the network's input is an architecture and the log
/// latencies of just the architectures that were measured, so that it learns what those say of all others.
///
/// Fits the library of the pool, in seconds; adaptation trains for settings.fit.epochs epochs of
/// settings.simulation.rows rows, a few seconds on one core. Throws InputError (a pool without devices, a space without
/// structures, a device with fewer measured architectures than costs).
///
/// With settings.pretraining_epochs, also pre-trains a network that takes any number of measurements through a set
/// encoder (set_encoder.h): adaptation mode "set-encoder" then answers without training, and "fine-tune" goes on from
/// that network. `control` is that training's.
std::unique_ptr<PoolModel> train_simulated_network(const datasets::Pool& pool, const MapleEdgeSettings& settings,
                                                   const TrainingControl& control = {});

/// Whether an archive is of this network: earlier checkpoints that are called maple-edge are of the paper's.
bool is_simulated_network(const Archive& archive);

/// Throws FormatError.
std::unique_ptr<PoolModel> load_simulated_network(const Archive& archive);

}  // namespace tenshot::trainer
