#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "experiments/kernels/published_cnn.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

class KernelsVerb : public testing::Test {
 protected:
  void SetUp() override {
    const nasbench::Network network = experiments::published_cnn("resnet18");
    write_file_quickly(folder_.path() / "resnet18.onnx", nasbench::onnx_model(network, {}));
    nasbench::NetworkBuilder b;
    const auto image = b.input("input", {1, 2, 8, 8});
    b.output(b.activation("relu", b.convolution("conv", image, 8, {nasbench::same_window(3)}), "relu"));
    write_file_quickly(folder_.path() / "small.onnx", nasbench::onnx_model(b.take(), {}));
  }
  std::string file(const std::string& name) const { return quoted(folder_.path() / name); }

  TemporaryFolder folder_;
};

TEST_F(KernelsVerb, FindsThePapersKernelsOfResNet18) {
  const Outcome found = run("tenshot kernels find --rules activation-add --json " + file("resnet18.onnx"));
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const nlohmann::json json = nlohmann::json::parse(found.out);
  // Zhang et al., MobiSys 2021, Table 4, GPU.
  EXPECT_EQ(json.at("count"), 23);
  EXPECT_EQ(json.at("kinds").at("convolution++batch_norm++add++relu"), 8);
  EXPECT_EQ(json.at("kinds").at("convolution++batch_norm"), 3);
  EXPECT_EQ(json.at("kernels").at(0).at("operators").size(), 3U);
  const Outcome text = run("tenshot kernels find --rules none " + file("resnet18.onnx"));
  EXPECT_NE(text.out.find("68 kernels of 68 operators"), std::string::npos) << text.out;
}

TEST_F(KernelsVerb, ReadsRulesOfAFileAndNamesWhatIsWrongWithThem) {
  const auto rules = [&](const std::string& pairs) {
    write_file_quickly(folder_.path() / "rules.json", R"({"format": "tenshot.fusion/1", )" + pairs + "}");
    return run("tenshot kernels find --rules " + file("rules.json") + " " + file("resnet18.onnx"));
  };
  const Outcome fine = rules(R"("pairs": [["convolution", "batch_norm"]])");
  EXPECT_EQ(fine.exit_code, 0) << fine.err;
  EXPECT_NE(fine.out.find("20\tconvolution++batch_norm"), std::string::npos) << fine.out;
  const Outcome unknown = rules(R"("pairs": [["convolution", "warp"]])");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("rules.json: pairs[0][1] is \"warp\""), std::string::npos) << unknown.err;
  const Outcome cycle = rules(R"("groups": {"a": ["b"], "b": ["a"]}, "pairs": [])");
  EXPECT_EQ(cycle.exit_code, 1);
  EXPECT_NE(cycle.err.find("without a cycle"), std::string::npos) << cycle.err;
}

TEST_F(KernelsVerb, DetectsRulesThatFindReads) {
  const Outcome detected =
      run("tenshot kernels detect --runtime libtorch-eager --channels 4 --size 16 --rounds 8 "
          "--operators relu,batch_norm,add --out " +
          file("rules.json"));
  ASSERT_EQ(detected.exit_code, 0) << detected.err;
  const nlohmann::json rules = nlohmann::json::parse(slurp(folder_.path() / "rules.json"));
  EXPECT_EQ(rules.at("format"), "tenshot.fusion/1");
  EXPECT_EQ(rules.at("evidence").size(), 9U);
  EXPECT_EQ(rules.at("name"), "libtorch-eager");
  const Outcome found = run("tenshot kernels find --rules " + file("rules.json") + " " + file("resnet18.onnx"));
  EXPECT_EQ(found.exit_code, 0) << found.err;
  const Outcome described = run("tenshot info " + file("rules.json"));
  EXPECT_NE(described.out.find("tenshot.fusion/1"), std::string::npos) << described.out;
}

/// What a made-up board takes, on which a convolution takes the activation, the normalisation and the addition behind
/// it for nothing, at a fork and a join with its first branch. `parts`: the name of a network, taken apart.
double made_up_ms(std::vector<std::string> parts) {
  const std::map<std::string, double> costs = {{"convolution", 2},  {"depthwise_convolution", 1.5},
                                               {"max_pool", 1.2},   {"average_pool", 1.1},
                                               {"batch_norm", 0.5}, {"relu", 0.4},
                                               {"hard_swish", 0.6}, {"sigmoid", 0.7},
                                               {"add", 0.45},       {"multiply", 0.55}};
  const auto fuses = [](const std::string& first, const std::string& second) {
    const bool convolves = first == "convolution" || first == "depthwise_convolution";
    return convolves && (second == "relu" || second == "batch_norm" || second == "add");
  };
  constexpr double call_ms = 0.3, fence_ms = 0.2;
  const bool together = parts.back() == "together";
  parts.pop_back();
  if (parts.size() == 1) return call_ms + fence_ms + 6 * (fence_ms + (together ? 0 : costs.at(parts[0])));
  double sum = 2 * fence_ms, saved = 0;
  for (const std::string& part : parts) sum += costs.count(part) == 0 ? 0 : costs.at(part);
  if (parts[1] == "fork") {
    if (fuses(parts[0], parts[2])) saved = costs.at(parts[2]);
  } else if (parts.size() == 4) {
    if (fuses(parts[0], parts[3])) saved = costs.at(parts[3]);
  } else {
    if (fuses(parts[0], parts[1])) saved = costs.at(parts[1]);
    sum *= 6;
    saved *= 6;
  }
  return call_ms + sum - (together ? saved : 0);
}

std::vector<std::string> parts_of(std::string name) {
  std::vector<std::string> parts;
  for (std::size_t at = name.find("__"); at != std::string::npos; at = name.find("__")) {
    parts.push_back(name.substr(0, at));
    name.erase(0, at + 2);
  }
  parts.push_back(name);
  return parts;
}

TEST_F(KernelsVerb, DetectsWhatABoardFusesByAKit) {
  const Outcome planned = run("tenshot plan --fusion --resolution 8 --runs 100 --kit " + file("kit"));
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const std::string detect = "tenshot kernels detect --kit " + file("kit") + " --out " + file("rules.json");
  EXPECT_EQ(run(detect).exit_code, 1);  // not measured yet
  const nlohmann::json manifest = nlohmann::json::parse(slurp(folder_.path() / "kit/manifest.json"));
  EXPECT_EQ(manifest.at("models").size(), 492U);
  std::filesystem::create_directory(folder_.path() / "kit/results");
  write_file_quickly(folder_.path() / "kit/results/kit.txt", "backend=custom\n");
  for (const nlohmann::json& model : manifest.at("models")) {
    const std::filesystem::path results = folder_.path() / "kit/results" / model.at("id").get<std::string>();
    std::filesystem::create_directory(results);
    write_file_quickly(results / "meta.txt", "sha256=" + model.at("sha256").get<std::string>() + "\n");
    const double ms = made_up_ms(parts_of(model.at("architecture")));
    std::string times;
    for (int i = 0; i < 100; ++i) times += std::to_string(ms * (1 + 0.0001 * (i % 7))) + "\n";
    write_file_quickly(results / "times.txt", times);
  }
  const Outcome detected = run(detect);
  ASSERT_EQ(detected.exit_code, 0) << detected.err;
  const Outcome adapted = run("tenshot adapt --measurements " + file("kit") + " --out " + file("board.tenshot"));
  EXPECT_EQ(adapted.exit_code, 1);
  EXPECT_NE(adapted.err.find("is a kit of test cases"), std::string::npos) << adapted.err;
  const nlohmann::json rules = nlohmann::json::parse(slurp(folder_.path() / "rules.json"));
  const auto expected = nlohmann::json::parse(
      R"([["convolution", "add"], ["convolution", "batch_norm"], ["convolution", "relu"],
          ["depthwise_convolution", "add"], ["depthwise_convolution", "batch_norm"],
          ["depthwise_convolution", "relu"]])");
  EXPECT_EQ(rules.at("pairs"), expected);
  EXPECT_EQ(rules.at("multi_inbound"), "first");
  EXPECT_EQ(rules.at("multi_outbound"), "first");
  EXPECT_EQ(run("tenshot kernels find --rules " + file("rules.json") + " " + file("resnet18.onnx")).exit_code, 0);
}

TEST_F(KernelsVerb, OfAKitWithoutTestCasesNothingIsDetected) {
  const Outcome none = run("tenshot kernels detect --kit " + quoted(folder_.path()) + " --out " + file("rules.json"));
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("--fusion writes one"), std::string::npos) << none.err;
  EXPECT_EQ(run("tenshot kernels detect --kit k --runtime libtorch-eager --out " + file("rules.json")).exit_code, 2);
  EXPECT_EQ(run("tenshot plan --fusion --kit " + file("kit") + " --out " + file("plan.csv")).exit_code, 2);
  EXPECT_EQ(run("tenshot plan --fusion").exit_code, 2);
}

TEST_F(KernelsVerb, SamplesTrainsAndPredicts) {
  const std::string sample =
      "tenshot kernels sample --runtime libtorch-eager --kind linear --initial 6 --around 1 --most 8 --out ";
  const Outcome sampled = run(sample + file("kernels.csv"));
  ASSERT_EQ(sampled.exit_code, 0) << sampled.err;
  const std::string table = slurp(folder_.path() / "kernels.csv");
  // What is there is not measured again.
  EXPECT_EQ(run(sample + file("kernels.csv")).exit_code, 0);
  EXPECT_EQ(slurp(folder_.path() / "kernels.csv"), table);
  const Outcome other =
      run("tenshot kernels sample --runtime libtorch-frozen --kind linear --out " + file("kernels.csv"));
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_NE(other.err.find("name another file"), std::string::npos) << other.err;
  const Outcome trained =
      run("tenshot kernels train --kernels " + file("kernels.csv") + " --out " + file("device.tenshot"));
  if (trained.exit_code != 0) {
    EXPECT_NE(trained.err.find("XGBoost"), std::string::npos) << trained.err;
    return;
  }
  const Outcome predicted = run("tenshot predict --predictor " + file("device.tenshot") + " " + file("resnet18.onnx"));
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_NE(predicted.out.find(" ms"), std::string::npos) << predicted.out;
  EXPECT_NE(predicted.err.find("convolution"), std::string::npos) << predicted.err;  // no such kernel was measured
}

TEST_F(KernelsVerb, MeasuresAGridAndPredictsByIt) {
  const std::string grid =
      "tenshot kernels grid --runtime libtorch-eager --kind convolution --image 4,8 --channels 2,8 --window 1,3 "
      "--stride 1 --kernels " +
      file("grid.csv") + " --out " + file("grid.tenshot");
  const Outcome made = run(grid + " --json");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string table = slurp(folder_.path() / "grid.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 1 + 2 * 2 * 2 * 2);  // header, call, points
  EXPECT_NE(table.find(",grid of libtorch-eager at 1 threads,"), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(made.out);
  EXPECT_EQ(json.at("samples"), 16);
  EXPECT_EQ(json.at("kernels").at(0).at("kernel"), "convolution");
  EXPECT_GT(json.at("kernels").at(0).at("held_out_error"), 0);
  // What is there is not measured again, and gives the same predictor; a point that is missing is measured.
  const std::string predictor = slurp(folder_.path() / "grid.tenshot");
  ASSERT_EQ(run(grid).exit_code, 0);
  EXPECT_EQ(slurp(folder_.path() / "grid.csv"), table);
  EXPECT_EQ(slurp(folder_.path() / "grid.tenshot"), predictor);
  ASSERT_EQ(run("head -9 " + file("grid.csv") + " >" + file("part") + " && mv " + file("part") + " " + file("grid.csv"))
                .exit_code,
            0);
  ASSERT_EQ(run(grid).exit_code, 0);
  const std::string again = slurp(folder_.path() / "grid.csv");
  EXPECT_EQ(std::count(again.begin(), again.end(), '\n'), 18);
  EXPECT_EQ(again.substr(0, 200), table.substr(0, 200));
  const Outcome predicted =
      run("tenshot predict --json --predictor " + file("grid.tenshot") + " " + file("small.onnx"));
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  const nlohmann::json row = nlohmann::json::parse(predicted.out).at("predictions").at(0);
  EXPECT_LT(row.at("lower_ms"), row.at("latency_ms"));
  EXPECT_GT(row.at("upper_ms"), row.at("latency_ms"));
  // Holes are filled and said; what is no grid is refused.
  ASSERT_EQ(run("sed -i 5d " + file("grid.csv")).exit_code, 0);
  const std::string as_it_is = "tenshot kernels grid --kernels " + file("grid.csv") + " --out " + file("g.tenshot");
  const Outcome hole = run(as_it_is);
  ASSERT_EQ(hole.exit_code, 0) << hole.err;
  EXPECT_NE(hole.err.find("convolution: 1 of 16 points of the grid were not measured"), std::string::npos) << hole.err;
  ASSERT_EQ(run("sed -i 4,14d " + file("grid.csv")).exit_code, 0);
  const Outcome no_grid = run(as_it_is);
  EXPECT_EQ(no_grid.exit_code, 1);
  EXPECT_NE(no_grid.err.find("are no grid: "), std::string::npos) << no_grid.err;
  EXPECT_EQ(run("tenshot kernels grid --runtime libtorch-eager --image 7,x --kernels k.csv --out g").exit_code, 2);
}

/// Measured here: twelve convolutions, twelve additions, and six networks.
TEST_F(KernelsVerb, EachLearnerTrainsPredictsEvaluatesAndExports) {
  const std::string kernels = file("kernels.csv"), device = file("device.tenshot");
  ASSERT_EQ(run("tenshot kernels sample --runtime libtorch-eager --kind conv,add --initial 12 --around 1 --most 14 "
                "--out " +
                kernels)
                .exit_code,
            0);
  ASSERT_EQ(run("tenshot network generate --space synthetic-cnn --count 6 --seed 3 --out " + file("zoo")).exit_code, 0);
  ASSERT_EQ(run("tenshot collect --runtime libtorch-eager --networks " + file("zoo") +
                " --runs 5 --attempts 1 --patience 0 --out " + file("pool"))
                .exit_code,
            0);
  ASSERT_EQ(run("head -5 " + file("pool/libtorch-eager_t1_b1/latencies.csv") + " >" + file("four.csv")).exit_code, 0);
  const std::string measured = " --networks " + file("zoo") + " --measurements " + file("four.csv");
  for (const std::string learner : {"lasso", "perceptron", "forest", "small-forest", "boosted", "small-boosted"}) {
    const Outcome trained = run("tenshot kernels train --json --learner " + learner + measured + " --kernels " +
                                kernels + " --out " + device);
    if (trained.exit_code != 0 && learner != "lasso" && learner != "perceptron") {
      EXPECT_NE(trained.err.find("XGBoost"), std::string::npos) << trained.err;
      continue;
    }
    ASSERT_EQ(trained.exit_code, 0) << learner << ": " << trained.err;
    EXPECT_NE(trained.out.find("nine of ten networks that were held out"), std::string::npos) << trained.out;
    const Outcome evaluated = run("tenshot evaluate --json --predictor " + device + " --networks " + file("zoo") +
                                  " --measurements " + file("pool/libtorch-eager_t1_b1/latencies.csv"));
    ASSERT_EQ(evaluated.exit_code, 0) << learner << ": " << evaluated.err;
    EXPECT_EQ(nlohmann::json::parse(evaluated.out).at("architectures"), 2);  // without the four that it was fitted to
    const std::string document = file("device.json");
    EXPECT_EQ(run("tenshot export --predictor " + device + " --document " + document).exit_code, 0) << learner;
    const nlohmann::json exported = nlohmann::json::parse(slurp(folder_.path() / "device.json"));
    EXPECT_EQ(exported.at("held_out_errors").size(), 4U);
    EXPECT_EQ(run("tenshot export --predictor " + device + " --onnx " + file("device.onnx")).exit_code, 0) << learner;
  }
  const Outcome none = run("tenshot kernels train --learner oracle --kernels " + kernels + " --out " + device);
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("there are: forest, small-forest, boosted, small-boosted, lasso"), std::string::npos)
      << none.err;
  // A kind without rows is named, and the interval is wider than that of what was measured.
  const Outcome predicted = run("tenshot predict --predictor " + device + " " + file("small.onnx"));
  EXPECT_NE(predicted.err.find("relu"), std::string::npos) << predicted.err;
  EXPECT_NE(predicted.err.find("the interval is wider"), std::string::npos) << predicted.err;
}

TEST_F(KernelsVerb, DeducesWhatMobileRuntimesTake) {
  const std::string deduce = "tenshot kernels deduce --runtime ";
  const Outcome rules = run(deduce + "tflite-gpu --gpu mali");
  ASSERT_EQ(rules.exit_code, 0) << rules.err;
  EXPECT_EQ(nlohmann::json::parse(rules.out).at("name"), "tflite-gpu-mali");
  const Outcome found =
      run(deduce + "pytorch-vulkan --json --out " + file("vulkan.json") + " " + file("resnet18.onnx"));
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const nlohmann::json kinds = nlohmann::json::parse(found.out).at("kinds");
  // ResNet-18: 17 convolutions of 7×7 and 3×3, three of 1×1; a ReLU joins nine of them, and eight additions.
  EXPECT_EQ(kinds.at("conv2d++batch_norm++relu"), 9);
  EXPECT_EQ(kinds.at("conv2d_pw++batch_norm"), 3);
  EXPECT_EQ(kinds.at("add++relu"), 8);
  const Outcome same = run("tenshot kernels find --json --rules " + file("vulkan.json") + " " + file("resnet18.onnx"));
  EXPECT_EQ(nlohmann::json::parse(same.out).at("kinds"), kinds);
  EXPECT_EQ(run(deduce + "tflite-gpu").exit_code, 2);
  EXPECT_EQ(run(deduce + "tflite-gpu --gpu voodoo").exit_code, 2);
  EXPECT_EQ(run(deduce + "pytorch-vulkan --gpu mali").exit_code, 2);
  EXPECT_EQ(run(deduce + "libtorch-eager").exit_code, 2);
  write_file_quickly(folder_.path() / "rules.json",
                     R"({"format": "tenshot.fusion/1", "pairs": [], "kernels": [{"kernel": "a", "when": {"groups": 1}},
                         {"kernel": "b", "when": {"groups": 1}}]})");
  const Outcome torn = run("tenshot kernels find --rules " + file("rules.json") + " " + file("resnet18.onnx"));
  EXPECT_EQ(torn.exit_code, 1);
  EXPECT_NE(torn.err.find("kernels[0] and kernels[1] contradict each other"), std::string::npos) << torn.err;
}

TEST_F(KernelsVerb, ATableOfTwoRuntimesIsRefused) {
  const std::string header = "kernel,operation,inputs,output,window,stride,dilation,groups,purpose,latency_ms\n",
                    row = "linear,linear,1x8,1x8,1x1,1x1,1x1,1,";
  write_file_quickly(folder_.path() / "two.csv", header + row + "sample of libtorch-eager at 1 threads,2\n" + row +
                                                     "grid of opencv-dnn at 1 threads,3\n");
  const Outcome two = run("tenshot kernels train --learner lasso --kernels " + file("two.csv") + " --out " + file("d"));
  EXPECT_EQ(two.exit_code, 1);
  EXPECT_NE(two.err.find("two.csv holds kernels of 'libtorch-eager at 1 threads' and of 'opencv-dnn at 1 threads'"),
            std::string::npos)
      << two.err;
}

TEST_F(KernelsVerb, BadTablesOfKernelsAreNamed) {
  write_file_quickly(folder_.path() / "bad.csv",
                     "kernel,operation,inputs,output,window,stride,dilation,groups,latency_ms\n"
                     "linear,linear,1x8,1x8,1x1,1x1,1x1,1,-3\n");
  const Outcome bad = run("tenshot kernels train --kernels " + file("bad.csv") + " --out " + file("d.tenshot"));
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.err.find("bad.csv:2: column 'latency_ms': '-3'"), std::string::npos) << bad.err;
  EXPECT_EQ(run("tenshot kernels sample --runtime libtorch-eager --kind warp --out " + file("k.csv")).exit_code, 1);
  EXPECT_EQ(run("tenshot kernels sample --out " + file("k.csv")).exit_code, 2);
  EXPECT_EQ(run("tenshot kernels sample --runtime libtorch-eager --threshold 0 --out " + file("k.csv")).exit_code, 2);
  EXPECT_EQ(run("tenshot kernels train --out " + file("d.tenshot")).exit_code, 2);
}

TEST_F(KernelsVerb, UsageErrorsAreTwo) {
  EXPECT_EQ(run("tenshot kernels").exit_code, 2);
  EXPECT_EQ(run("tenshot kernels lose").exit_code, 2);
  EXPECT_EQ(run("tenshot kernels find " + file("resnet18.onnx")).exit_code, 2);
  EXPECT_EQ(run("tenshot kernels find --rules none").exit_code, 2);
  EXPECT_EQ(run("tenshot kernels find --rules nobodys " + file("resnet18.onnx")).exit_code, 1);
  EXPECT_EQ(run("tenshot kernels detect --out x.json").exit_code, 2);
  EXPECT_EQ(run("tenshot kernels detect --runtime libtorch-eager --alpha 2 --out x.json").exit_code, 2);
  EXPECT_EQ(run("tenshot kernels detect --runtime abacus --out x.json").exit_code, 1);
  EXPECT_EQ(run("tenshot kernels --help").exit_code, 0);
}

}  // namespace
}  // namespace tenshot::test
