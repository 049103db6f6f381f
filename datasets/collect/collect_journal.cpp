#include "datasets/collect/collect_journal.h"

#include <cmath>
#include <limits>
#include <utility>

#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"

namespace tenshot::datasets {
namespace {

using nlohmann::json;

json rows_to_json(const std::vector<Measurement>& rows) {
  json list = json::array();
  for (const Measurement& row : rows) {
    const json sentinel = std::isnan(row.sentinel_ms) ? json() : json(row.sentinel_ms);
    list.push_back({row.latency_ms, row.stddev_ms, row.runs, sentinel});
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
  if (content_.empty()) {
    forget();
  } else {
    save();
  }
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
