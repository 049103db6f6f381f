// The main job as a user runs it, on a made-up pool: import, train, plan, adapt, predict, evaluate, export.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "datasets/tables/measurements.h"
#include "nasbench/spaces/search_space.h"
#include "nasbench/support/numbers.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

const nasbench::SearchSpace& space = nasbench::nasbench201();

/// A folder with a trained checkpoint, made once: pool of three made-up devices, a fourth to be the new one.
class MainJob : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    datasets::write_pool(path("pool"), synthetic_pool(150));
    const auto device = synthetic_device("new", 5, 1.0, 0.01, 150, 9);
    datasets::write_measurements(path("truth.csv"), device.latencies, space);
    const Outcome trained = run("tenshot train --predictor maple-edge-plain --pool " + q("pool") +
                                " --epochs 40 --hidden 64,32 --learning-rate 0.003 --out " + q("pool.tenshot"));
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::filesystem::path path(const std::string& name) { return folder_->path() / name; }
  static std::string q(const std::string& name) { return quoted(path(name)); }

  /// Writes measured.csv: the planned rows of truth.csv.
  static void measure_plan() {
    const auto plan = datasets::read_architectures(path("plan.csv"), space).architectures;
    std::vector<datasets::Measurement> rows;
    for (const auto& row : datasets::read_measurements(path("truth.csv"), space).rows) {
      if (std::find(plan.begin(), plan.end(), row.architecture) != plan.end()) rows.push_back(row);
    }
    datasets::write_measurements(path("measured.csv"), rows, space);
  }

  static void adapted() {
    ASSERT_EQ(run("tenshot plan --checkpoint " + q("pool.tenshot") + " --out " + q("plan.csv")).exit_code, 0);
    measure_plan();
    const Outcome outcome = run("tenshot adapt --checkpoint " + q("pool.tenshot") + " --measurements " +
                                q("measured.csv") + " --out " + q("device.tenshot"));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    ASSERT_EQ(run("tenshot predict --predictor " + q("device.tenshot") + " --out " + q("predictions.csv")).exit_code,
              0);
  }

  static Folder* folder_;
};

Folder* MainJob::folder_ = nullptr;

TEST_F(MainJob, PredictsTheWholeSpaceFromTenMeasurements) {
  adapted();
  const auto predicted = datasets::read_measurements(path("predictions.csv"), space);
  EXPECT_EQ(predicted.rows.size(), 15625u);
  const Outcome evaluated = run("tenshot evaluate --predictions " + q("predictions.csv") + " --measured " +
                                q("truth.csv") + " --exclude " + q("measured.csv") + " --json");
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const auto metrics = nlohmann::json::parse(evaluated.out);
  EXPECT_GT(metrics.at("acc10").get<double>(), 0.85);
  EXPECT_GT(metrics.at("spearman").get<double>(), 0.95);
  EXPECT_LE(metrics.at("architectures").get<int>(), 140);
}

TEST_F(MainJob, GivesTheSameBytesForTheSameSeed) {
  adapted();
  const std::string adapt = "tenshot adapt --checkpoint " + q("pool.tenshot") + " --measurements " + q("measured.csv");
  ASSERT_EQ(run(adapt + " --out " + q("again.tenshot")).exit_code, 0);
  EXPECT_EQ(slurp(path("again.tenshot")), slurp(path("device.tenshot")));
  ASSERT_EQ(run(adapt + " --seed 2 --out " + q("other.tenshot")).exit_code, 0);
  EXPECT_NE(slurp(path("other.tenshot")), slurp(path("device.tenshot")));
}

TEST_F(MainJob, ResumesTrainingThatWasKilledAndEndsWithTheSameBytes) {
  const std::string train =
      "tenshot train --predictor maple-edge-plain --pool " + q("pool") + " --epochs 400 --hidden 64,32 --out ";
  ASSERT_EQ(run(train + q("straight.tenshot")).exit_code, 0);
  // Killed at once when its first state is on disk, then stopped in order once more, then left to finish.
  const std::string background = quoted(TENSHOT_PROGRAM) + " " + train.substr(8) + q("resumed.tenshot") + " & pid=$!\n";
  const Outcome killed = run(background + "while [ ! -e " + q("resumed.tenshot.partial") +
                             " ]; do sleep 0.01; done\nkill -KILL $pid; wait $pid");
  EXPECT_EQ(killed.exit_code, 137) << killed.err;
  EXPECT_FALSE(std::filesystem::exists(path("resumed.tenshot")));
  // An epoch later it has begun, however slow the machine is: the state on disk is newer than the mark.
  const std::string state = q("resumed.tenshot.partial");
  const Outcome stopped =
      run("touch " + q("mark") + "\n" + background + "while [ -e " + state + " ] && [ -z \"$(find " + state +
          " -newer " + q("mark") + ")\" ]; do sleep 0.01; done\nkill -TERM $pid; wait $pid");
  EXPECT_EQ(stopped.exit_code, 128 + 15);
  // Where the machine is too busy for an epoch within 700 ms, the program ends without a word (trainer/cli/signals.h).
  if (!stopped.err.empty()) {
    EXPECT_NE(stopped.err.find("stopped after epoch"), std::string::npos) << stopped.err;
  }
  ASSERT_EQ(run(train + q("resumed.tenshot")).exit_code, 0);
  EXPECT_EQ(slurp(path("resumed.tenshot")), slurp(path("straight.tenshot")));
  EXPECT_FALSE(std::filesystem::exists(path("resumed.tenshot.partial")));
}

TEST_F(MainJob, WritesToStandardOutputAndReadsFromStandardInput) {
  adapted();
  const Outcome outcome =
      run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 3 --out - | tenshot predict --predictor " +
          q("device.tenshot") + " --archs /dev/stdin --out -");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 4);
  EXPECT_EQ(outcome.out.rfind("architecture,latency_ms\n", 0), 0u);
}

TEST_F(MainJob, PlansFurtherSamplesAfterTheFirst) {
  adapted();
  ASSERT_EQ(run("tenshot plan --checkpoint " + q("pool.tenshot") + " --samples 5 --measurements " + q("measured.csv") +
                " --out " + q("more.csv"))
                .exit_code,
            0);
  const auto first = datasets::read_architectures(path("plan.csv"), space).architectures;
  const auto more = datasets::read_architectures(path("more.csv"), space).architectures;
  ASSERT_EQ(more.size(), 5u);
  for (const auto& architecture : more) EXPECT_EQ(std::find(first.begin(), first.end(), architecture), first.end());
}

TEST_F(MainJob, StartsFromTheDescriptorOfANewDevice) {
  datasets::Pool pool = synthetic_pool(150);
  for (std::size_t d = 0; d < pool.devices.size(); ++d) {
    describe(pool.devices[d]);
    pool.devices[d].runtime = "runtime" + std::to_string(d);
  }
  datasets::write_pool(path("described"), pool);
  auto device = synthetic_device("new", 5, 1.0, 0.01, 150, 9);
  describe(device);
  datasets::write_device(path("new"), device, space);
  device.id = "undescribed";
  device.descriptor = {};
  datasets::write_device(path("new"), device, space);
  ASSERT_EQ(run("tenshot train --pool " + q("described") + " --out " + q("described.tenshot")).exit_code, 0);

  const std::string checkpoint = " --checkpoint " + q("described.tenshot");
  const Outcome planned = run("tenshot plan" + checkpoint + " --samples 3 --descriptor " + q("new/new/device.json") +
                              " --out " + q("three.csv"));
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_EQ(datasets::read_architectures(path("three.csv"), space).architectures.size(), 3U);
  const Outcome adapted =
      run("tenshot adapt" + checkpoint + " --descriptor " + q("new/new") + " --out " + q("unmeasured.tenshot"));
  EXPECT_EQ(adapted.exit_code, 0) << adapted.err;
  EXPECT_NE(adapted.err.find("as its descriptor says"), std::string::npos) << adapted.err;
  const Outcome predicted =
      run("tenshot predict --predictor " + q("unmeasured.tenshot") + " --out " + q("unmeasured.csv"));
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_EQ(datasets::read_measurements(path("unmeasured.csv"), space).rows.size(), 15625U);

  const Outcome refused =
      run("tenshot adapt" + checkpoint + " --descriptor " + q("new/undescribed") + " --out " + q("never.tenshot"));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("in_network"), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(path("never.tenshot")));
  const Outcome other =
      run("tenshot plan" + checkpoint + " --sampler random --descriptor " + q("new/new") + " --out " + q("never.csv"));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("--descriptor is for the sampler information"), std::string::npos) << other.err;
  const Outcome unknown =
      run("tenshot train --pool " + q("described") + " --descriptor-kind counters --out " + q("x.tenshot"));
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("in-network"), std::string::npos) << unknown.err;
}

TEST_F(MainJob, ExportsADocumentWithTheSameNumbers) {
  adapted();
  ASSERT_EQ(run("tenshot export --predictor " + q("device.tenshot") + " --document " + q("device.json")).exit_code, 0);
  const auto document = nlohmann::json::parse(slurp(path("device.json")));
  // The network written out: one-hot encoding, ReLU between layers, scale, floor.
  const auto predicted = datasets::read_measurements(path("predictions.csv"), space);
  for (const std::size_t row : {0u, 777u, 15624u}) {
    std::vector<float> encoding(space.encoding_width());
    space.encode(predicted.rows[row].architecture, encoding.data());
    std::vector<double> values(encoding.begin(), encoding.end());
    const auto& layers = document.at("network").at("layers");
    for (std::size_t l = 0; l < layers.size(); ++l) {
      std::vector<double> next;
      for (std::size_t o = 0; o < layers[l].at("bias").size(); ++o) {
        double sum = layers[l].at("bias")[o];
        for (std::size_t i = 0; i < values.size(); ++i) sum += layers[l].at("weight")[o][i].get<double>() * values[i];
        next.push_back(l + 1 < layers.size() ? std::max(sum, 0.0) : sum);
      }
      values = next;
    }
    const double expected = std::max(document.at("network").at("floor_ms").get<double>(),
                                     document.at("network").at("scale_ms").get<double>() * values[0]);
    EXPECT_NEAR(predicted.rows[row].latency_ms / expected, 1, 1e-5);
  }
}

/// The first Python that imports torch, or nothing.
std::string python_with_torch() {
  const Outcome found =
      run("for p in python3 /usr/bin/python3 python; do if command -v $p >/dev/null && $p -c 'import torch' "
          "2>/dev/null; then command -v $p; exit 0; fi; done; exit 1");
  return found.exit_code == 0 ? found.out.substr(0, found.out.find('\n')) : "";
}

void expect_export_equals_predictions(const std::string& predictor, const std::string& torchscript,
                                      const std::string& predictions) {
  const std::string python = python_with_torch();
  if (python.empty()) GTEST_SKIP() << "no Python here imports torch (Debian: python3-torch)";
  ASSERT_EQ(run("tenshot export --predictor " + predictor + " --torchscript " + torchscript).exit_code, 0);
  const Outcome compared =
      run(python + " " + quoted(std::filesystem::path(TENSHOT_SOURCE_DIR) / "tests/integration/compare_export.py") +
          " " + torchscript + " " + predictions);
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
  EXPECT_NE(compared.out.find("15625 equal"), std::string::npos) << compared.out;
}

TEST_F(MainJob, ExportsTorchScriptThatPythonLoads) {
  adapted();
  expect_export_equals_predictions(q("device.tenshot"), q("device.pt"), q("predictions.csv"));
}

TEST_F(MainJob, PredictsWithIntervalsAndExplainsByStructure) {
  adapted();
  ASSERT_EQ(run("tenshot train --pool " + q("pool") + " --out " + q("structured.tenshot")).exit_code, 0);
  const Outcome outcome = run("tenshot adapt --checkpoint " + q("structured.tenshot") + " --measurements " +
                              q("measured.csv") + " --out " + q("structured-device.tenshot"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("What the runtime executes"), std::string::npos) << outcome.err;
  ASSERT_EQ(
      run("tenshot predict --predictor " + q("structured-device.tenshot") + " --out " + q("structured.csv")).exit_code,
      0);
  const Outcome evaluated = run("tenshot evaluate --predictions " + q("structured.csv") + " --measured " +
                                q("truth.csv") + " --exclude " + q("measured.csv") + " --json");
  const auto metrics = nlohmann::json::parse(evaluated.out);
  EXPECT_GT(metrics.at("acc10").get<double>(), 0.95);
  EXPECT_GT(metrics.at("coverage").get<double>(), 0.8);
  expect_export_equals_predictions(q("structured-device.tenshot"), q("structured.pt"), q("structured.csv"));
  const std::string python = python_with_torch();
  if (python.empty()) return;
  const Outcome searched =
      run(python + " " + quoted(std::filesystem::path(TENSHOT_SOURCE_DIR) / "experiments/use_from_python.py") +
          " --repeats 1 " + q("structured.pt"));
  EXPECT_EQ(searched.exit_code, 0) << searched.err;
  EXPECT_NE(searched.out.find("made up"), std::string::npos) << searched.out;  // the accuracies, and it says so
  EXPECT_NE(searched.out.find("latency_ms,accuracy,architecture\n"), std::string::npos) << searched.out;
}

TEST_F(MainJob, ExportsPeersThatPythonLoads) {
  adapted();
  for (const std::string peer : {"transfer", "forest", "look-up"}) {
    if (peer == "forest" && TENSHOT_HAS_XGBOOST == 0) continue;
    ASSERT_EQ(
        run("tenshot train --pool " + q("pool") + " --predictor " + peer + " --out " + q("p.tenshot") +
            " && tenshot adapt --quiet --checkpoint " + q("p.tenshot") + " --measurements " + q("measured.csv") +
            " --out " + q("d.tenshot") + " && tenshot predict --predictor " + q("d.tenshot") + " --out " + q("d.csv"))
            .exit_code,
        0)
        << peer;
    expect_export_equals_predictions(q("d.tenshot"), q("d.pt"), q("d.csv"));
  }
}

TEST_F(MainJob, ExportsTheNetworkTaughtBySimulatedDevices) {
  adapted();
  ASSERT_EQ(run("tenshot train --pool " + q("pool") + " --predictor maple-edge --epochs 3 --hidden 32,16 --out " +
                q("network.tenshot") + " && tenshot adapt --quiet --checkpoint " + q("network.tenshot") +
                " --measurements " + q("measured.csv") + " --out " + q("n.tenshot") +
                " && tenshot predict --predictor " + q("n.tenshot") + " --out " + q("n.csv"))
                .exit_code,
            0);
  expect_export_equals_predictions(q("n.tenshot"), q("n.pt"), q("n.csv"));
}

TEST_F(MainJob, ComparesPeersOnTheSameFiles) {
  adapted();
  for (const std::string predictor : {"maple", "flops"}) {
    const std::string options = predictor == "maple" ? " --epochs 10 --hidden 32" : "";
    ASSERT_EQ(run("tenshot train --pool " + q("pool") + " --predictor " + predictor + options + " --out " +
                  q(predictor + ".tenshot"))
                  .exit_code,
              0);
    const Outcome outcome = run("tenshot adapt --checkpoint " + q(predictor + ".tenshot") + " --measurements " +
                                q("measured.csv") + " --out " + q("peer.tenshot") + " && tenshot predict --predictor " +
                                q("peer.tenshot") + " --out - | head -3");
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 3) << outcome.err;
  }
}

TEST_F(MainJob, DescribesAndValidatesThePool) {
  const Outcome described = run("tenshot dataset describe " + q("pool") + " --json");
  ASSERT_EQ(described.exit_code, 0) << described.err;
  EXPECT_EQ(nlohmann::json::parse(described.out).at("devices").size(), 3u);
  EXPECT_EQ(run("tenshot dataset validate " + q("pool")).exit_code, 0);
}

/// The verbs as the program itself lists them, and for those that have verbs of their own, such as "dataset import",
/// these as well.
std::vector<std::string> all_verbs() {
  static const std::regex listed("^  ([a-z][a-z-]*)  +[a-z]"),
      of_its_own("^Usage: tenshot ([a-z-]+) ([a-z|-]+) \\[options\\]");
  std::vector<std::string> verbs;
  std::istringstream help(run("tenshot --help").out);
  for (std::string line; std::getline(help, line);) {
    std::smatch match;
    if (std::regex_search(line, match, listed)) verbs.push_back(match[1]);
  }
  const std::vector<std::string> first = verbs;
  for (const std::string& verb : first) {
    const std::string usage = run("tenshot " + verb + " --help").out;
    std::smatch match;
    if (!std::regex_search(usage, match, of_its_own)) continue;
    std::istringstream names(match[2]);
    for (std::string name; std::getline(names, name, '|');) verbs.push_back(verb + " " + name);
  }
  return verbs;
}

TEST(Help, OfEveryVerbShowsAnExample) {
  const std::vector<std::string> verbs = all_verbs();
  for (const char* known : {"collect", "cold", "run-network", "dataset validate", "kernels sample", "cold predict"}) {
    EXPECT_EQ(std::count(verbs.begin(), verbs.end(), known), 1) << known;
  }
  for (const std::string& verb : verbs) {
    const Outcome outcome = run("tenshot " + verb + " --help");
    EXPECT_EQ(outcome.exit_code, 0) << verb;
    EXPECT_NE(outcome.out.find("Example"), std::string::npos) << verb;
    EXPECT_NE(outcome.out.find("tenshot " + verb), std::string::npos) << verb;
  }
  EXPECT_NE(run("tenshot --version").out.find("LibTorch"), std::string::npos);
}

TEST(Collect, MeasuresThisMachineAndResumes) {
  const Folder folder;
  const std::string collect =
      "tenshot collect --runtime libtorch-eager --attempts 1 --resolution 8 --out " + quoted(folder.path());
  const Outcome first = run(collect + " --archs 2 --json");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const auto said = nlohmann::json::parse(first.out);
  EXPECT_EQ(said.at("architectures"), 2);
  EXPECT_EQ(said.at("descriptor"), "none");
  EXPECT_EQ(said.at("environment").at("complete"), true);
  const auto latencies = folder.path() / "libtorch-eager_t1_b1_r8" / "latencies.csv";
  const auto two = datasets::read_measurements(latencies, space).rows;
  ASSERT_EQ(two.size(), 2u);
  EXPECT_GE(two[0].runs, 30);
  ASSERT_EQ(run(collect + " --archs 4").exit_code, 0);
  const auto four = datasets::read_measurements(latencies, space).rows;
  ASSERT_EQ(four.size(), 4u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(four[i].architecture, two[i].architecture);
    EXPECT_EQ(four[i].latency_ms, two[i].latency_ms);  // kept, not measured again
  }
}

TEST(Collect, RunsAsOnAnOlderProcessor) {
  const Folder folder;
  const Outcome outcome =
      run("tenshot collect --runtime libtorch-optimized --attempts 1 --resolution 8 --archs 1 --isa sse4.1 --out " +
          quoted(folder.path()));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto device = datasets::read_device(folder.path() / "libtorch-optimized_t1_b1_r8_sse4.1").device;
  EXPECT_EQ(device.latencies.size(), 1u);
  EXPECT_NE(device.environment.find("\"instruction_set\":\"sse4.1\""), std::string::npos) << device.environment;
  const Outcome refused =
      run("tenshot collect --runtime libtorch-xnnpack --resolution 8 --archs 1 --isa sse4.1 --out " +
          quoted(folder.path()));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("leave the instruction set native"), std::string::npos) << refused.err;
}

TEST(Collect, KeepsWhatWasMeasuredWhenItIsKilled) {
  const Folder folder;
  const std::string collect = "tenshot collect --attempts 1 --resolution 8 --archs 60 --out " + quoted(folder.path());
  const auto latencies = folder.path() / "libtorch-eager_t1_b1_r8" / "latencies.csv";
  // Killed as soon as the first batch of twenty is there, and the batch after it is in work.
  run(quoted(TENSHOT_PROGRAM) + " collect --attempts 1 --resolution 8 --archs 60 --out " + quoted(folder.path()) +
      " & " + "until [ \"$(cat " + quoted(latencies) +
      " 2>/dev/null | wc -l)\" -gt 20 ]; do sleep 0.02; done; kill -9 $!");
  const auto before = datasets::read_measurements(latencies, space).rows;
  ASSERT_GE(before.size(), 20u);
  ASSERT_EQ(run(collect).exit_code, 0);
  const auto after = datasets::read_measurements(latencies, space).rows;
  ASSERT_EQ(after.size(), 60u);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i].latency_ms, before[i].latency_ms) << i;
}

}  // namespace
}  // namespace tenshot::test
