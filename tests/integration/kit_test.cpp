// A measurement kit from plan to predictor, on a real ONNX Runtime where one can be had.

#include "datasets/kit/kit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "datasets/kit/kit_profiles.h"
#include "datasets/kit/kit_results.h"
#include "datasets/tables/measurements.h"
#include "datasets/tables/network_sources.h"
#include "descriptor/runtimes/runtime.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/spaces/networks.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/files.h"
#include "nasbench/support/random.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

const nasbench::SearchSpace& space = nasbench::nasbench201();
const std::filesystem::path source = TENSHOT_SOURCE_DIR;

std::string checkpoint() { return quoted(source / "checkpoints" / "pool.tenshot"); }

/// Installs ONNX Runtime once a build folder; skips, with the reason, where it cannot be had.
class OnnxRuntime : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path home = std::filesystem::path(TENSHOT_PROGRAM).parent_path() / "onnxruntime";
    const Outcome installed = run(quoted(source / "experiments/shared/install_onnxruntime.sh") + " " + quoted(home));
    if (installed.exit_code == 77) GTEST_SKIP() << installed.err;
    ASSERT_EQ(installed.exit_code, 0) << installed.err;
    modules_ = home / "node_modules";
  }

  std::filesystem::path modules_;
};

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::vector<float> floats_of(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

TEST_F(OnnxRuntime, ComputesWhatLibTorchComputes) {
  constexpr int batch = 2;
  constexpr std::uint64_t seed = 5;
  const nasbench::NetworkShape shape{16, 10};
  Rng rng(1);
  std::vector<nasbench::Network> graphs;
  for (const nasbench::Operator& op : space.operators(shape, batch)) graphs.push_back(op.graph);
  for (const nasbench::OperationChain& chain : space.operation_chains(shape, batch)) graphs.push_back(chain.graph);
  for (int i = 0; i < 8; ++i) graphs.push_back(space.computation(space.random(rng), shape, batch));
  const Folder folder;
  nlohmann::json jobs = nlohmann::json::array();
  std::vector<std::vector<float>> inputs;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const std::string stem = (folder.path() / std::to_string(i)).string();
    const nasbench::Shape& shape_of_input = graphs[i].inputs.at(0).type.shape;
    inputs.emplace_back(static_cast<std::size_t>(nasbench::element_count(shape_of_input)));
    for (float& value : inputs.back()) value = static_cast<float>(rng.normal());
    write(stem + ".onnx", nasbench::onnx_model(graphs[i], {seed, "network"}));
    write(stem + ".in", bytes_of(inputs.back()));
    jobs.push_back(
        {{"model", stem + ".onnx"}, {"input", stem + ".in"}, {"output", stem + ".out"}, {"shape", shape_of_input}});
  }
  write(folder.path() / "jobs.json", jobs.dump());
  const Outcome inferred =
      run("TENSHOT_NODE_MODULES=" + quoted(modules_) + " node " +
          quoted(source / "tests" / "integration" / "infer_onnx.js") + " " + quoted(folder.path() / "jobs.json"));
  ASSERT_EQ(inferred.exit_code, 0) << inferred.err;
  const auto eager = descriptor::make_runtime("libtorch-eager");
  descriptor::RuntimeOptions options;
  options.batch = batch;
  options.weight_seed = seed;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const std::vector<float> expected = eager->prepare(graphs[i], options)->infer(inputs[i]);
    const std::vector<float> found = floats_of(slurp(folder.path() / (std::to_string(i) + ".out")));
    ASSERT_EQ(found.size(), expected.size()) << i;
    float largest = 1;
    for (const float value : expected) largest = std::max(largest, std::abs(value));
    for (std::size_t v = 0; v < found.size(); ++v) ASSERT_NEAR(found[v], expected[v], 1e-4 * largest) << i << ", " << v;
  }
}

TEST_F(OnnxRuntime, MeasuresAKitThatAdaptsTheShippedPool) {
  const Folder folder;
  const auto path = [&](const char* name) { return quoted(folder.path() / name); };
  const Outcome planned =
      run("tenshot plan --checkpoint " + checkpoint() + " --samples 4 --resolution 8 --runs 5 --out " +
          path("plan.csv") + " --kit " + path("a kit"));
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_NE(planned.err.find("40 models"), std::string::npos) << planned.err;
  const Outcome measured =
      run(path("a kit") + "/measure.sh --backend onnxruntime --no-perf --profile --runs 5 --node-modules " +
          quoted(modules_));
  ASSERT_EQ(measured.exit_code, 0) << measured.out << measured.err;
  const Outcome adapted = run("tenshot adapt --checkpoint " + checkpoint() + " --measurements " + path("a kit") +
                              " --out " + path("device.tenshot"));
  ASSERT_EQ(adapted.exit_code, 0) << adapted.err;
  EXPECT_NE(adapted.err.find("4 of 4 architectures measured, 15 operators, 18 operations inside a network"),
            std::string::npos)
      << adapted.err;
  const Outcome predicted =
      run("tenshot predict --predictor " + path("device.tenshot") + " --out " + path("predictions.csv"));
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_EQ(datasets::read_measurements(folder.path() / "predictions.csv", space).rows.size(), 15625u);
  const Outcome imported = run("tenshot dataset import --kit " + path("a kit") + " --id ort --out " + path("pool") +
                               " && tenshot dataset validate " + path("pool"));
  ASSERT_EQ(imported.exit_code, 0) << imported.out << imported.err;
  const std::string device = slurp(folder.path() / "pool" / "ort" / "device.json");
  EXPECT_NE(device.find("\"runtime\": \"onnxruntime\""), std::string::npos) << device;
  const Outcome operators = run("tenshot dataset operators --json " + path("a kit"));
  ASSERT_EQ(operators.exit_code, 0) << operators.err;
  const nlohmann::json said = nlohmann::json::parse(operators.out).at("remarks").at(0);
  EXPECT_EQ(said.at("networks"), 4);
  EXPECT_GT(said.at("matched_share").get<double>(), 0.7) << said;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "a kit/results/operators.csv"));
}

TEST_F(OnnxRuntime, MeasuresImagesOfOpenSizeSequencesAndTokens) {
  const Folder folder;
  datasets::KitRequest request;
  request.space = &nasbench::networks();
  request.runs = 100;  // of well under a millisecond: a busy machine disturbs the median of a few
  const auto add = [&](const char* name, std::map<std::string, nasbench::Shape> shapes) {
    nasbench::OnnxReadOptions options;
    options.shapes = std::move(shapes);
    const auto read = datasets::read_networks((source / "tests/kit/models" / name).string(), options);
    request.architectures.insert(request.architectures.end(), read.begin(), read.end());
  };
  add("open_size.onnx", {{"x", {1, 3, 64, 64}}});
  add("sensor_1d.onnx", {});
  add("tokens.onnx", {{"ids", {1, 24}}, {"mask", {1, 24}}});
  datasets::write_kit(folder.path() / "kit", request);
  const Outcome measured =
      run(quoted(folder.path() / "kit") + "/measure.sh --backend onnxruntime --no-perf --profile --node-modules " +
          quoted(modules_));
  ASSERT_EQ(measured.exit_code, 0) << measured.out << measured.err;
  const datasets::KitResults results = datasets::read_kit_results(folder.path() / "kit");
  ASSERT_EQ(results.latencies.size(), 3u);
  const datasets::KitProfiles profiles = datasets::read_kit_profiles(folder.path() / "kit");
  EXPECT_EQ(profiles.networks, 3u);
  EXPECT_GT(profiles.matched_ms, 0.5 * profiles.ms) << profiles.summary();
  double latency_ms = 0;
  for (const datasets::Measurement& row : results.latencies) latency_ms += row.latency_ms;
  EXPECT_LT(profiles.ms, 5 * latency_ms) << "a profile is of the same inferences, if slower";
  EXPECT_GT(profiles.ms, 0.1 * latency_ms);
}

TEST(KitOfACommand, AdaptsAndRefusesWhenStrict) {
  const Folder folder;
  const auto path = [&](const char* name) { return quoted(folder.path() / name); };
  const Outcome planned = run("tenshot plan --quiet --checkpoint " + checkpoint() +
                              " --samples 4 --resolution 8 --out " + path("plan.csv") + " --kit " + path("kit"));
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_EQ(planned.err, "");
  // Larger files take longer, which is near enough to a device's latencies.
  const Outcome measured = run(path("kit") +
                               "/measure.sh --backend custom --no-perf --command "
                               "'size=$(wc -c <{model}); for i in 1 2 3 4 5; do echo $((size / 1000)).$i; done'");
  ASSERT_EQ(measured.exit_code, 0) << measured.out << measured.err;
  const std::string adapt = "tenshot adapt --checkpoint " + checkpoint() + " --measurements " + path("kit") + " --out ";
  EXPECT_EQ(run(adapt + path("all.tenshot")).exit_code, 0);
  std::filesystem::remove_all(folder.path() / "kit" / "results" / "arch_02");
  const Outcome partial = run(adapt + path("some.tenshot"));
  EXPECT_EQ(partial.exit_code, 0) << partial.err;
  EXPECT_NE(partial.err.find("arch_02"), std::string::npos) << partial.err;
  EXPECT_NE(partial.err.find("not measured; left out"), std::string::npos) << partial.err;
  EXPECT_NE(partial.err.find("3 of 4 architectures measured"), std::string::npos) << partial.err;
  std::vector<std::filesystem::path> operators;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "kit" / "results")) {
    if (entry.path().filename().string().rfind("op_", 0) == 0) operators.push_back(entry.path());
  }
  ASSERT_GT(operators.size(), 10u);
  for (const std::filesystem::path& results : operators) std::filesystem::remove_all(results);
  const Outcome all = run(adapt + path("few.tenshot") + " --json");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_NE(all.err.find("… and "), std::string::npos) << all.err;
  std::size_t said = 0;
  const nlohmann::json outcome = nlohmann::json::parse(all.out);
  for (const nlohmann::json& remark : outcome.at("remarks")) {
    const std::string text = remark.at("text");
    said += text.find("not measured; left out") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(said, operators.size() + 1) << "programs are told of every one";
  const Outcome strict = run(adapt + path("none.tenshot") + " --strict");
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_NE(strict.err.find("--strict accepts none"), std::string::npos) << strict.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "none.tenshot"));
}

/// A kit of four architectures, measured with cold starts by a command: larger files take longer to start.
void measure_cold_kit(const Folder& folder) {
  const auto path = [&](const char* name) { return quoted(folder.path() / name); };
  ASSERT_EQ(run("tenshot plan --quiet --checkpoint " + checkpoint() + " --samples 4 --resolution 8 --out " +
                path("plan.csv") + " --kit " + path("kit"))
                .exit_code,
            0);
  const Outcome measured = run(path("kit") +
                               "/measure.sh --backend custom --no-perf --no-quantities --cold 3 "
                               "--command 'size=$(wc -c <{model}); for i in 1 2 3; do echo $((size / 1000)).$i; done' "
                               "--cold-command 'size=$(wc -c <{model}); echo $((size / 100)).5'");
  ASSERT_EQ(measured.exit_code, 0) << measured.out << measured.err;
}

TEST(KitOfACommand, ColdStartsAreMeasurementsOfTheQuantityCold) {
  const Folder folder;
  const auto path = [&](const char* name) { return quoted(folder.path() / name); };
  measure_cold_kit(folder);
  const std::string adapt = "tenshot adapt --checkpoint " + checkpoint() + " --measurements " + path("kit") + " --out ";
  const Outcome adapted = run(adapt + path("cold.tenshot") + " --quantity cold");
  ASSERT_EQ(adapted.exit_code, 0) << adapted.err;
  EXPECT_NE(adapted.err.find("4 of 4 architectures measured"), std::string::npos) << adapted.err;
  ASSERT_EQ(run(adapt + path("warm.tenshot")).exit_code, 0);
  const Outcome info = run("tenshot info " + path("cold.tenshot"));
  EXPECT_NE(info.out.find("quantity: cold"), std::string::npos) << info.out;
  ASSERT_EQ(run("tenshot export --predictor " + path("cold.tenshot") + " --document " + path("cold.json")).exit_code,
            0);
  const nlohmann::json card = nlohmann::json::parse(slurp(folder.path() / "cold.json")).at("card");
  ASSERT_EQ(card.at("adaptation_set").size(), 4U);
  std::vector<double> expected, found;  // hundredths of the models' bytes, and a half
  for (const char* id : {"arch_01", "arch_02", "arch_03", "arch_04"}) {
    const auto model = folder.path() / "kit" / "models" / (std::string(id) + ".onnx");
    expected.push_back(static_cast<double>(std::filesystem::file_size(model) / 100) + 0.5);
  }
  for (const nlohmann::json& row : card["adaptation_set"]) found.push_back(row.at("cold_ms").get<double>());
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6);
  const std::string predict = "tenshot predict --predictor " + path("cold.tenshot") + " --archs " + path("plan.csv");
  ASSERT_EQ(run(predict + " --out " + path("predictions.csv")).exit_code, 0);
  EXPECT_EQ(slurp(folder.path() / "predictions.csv").substr(0, 20), "architecture,cold_ms");
}

TEST(KitOfACommand, ColdStartsThatWereNotMeasuredAreMissedAndCanBeImported) {
  const Folder folder;
  const auto path = [&](const char* name) { return quoted(folder.path() / name); };
  measure_cold_kit(folder);
  const std::string import = "tenshot dataset import --kit " + path("kit") + " --id board --quantity cold --out ";
  const Outcome imported = run(import + path("pool"));
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "pool" / "board" / "cold.csv"));
  ASSERT_EQ(run("rm -r " + path("kit/results") + " && " + path("kit") +
                "/measure.sh --backend custom --no-perf --no-quantities --command 'echo 3; : {model}'")
                .exit_code,
            0);
  const Outcome missed = run("tenshot adapt --checkpoint " + checkpoint() + " --measurements " + path("kit") +
                             " --quantity cold --out " + path("none.tenshot"));
  EXPECT_EQ(missed.exit_code, 1);
  EXPECT_NE(missed.err.find("cold"), std::string::npos) << missed.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "none.tenshot"));
}

TEST(KitOfACommand, TakesConvertedModelsAndAToolsAverages) {
  const Folder folder;
  const auto path = [&](const char* name) { return quoted(folder.path() / name); };
  const std::string plan = "tenshot plan --checkpoint " + checkpoint() + " --samples 4 --resolution 8 --out " +
                           path("plan.csv") + " --kit " + path("kit");
  ASSERT_EQ(run(plan).exit_code, 0);
  const std::string add = "tenshot plan --kit " + path("kit") + " --converted ";
  const Outcome none = run(add + path("kit/models"));
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("holds no converted model; known suffixes are tflite"), std::string::npos) << none.err;
  ASSERT_EQ(run("mkdir " + path("tflite") + " && for i in 1 2 3 4; do cp " + path("kit") + "/models/arch_0$i.onnx " +
                path("tflite") + "/arch_0$i.tflite; done")
                .exit_code,
            0);
  const Outcome added = run(add + path("tflite"));
  ASSERT_EQ(added.exit_code, 0) << added.err;
  EXPECT_NE(
      added.err.find("36 operators and chains of the kit were not converted and will not be measured\n" +
                     (folder.path() / "kit").string() + ": 4 converted models (.tflite) written; next: copy it to"),
      std::string::npos)
      << added.err;
  const Outcome measured = run(path("kit") +
                               "/measure.sh --no-perf --no-quantities --times 'Inference (avg): %{us}' --command "
                               "'size=$(wc -c <{model}); echo Warmup \\(avg\\): 9, Inference \\(avg\\): $size >&2'");
  ASSERT_EQ(measured.exit_code, 0) << measured.out << measured.err;
  EXPECT_NE(measured.out.find("4 of 4 measured"), std::string::npos) << measured.out;
  const Outcome adapted = run("tenshot adapt --checkpoint " + checkpoint() + " --measurements " + path("kit") +
                              " --out " + path("device.tenshot"));
  ASSERT_EQ(adapted.exit_code, 0) << adapted.err;
  EXPECT_NE(adapted.err.find("4 as an average or median that the tool printed, so without a spread"), std::string::npos)
      << adapted.err;
  const std::string import = "tenshot dataset import --kit " + path("kit") + " --id phone --out " + path("pool");
  ASSERT_EQ(run(import).exit_code, 0);
  EXPECT_EQ(run(import).err.find("another --id"), std::string::npos) << "the command has a ';', and is the same";
  ASSERT_EQ(run("sed -i 's/^command=/command=nice /' " + path("kit/results/kit.txt")).exit_code, 0);
  EXPECT_NE(run(import).err.find("give another setting another --id"), std::string::npos);
  const nlohmann::json device = nlohmann::json::parse(slurp(folder.path() / "pool" / "phone" / "device.json"));
  EXPECT_EQ(device.at("environment").at("aggregated").at("measurements"), 4);
  const Outcome info = run("tenshot info " + path("kit"));
  EXPECT_NE(info.out.find("models: 40, 4 of them converted"), std::string::npos) << info.out;
  EXPECT_EQ(run("tenshot plan --converted " + path("tflite")).exit_code, 2);
  EXPECT_EQ(run("tenshot plan --kit " + path("tflite") + " --converted " + path("tflite")).exit_code, 1);
  EXPECT_EQ(run(plan + " --converted " + path("tflite")).exit_code, 0) << "a plan and its converted models at once";
}

TEST(KitOfACommand, BadUseIsExplained) {
  const Folder folder;
  const auto path = [&](const char* name) { return quoted(folder.path() / name); };
  const std::string plan = "tenshot plan --checkpoint " + checkpoint() + " --samples 2 --out " + path("plan.csv");
  EXPECT_EQ(run(plan + " --batch 8").exit_code, 2);
  EXPECT_EQ(run(plan + " --kit " + path("kit") + " --batch 0").exit_code, 2);
  EXPECT_EQ(run(plan + " --kit " + path("kit") + " --resolution 7").exit_code, 1);
  std::filesystem::create_directories(folder.path() / "full");
  write(folder.path() / "full" / "file", "mine");
  const Outcome full = run(plan + " --kit " + path("full"));
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_NE(full.err.find("not empty"), std::string::npos) << full.err;
  ASSERT_EQ(run(plan + " --kit " + path("unmeasured") + " --resolution 8").exit_code, 0);
  const Outcome unmeasured = run("tenshot adapt --checkpoint " + checkpoint() + " --measurements " +
                                 path("unmeasured") + " --out " + path("device.tenshot"));
  EXPECT_EQ(unmeasured.exit_code, 1);
  EXPECT_NE(unmeasured.err.find("run measure.sh"), std::string::npos) << unmeasured.err;
  const Outcome none = run("tenshot dataset import --kit " + path("full") + " --out " + path("pool"));
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("is no kit"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace tenshot::test
