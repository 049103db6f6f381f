#pragma once

#include <string>

#include "datasets/kit/kit.h"
#include "nasbench/support/files.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {

/// Three architectures at a resolution and batch that keep the models small.
inline KitRequest small_request() {
  KitRequest request;
  request.space = &space();
  request.architectures = {space().at(0), space().at(4711), space().at(15000)};
  request.shape.resolution = 8;
  request.batch = 2;
  request.runs = 7;
  request.operator_runs = 9;
  return request;
}

/// A kit that was measured by a command, model number i in i + 1 ms.
class MeasuredKit {
 public:
  explicit MeasuredKit(const KitRequest& request = small_request()) {
    write_kit(path(), request);
    manifest = read_kit_manifest(path());
    put("kit.txt", "kit=" + manifest.id + "\nbackend=custom\nprecision=fp32\nthreads=1\n");
    put("before.txt", "machine=aarch64\npower_mode=MAXN\n");
    put("perf.txt", "missing=perf not found\n");
    for (std::size_t i = 0; i < manifest.models.size(); ++i) measure(i, static_cast<double>(i + 1));
  }

  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path result(std::size_t model) const { return path() / "results" / manifest.models[model].id; }

  void put(const std::string& name, const std::string& content) const {
    require_writable_target(path() / "results" / name);
    write_file_quickly(path() / "results" / name, content);
  }
  void measure(std::size_t model, double ms, const std::string& more_notes = "") const {
    const KitModel& entry = manifest.models[model];
    std::string times;
    for (int run = 0; run < 5; ++run) times += std::to_string(ms) + "\n";
    put(entry.id + "/times.txt", times);
    put(entry.id + "/meta.txt", "id=" + entry.id + "\nsha256=" + entry.sha256 + "\n" + more_notes);
  }

  KitManifest manifest;

 private:
  TemporaryFolder folder_;
};

}  // namespace tenshot::datasets
