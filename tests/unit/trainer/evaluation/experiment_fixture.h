#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "datasets/pool/pool.h"
#include "nasbench/support/files.h"
#include "tests/unit/trainer/fixtures.h"
#include "trainer/evaluation/experiment.h"
#include "trainer/evaluation/grid.h"
#include "trainer/evaluation/spec.h"

namespace tenshot::trainer::evaluation {

/// A folder with a made-up pool of three device-runtimes of two runtimes.
class ExperimentTest : public ::testing::Test {
 protected:
  ExperimentTest() {
    datasets::Pool pool = test::synthetic_pool(140);
    pool.devices[0].runtime = pool.devices[1].runtime = "one";
    pool.devices[2].runtime = "another";
    datasets::write_pool(folder_.path() / "pool", pool);
  }

  ExperimentSpec spec(const std::string& patch = "{}") const {
    nlohmann::json document = {{"format", "tenshot.experiment/1"},
                               {"name", "made-up"},
                               {"data", {{"pool", (folder_.path() / "pool").string()}}},
                               {"split", {{"train", "0:80"}, {"test", "80:140"}}},
                               {"targets", {"*"}},
                               {"pools", {"others"}},
                               {"samplers", {"targeted-uniform"}},
                               {"samples", {10}},
                               {"methods", {"flops", "look-up", "additive"}},
                               {"trials", 2}};
    document.merge_patch(nlohmann::json::parse(patch));
    return parse_spec(document.dump(), "spec.json", false);
  }
  ExperimentOptions into(const std::string& name) const {
    ExperimentOptions options;
    options.out = folder_.path() / name;
    return options;
  }
  std::string file(const std::string& path) const { return read_file(folder_.path() / path); }

  test::Folder folder_;
};

}  // namespace tenshot::trainer::evaluation
