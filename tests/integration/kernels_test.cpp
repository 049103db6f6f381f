#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/published_cnn.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporary_folder.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

class KernelsVerb : public testing::Test {
 protected:
  void SetUp() override {
    const nasbench::Network network = nasbench::published_cnn("resnet18");
    write_file_quickly(folder_.path() / "resnet18.onnx", nasbench::onnx_model(network, {}));
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
      run("tenshot kernels detect --runtime libtorch-eager --channels 4 --size 16 --rounds 5 "
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

TEST_F(KernelsVerb, SamplesTrainsAndPredicts) {
  const std::string sample = "tenshot kernels sample --runtime libtorch-eager --kind linear --initial 6 --around 1 --most 8 --out ";
  const Outcome sampled = run(sample + file("kernels.csv"));
  ASSERT_EQ(sampled.exit_code, 0) << sampled.err;
  const std::string table = slurp(folder_.path() / "kernels.csv");
  // What is there is not measured again.
  EXPECT_EQ(run(sample + file("kernels.csv")).exit_code, 0);
  EXPECT_EQ(slurp(folder_.path() / "kernels.csv"), table);
  const Outcome other = run("tenshot kernels sample --runtime libtorch-frozen --kind linear --out " + file("kernels.csv"));
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
