#include <algorithm>
#include <filesystem>

#include "descriptor/fusion/fusion_cases.h"
#include "descriptor/timing/timing.h"
#include "nasbench/kernels/kernel_network.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/text.h"
#include "trainer/cli/kernel_verbs.h"
#include "trainer/cli/signals.h"

namespace tenshot::cli {

using datasets::KernelRow;

namespace {

std::string key(const KernelRow& row) { return row.kernel + " " + format(row.leading); }

double latency_of(const KernelRow& row) { return row.refused.empty() ? row.latency_ms : std::nan(""); }

}  // namespace

void KernelMeasuring::add(KernelRow row) {
  constexpr std::size_t rows_at_a_time = 25;
  row.purpose = purpose_;
  found_.emplace(key(row), latency_of(row));
  rows_.push_back(std::move(row));
  if (rows_.size() % rows_at_a_time == 0) write_file_quickly(file_, datasets::kernel_table(rows_));
}

void KernelMeasuring::keep() const { write_file_atomically(file_, datasets::kernel_table(rows_)); }

KernelMeasuring::KernelMeasuring(const OptionParser& options, const std::string& what, std::string file)
    : runtime_(descriptor::make_runtime(options.required("runtime"))),
      file_(std::move(file)),
      purpose_(what + " of " + options.get("runtime") + " at " + std::to_string(options.integer("threads", 1)) +
               " threads"),
      progress_(options.has("quiet")) {
  isolation_.runtime.threads = options.integer("threads", 1);
  if (std::filesystem::exists(file_)) rows_ = datasets::read_kernel_table(file_);
  for (const KernelRow& row : rows_) {
    if (row.purpose != purpose_) {
      throw InputError(file_ + " holds kernels of '" + excerpt(row.purpose) + "', expected '" + purpose_ +
                       "'; name another file, or remove it");
    }
    found_.emplace(key(row), latency_of(row));
  }
  (*this)("call", descriptor::empty_case());
}

double KernelMeasuring::operator()(const std::string& type, const nasbench::Network& network) {
  KernelRow row;
  row.kernel = type;
  row.leading = leading_operator(network);
  if (const auto found = found_.find(key(row)); found != found_.end()) return found->second;
  if (stop_requested()) {
    keep();
    throw Interrupted("stopped after " + std::to_string(count()) +
                      " kernels, which are kept; the same command goes on");
  }
  try {
    // A call alone has nothing to be taken off.
    const descriptor::IsolatedTiming timing = type == "call" ? call() : time_isolated(*runtime_, network, isolation_);
    constexpr double least_ms = 1e-4;  // less is the noise of a call
    row.latency_ms = std::max(timing.latency_ms, least_ms);
    row.deviation_ms = timing.deviation_ms;
    row.seconds = timing.seconds;
  } catch (const InputError& error) {
    row.refused = excerpt(error.what(), 120);
  }
  add(row);
  progress_.show(type + ", " + std::to_string(count()) + " kernels");
  return latency_of(row);
}

descriptor::IsolatedTiming KernelMeasuring::call() const {
  const auto prepared = runtime_->prepare(descriptor::empty_case(), isolation_.runtime);
  descriptor::IsolatedTiming timing;
  const descriptor::Timing found = descriptor::measure([&] { prepared->run(); }, {});
  timing.latency_ms = found.median_ms;
  timing.deviation_ms = found.stddev_ms;
  timing.seconds = (found.warmup_total_ms + found.loop_total_ms) / 1000;
  return timing;
}

}  // namespace tenshot::cli
