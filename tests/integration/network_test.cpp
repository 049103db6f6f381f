#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "nasbench/support/temporary_folder.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

TEST(NetworkVerb, DescribesWhatItGenerates) {
  const TemporaryFolder folder;
  const std::string out = quoted(folder.path() / "networks");
  const Outcome generated = run("tenshot network generate --count 2 --seed 5 --out " + out);
  ASSERT_EQ(generated.exit_code, 0) << generated.err;
  EXPECT_NE(generated.err.find("2 networks"), std::string::npos) << generated.err;
  const std::filesystem::path file = folder.path() / "networks" / "synthetic_cnn_5_1.onnx";
  const Outcome described = run("tenshot network describe " + quoted(file) + " --json");
  ASSERT_EQ(described.exit_code, 0) << described.err;
  const nlohmann::json json = nlohmann::json::parse(described.out);
  EXPECT_EQ(json.at("hash").get<std::string>().size(), 64U);
  EXPECT_EQ(json.at("inputs").at(0).at("shape"), (std::vector<int>{1, 3, 224, 224}));
  EXPECT_GT(json.at("total").at("multiply_adds").get<std::int64_t>(), 1'000'000);
  EXPECT_EQ(json.at("operators").at("linear").at("count"), 1);
  const Outcome text = run("tenshot network describe " + quoted(file));
  EXPECT_NE(text.out.find(json.at("hash").get<std::string>()), std::string::npos) << text.out;
}

TEST(NetworkVerb, NamesAFileThatIsNoNetwork) {
  const TemporaryFolder folder;
  const std::string file = quoted(folder.path() / "table.onnx");
  const Outcome outcome = run("echo architecture,latency_ms > " + file + "; tenshot network describe " + file);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("table.onnx"), std::string::npos) << outcome.err;
  EXPECT_EQ(run("tenshot network describe " + file + " --shape input").exit_code, 1);
  EXPECT_EQ(run("tenshot network polish").exit_code, 2);
  EXPECT_EQ(run("tenshot network generate --space ofa --out " + file).exit_code, 2);
}

}  // namespace
}  // namespace tenshot::test
