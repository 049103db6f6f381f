#include "datasets/collect/collect_batches.h"

#include <chrono>
#include <cmath>
#include <thread>

#include "nasbench/support/elapsed.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {
namespace {

using nlohmann::json;

double lower_quartile(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 4];
}

json rows_to_json(const std::vector<Measurement>& rows) {
  json list = json::array();
  for (const Measurement& row : rows) {  // a sentinel that is NaN is written as null
    list.push_back({row.latency_ms, row.stddev_ms, row.runs, row.sentinel_ms});
  }
  return list;
}

std::vector<Measurement> rows_from_json(const json& list, const std::vector<Architecture>& batch) {
  std::vector<Measurement> rows;
  for (const json& entry : list) {
    Measurement row;
    row.architecture = batch.at(rows.size());
    row.latency_ms = entry.at(0);
    row.stddev_ms = entry.at(1);
    row.runs = entry.at(2);
    row.sentinel_ms = entry.at(3).is_null() ? std::numeric_limits<double>::quiet_NaN() : entry.at(3).get<double>();
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::function<descriptor::Contention()> watched_machine() {
  return [watch = std::make_shared<descriptor::ContentionWatch>()] { return watch->since(); };
}

CollectBatches::CollectBatches(const CollectOptions& options, const NetworkSpace& space,
                               const descriptor::Runtime& runtime, CollectRecord& record, CollectJournal& journal)
    : options_(options),
      record_(record),
      journal_(journal),
      timer_(options, space, runtime, record),
      patience_s_(options.patience_s) {}

void CollectBatches::judge_by(std::vector<double> sentinels_ms) {
  const auto unknown = std::remove_if(sentinels_ms.begin(), sentinels_ms.end(), [](double v) { return std::isnan(v); });
  sentinels_ms.erase(unknown, sentinels_ms.end());
  if (!sentinels_ms.empty()) undisturbed_ms_ = lower_quartile(std::move(sentinels_ms));
}

bool CollectBatches::steady(double sentinel_ms) {
  double usual_ms = undisturbed_ms_;
  if (std::isnan(usual_ms)) {
    looks_ms_.push_back(sentinel_ms);
    usual_ms = lower_quartile(looks_ms_);
  }
  return sentinel_ms <= (1 + options_.sentinel_tolerance) * usual_ms;
}

bool CollectBatches::patient(double spent_s) {
  if (patience_s_ <= 0) return false;
  patience_s_ -= spent_s;
  return true;
}

double CollectBatches::moved(double sentinel_ms) const {
  if (std::isnan(sentinel_ms)) return std::numeric_limits<double>::infinity();
  return std::isnan(undisturbed_ms_) ? 0 : std::abs(sentinel_ms / undisturbed_ms_ - 1);
}

std::string CollectBatches::complaint(const Measurement& row) const {
  if (std::isnan(row.sentinel_ms)) return "others used the processor";
  return "the sentinel moved by " + shortest(std::round(1000 * moved(row)) / 10) + " %";
}

bool CollectBatches::wait_until_settled(const std::function<void()>& step) {
  if (options_.patience_s == 0) return true;
  while (moved(timer_.sentinel_ms()) > options_.sentinel_tolerance) {
    if (patience_s_ <= 0) return false;
    const Clock::time_point start = Clock::now();
    step();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    patience_s_ -= seconds_since(start);
  }
  return true;
}

std::vector<Measurement> CollectBatches::measure(const std::vector<Architecture>& batch,
                                                 const std::function<bool(std::size_t)>& go_on) {
  timer_.prepare_sentinel();
  const auto contention = options_.watch_contention ? options_.watch_contention() : nullptr;
  std::vector<Measurement> rows;
  double sentinel_ms = 0;
  if (options_.timing.rounds > 1) {
    const descriptor::MachineWatch watch = {
        {}, [this](double took_ms) { return steady(took_ms); }, [this](double spent_s) { return patient(spent_s); }};
    const descriptor::TurnJournal journal = {
        journal_.turn(batch), [&](const descriptor::TurnProgress& done) { journal_.keep_turn(batch, done); }};
    rows = timer_.in_turn(
        batch, watch, [&] { return go_on(0); }, journal);
    if (rows.empty()) return {};
    sentinel_ms = rows.front().sentinel_ms;
    go_on(batch.size());
  } else {
    rows = journal_.rows(batch);
    while (rows.size() < batch.size()) {
      rows.push_back(timer_.architecture(batch[rows.size()]));
      journal_.keep_rows(batch, rows);
      if (!go_on(rows.size())) break;
    }
    sentinel_ms = timer_.sentinel_ms();
  }
  record_.sentinel_ms.push_back(sentinel_ms);
  if (contention) {
    const descriptor::Contention seen = contention();
    record_.contention = record_.contention ? *record_.contention + seen : seen;
    if (descriptor::contended(seen)) sentinel_ms = std::numeric_limits<double>::quiet_NaN();
  }
  for (Measurement& row : rows) row.sentinel_ms = sentinel_ms;
  return rows;
}

CollectJournal::CollectJournal(std::filesystem::path file, const NetworkSpace& space)
    : file_(std::move(file)), space_(space) {
  try {
    if (std::filesystem::exists(file_)) content_ = parse_json(read_file(file_), file_.string());
  } catch (const FormatError&) {
  }
  if (!content_.is_object()) content_ = json::object();
}

std::vector<Measurement> CollectJournal::rows(const std::vector<Architecture>& batch) const {
  if (!in_work(batch, "rows")) return {};
  try {
    return rows_from_json(content_.at("rows"), batch);
  } catch (const std::exception&) {
    return {};
  }
}

void CollectJournal::keep_rows(const std::vector<Architecture>& batch, const std::vector<Measurement>& rows) {
  content_["batch"] = names(batch);
  content_["rows"] = rows_to_json(rows);
  save();
}

std::optional<descriptor::TurnProgress> CollectJournal::turn(const std::vector<Architecture>& batch) const {
  if (!in_work(batch, "turn")) return std::nullopt;
  try {
    const json& turn = content_.at("turn");
    descriptor::TurnProgress progress;
    turn.at("run_times_ms").get_to(progress.run_times_ms);
    turn.at("loop_ms").get_to(progress.loop_ms);
    turn.at("sentinels_ms").get_to(progress.sentinels_ms);
    for (const json& visit : turn.at("left")) {
      progress.left.push_back({visit.at(0), visit.at(1), visit.at(2)});
      if (progress.left.back().begin > progress.left.back().end || progress.left.back().end > batch.size()) return {};
    }
    if (progress.run_times_ms.size() != batch.size() || progress.loop_ms.size() != batch.size()) return {};
    return progress;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void CollectJournal::keep_turn(const std::vector<Architecture>& batch, const descriptor::TurnProgress& progress) {
  json left = json::array();
  for (const descriptor::TurnVisit& visit : progress.left) left.push_back({visit.begin, visit.end, visit.runs});
  content_["batch"] = names(batch);
  content_["turn"] = {{"run_times_ms", progress.run_times_ms},
                      {"loop_ms", progress.loop_ms},
                      {"sentinels_ms", progress.sentinels_ms},
                      {"left", left}};
  save();
}

void CollectJournal::forget_batch() {
  for (const char* key : {"batch", "rows", "turn"}) content_.erase(key);
  content_.empty() ? forget() : save();
}

std::optional<std::vector<Measurement>> CollectJournal::repeated(const std::vector<Architecture>& batch) const {
  try {
    for (const json& entry : content_.value("repeated", json::array())) {
      if (entry.at("batch") == names(batch) && entry.at("rows").size() == batch.size()) {
        return rows_from_json(entry.at("rows"), batch);
      }
    }
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

void CollectJournal::keep_repeated(const std::vector<Architecture>& batch, const std::vector<Measurement>& rows) {
  content_["repeated"].push_back({{"batch", names(batch)}, {"rows", rows_to_json(rows)}});
  save();
}

void CollectJournal::forget() {
  content_ = json::object();
  std::filesystem::remove(file_);
}

json CollectJournal::names(const std::vector<Architecture>& batch) const {
  json list = json::array();
  for (const Architecture& architecture : batch) list.push_back(space_.format(architecture));
  return list;
}

bool CollectJournal::in_work(const std::vector<Architecture>& batch, const char* key) const {
  return content_.contains(key) && content_.contains("batch") && content_.at("batch") == names(batch);
}

void CollectJournal::save() const { write_file_quickly(file_, content_.dump()); }

}  // namespace tenshot::datasets
