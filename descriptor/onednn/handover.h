#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "descriptor/onednn/prepared_layer.h"
#include "nasbench/support/elapsed.h"

namespace tenshot::descriptor {

/// Layers that come when they are ready; nobody waits for them.
class PreparedLayers {
 public:
  explicit PreparedLayers(std::size_t layers) : layers_(layers), ready_(layers) {}

  void give(std::size_t i, PreparedLayer layer) {
    layers_[i] = std::make_unique<PreparedLayer>(std::move(layer));
    ready_[i].store(true, std::memory_order_release);
  }

  /// Nothing where layer i is not ready, or has no other kernel for later runs.
  const PreparedLayer* find(std::size_t i) const {
    return ready_[i].load(std::memory_order_acquire) ? layers_[i].get() : nullptr;
  }

 private:
  std::vector<std::unique_ptr<PreparedLayer>> layers_;  ///< allocated by the core that prepares
  std::vector<std::atomic<bool>> ready_;
};

/// Layers that one thread after another prepares and the executing one takes.
class Handover {
 public:
  explicit Handover(std::size_t layers) : layers_(layers) {}

  void give(std::size_t i, PreparedLayer layer) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      layers_.give(i, std::move(layer));
    }
    changed_.notify_one();
  }

  void fail(std::exception_ptr error) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      error_ = std::move(error);
      failed_ = true;
    }
    changed_.notify_one();
  }

  bool has_failed() const { return failed_; }
  /// Whether `take` would not wait for layer i.
  bool is_ready(std::size_t i) const { return layers_.find(i) != nullptr || failed_; }

  /// Waits until layer i is there. Looks for a little while before it sleeps: waking up costs more than a small layer.
  const PreparedLayer& take(std::size_t i) {
    const Clock::time_point start = Clock::now();
    while (!is_ready(i) && Clock::now() - start < looking) {
    }
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return is_ready(i); });
    if (error_) std::rethrow_exception(error_);
    return *layers_.find(i);
  }

 private:
  static constexpr std::chrono::microseconds looking{50};

  PreparedLayers layers_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace tenshot::descriptor
