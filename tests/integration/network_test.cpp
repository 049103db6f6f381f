#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/support/temporaries.h"
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

TEST(NetworkVerb, DescribesFilesOfEachFormat) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "net.param";
  write(file, "7767517\n2 2\nInput data 0 1 data 0=8 1=8 2=3\nConvolution c 1 1 data y 0=4 1=3 4=1 5=1 6=108\n");
  const Outcome described = run("tenshot network describe " + quoted(file) + " --json");
  ASSERT_EQ(described.exit_code, 0) << described.err;
  EXPECT_EQ(nlohmann::json::parse(described.out).at("total").at("multiply_adds"), 4 * 64 * 27);
  write(file, "7767517\n1 1\nInput data 0 1 data 0=8\n");
  const Outcome identity = run("tenshot network describe " + quoted(file) + " --json");
  ASSERT_EQ(identity.exit_code, 0) << identity.err;
  EXPECT_EQ(nlohmann::json::parse(identity.out).at("operators"), nlohmann::json::object());
  EXPECT_EQ(nlohmann::json::parse(identity.out).at("inputs").size(), 1U);
}

const std::string shipped = quoted(std::filesystem::path(TENSHOT_SOURCE_DIR) / "checkpoints/networks.tenshot");

void write_onnx(const std::filesystem::path& file, std::int64_t channels) {
  nasbench::NetworkBuilder builder;
  const nasbench::Source x = builder.input("image", {1, 3, 24, 24});
  builder.output(builder.convolution("stem", x, channels, {nasbench::same_window(3), 1, true}));
  write(file, nasbench::onnx_model(builder.take(), {}));
}

void write_ncnn(const std::filesystem::path& file, int channels) {
  const std::string c = std::to_string(channels);
  write(file, "7767517\n2 2\nInput data 0 1 data 0=24 1=24 2=3\nConvolution c 1 1 data y 0=" + c +
                  " 1=3 4=1 5=1 6=" + std::to_string(27 * channels) + "\n");
  write(std::filesystem::path(file).replace_extension(".bin"), std::string(112 * channels + 4, '\0'));
}

TEST(Shapes, ForAnInputThatNoNetworkHas_AreRefusedWhereverTheNetworksComeFrom) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "models");
  write_onnx(folder.path() / "models/a.onnx", 8);
  write_onnx(folder.path() / "models/b.onnx", 16);
  write_onnx(folder.path() / "more.onnx", 24);
  const std::string predict =
      "cd " + quoted(folder.path()) + "; tenshot predict --device pixel4_gpu_float " + "--checkpoint " + shipped + " ";
  for (const char* networks : {"--networks models", "--networks models more.onnx", "more.onnx",
                               "models/a.onnx more.onnx", "--networks models a"}) {
    const Outcome fits = run(predict + networks + " --shape image=1x3x24x24");
    EXPECT_EQ(fits.exit_code, 0) << networks << ": " << fits.err;
    const Outcome other = run(predict + networks + " --shape nobody=1x3x24x24");
    EXPECT_EQ(other.exit_code, 1) << networks << ": " << other.out;
    EXPECT_NE(other.err.find("'nobody'"), std::string::npos) << networks << ": " << other.err;
    EXPECT_NE(other.err.find("image"), std::string::npos) << networks << ": " << other.err;
  }
  const std::string plan = "cd " + quoted(folder.path()) + "; tenshot plan --checkpoint " + shipped +
                           " --samples 1 --networks models --out -";
  EXPECT_EQ(run(plan + " --shape image=1x3x24x24").exit_code, 0);
  const Outcome other = run(plan + " --shape nobody=1x3x24x24");
  EXPECT_EQ(other.exit_code, 1) << other.out;
  EXPECT_NE(other.err.find("'nobody'"), std::string::npos) << other.err;
}

TEST(PlanOfMixedFormats, GoesOnWithTheFormatOfMostAndNamesTheOthers) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "models");
  write_onnx(folder.path() / "models/a.onnx", 8);
  write_onnx(folder.path() / "models/b.onnx", 16);
  write_ncnn(folder.path() / "models/c.param", 24);
  const std::string plan = "cd " + quoted(folder.path()) + "; tenshot plan --checkpoint " + shipped +
                           " --networks models --samples 2 --kit ";
  const Outcome strict = run(plan + "strict --strict");
  EXPECT_EQ(strict.exit_code, 1) << strict.err;
  EXPECT_NE(strict.err.find("c.param"), std::string::npos) << strict.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "strict"));
  const Outcome planned = run(plan + "kit");
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_NE(planned.err.find("left out: models/c.param: the kit is of *.onnx"), std::string::npos) << planned.err;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "kit/models/arch_02.onnx"));
  write_ncnn(folder.path() / "models/d.param", 32);
  write_ncnn(folder.path() / "models/e.param", 40);
  const Outcome others = run(plan + "params");
  ASSERT_EQ(others.exit_code, 0) << others.err;
  EXPECT_NE(others.err.find("models/a.onnx: the kit is of *.param"), std::string::npos) << others.err;
  EXPECT_NE(others.err.find("models/b.onnx"), std::string::npos) << others.err;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "params/models/arch_02.param"));
}

TEST(DatasetImport, WhatBenchncnnPrinted_BecomesADeviceOfTheNetworksOfAFolder) {
  const TemporaryFolder folder;
  const std::string layers =
      "7767517\n2 2\nInput data 0 1 data 0=8 1=8 2=3\nConvolution c 1 1 data y 0=4 1=3 4=1 6=108\n";
  std::filesystem::create_directory(folder.path() / "params");
  write(folder.path() / "params/printed_a.param", layers);
  write(
      folder.path() / "bench.txt",
      "num_threads = 4\n  printed_a  min = 2.93  max = 3.92  avg = 3.16\n  nobody  min = 1.0  max = 1.0  avg = 1.0\n");
  const std::string import = "tenshot dataset import --table " + quoted(folder.path() / "bench.txt") + " --networks " +
                             quoted(folder.path() / "params") + " --out " + quoted(folder.path() / "pool");
  const Outcome imported = run(import + " --id phone");
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_NE(imported.err.find("bench.txt:3: 'nobody'"), std::string::npos) << imported.err;
  EXPECT_NE(slurp(folder.path() / "pool/phone/latencies.csv").find("printed_a,3.16"), std::string::npos);
  EXPECT_EQ(run("tenshot dataset validate " + quoted(folder.path() / "pool")).exit_code, 0);
  EXPECT_EQ(run(import + " --devices a").exit_code, 2);
}

TEST(NetworkVerb, SaysWhatAFileIsThatIsNoNetwork) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& name, const std::string& content) {
    write(folder.path() / name, content);
    const Outcome outcome = run("tenshot network describe " + quoted(folder.path() / name));
    EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
    return outcome.err;
  };
  EXPECT_NE(refusal("a.onnx", "version https://git-lfs.github.com/spec/v1\n").find("git lfs pull"), std::string::npos);
  EXPECT_NE(refusal("b.onnx", "PK\x03\x04 net/data.pkl").find("a PyTorch file (zip), no ONNX model"),
            std::string::npos);
  EXPECT_NE(refusal("c.onnx", std::string("\x1c\0\0\0TFL3", 8)).find("has to end in .tflite"), std::string::npos);
  EXPECT_NE(refusal("d.tflite", "7767517\n").find("has to end in .param"), std::string::npos);
  EXPECT_NE(refusal("e.param", "{}").find("is a JSON document, no ncnn network"), std::string::npos);
}

}  // namespace
}  // namespace tenshot::test
