#include "datasets/kit/converted.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "datasets/kit/kit_results.h"
#include "nasbench/support/numbers.h"
#include "tests/unit/datasets/kit/kit_fixture.h"

namespace tenshot::datasets {
namespace {

/// A kit, and a folder beside it for converted files.
class Converted : public ::testing::Test {
 protected:
  Converted() {
    write_kit(kit(), small_request());
    make_folder(from());
  }
  std::filesystem::path kit() const { return folder_.path() / "kit"; }
  std::filesystem::path from() const { return folder_.path() / "from"; }
  void put(const std::string& name, const std::string& content = "") const {
    write_file_quickly(from() / name, content.empty() ? "converted " + name : content);
  }
  void put_all(const std::string& suffix) const {
    for (const char* id : {"arch_01", "arch_02", "arch_03"}) put(std::string(id) + suffix);
  }
  std::string refusal() const {
    return message_of([&] { add_converted(kit(), from()); });
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Converted, FilesAreCopiedHashedAndListedForTheShell) {
  put_all(".tflite");
  put("notes.log");
  const ConvertedSummary added = add_converted(kit(), from());
  EXPECT_EQ(added.format, "tflite");
  EXPECT_EQ(added.models, 3u);
  EXPECT_EQ(added.without, 15u + 21u);
  EXPECT_EQ(added.passed_over, std::vector<std::string>{"notes.log"});
  EXPECT_EQ(read_file(kit() / "converted" / "arch_02.tflite"), "converted arch_02.tflite");
  const KitManifest manifest = read_kit_manifest(kit());
  EXPECT_EQ(manifest.models[1].converted_sha256, sha256_hex("converted arch_02.tflite"));
  EXPECT_EQ(manifest.models[3].converted_sha256, "");
  EXPECT_EQ(
      read_file(kit() / "converted.tsv"), "# kit " + manifest.id + "\n# format tflite\n" + [&] {
        std::string lines;
        for (int i = 0; i < 3; ++i) {
          const std::string id = manifest.models[static_cast<std::size_t>(i)].id;
          lines += id + "\tarchitecture\tconverted/" + id + ".tflite\t" + sha256_hex("converted " + id + ".tflite") +
                   "\t7\t2x3x8x8\n";
        }
        return lines;
      }());
}

TEST_F(Converted, AModelOfTwoFilesNeedsBoth) {
  put_all(".param");
  for (const char* id : {"arch_01", "arch_02"}) put(std::string(id) + ".bin");
  EXPECT_NE(refusal().find("'arch_03.bin' is missing"), std::string::npos) << refusal();
  EXPECT_FALSE(std::filesystem::exists(kit() / "converted.tsv"));
  put("arch_03.bin");
  add_converted(kit(), from());
  EXPECT_EQ(read_kit_manifest(kit()).models[0].converted_sha256,
            sha256_hex("converted arch_01.param") + "+" + sha256_hex("converted arch_01.bin"));
  EXPECT_TRUE(std::filesystem::exists(kit() / "converted" / "arch_03.bin"));
}

TEST_F(Converted, WhatIsWrongIsOneLine) {
  EXPECT_NE(refusal().find("holds no converted model; known suffixes are tflite, param + bin, xml + bin, pte"),
            std::string::npos)
      << refusal();
  put("arch_01.tflite");
  EXPECT_NE(refusal().find("'arch_02.tflite', 'arch_03.tflite' are missing"), std::string::npos) << refusal();
  put_all(".tflite");
  put("arch_01.pte");
  EXPECT_NE(refusal().find("two formats"), std::string::npos) << refusal();
  EXPECT_NE(message_of([&] { add_converted(kit(), from() / "absent"); }).find("expected a folder"), std::string::npos);
  EXPECT_NE(message_of([&] { add_converted(from(), from()); }).find("manifest.json"), std::string::npos);
}

TEST_F(Converted, MayLieInTheKitItselfAndBeAddedAgain) {
  make_folder(kit() / "converted");
  for (const char* id : {"arch_01", "arch_02", "arch_03", "op_none_16", "empty"}) {
    write_file_quickly(kit() / "converted" / (std::string(id) + ".pte"), std::string("made of ") + id);
  }
  EXPECT_EQ(add_converted(kit(), kit() / "converted").models, 4u);
  const std::string manifest = read_file(kit() / "manifest.json"), table = read_file(kit() / "converted.tsv");
  EXPECT_EQ(add_converted(kit(), kit() / "converted").without, 14u + 21u);
  EXPECT_EQ(read_file(kit() / "manifest.json"), manifest);
  EXPECT_EQ(read_file(kit() / "converted.tsv"), table);
  EXPECT_EQ(read_file(kit() / "converted" / "arch_01.pte"), "made of arch_01");
}

TEST_F(Converted, AKitThatIsWrittenAgainForgetsThem) {
  put_all(".tflite");
  add_converted(kit(), from());
  write_kit(kit(), small_request());
  EXPECT_FALSE(std::filesystem::exists(kit() / "converted.tsv"));
  EXPECT_EQ(read_kit_manifest(kit()).models[0].converted_sha256, "");
}

TEST_F(Converted, ResultsCountThatAreOfTheConvertedFile) {
  put_all(".tflite");
  add_converted(kit(), from());
  const auto result = [&](const std::string& id, const std::string& sha256, const std::string& more) {
    make_folder(kit() / "results" / id);
    write_file_quickly(kit() / "results" / id / "times.txt", "4.5\n");
    write_file_quickly(kit() / "results" / id / "meta.txt", "id=" + id + "\nsha256=" + sha256 + "\n" + more);
  };
  const KitManifest manifest = read_kit_manifest(kit());
  result("arch_01", manifest.models[0].converted_sha256, "aggregated=yes\n");
  result("arch_02", manifest.models[1].sha256, "");
  result("arch_03", manifest.models[2].converted_sha256, "");
  write_file_quickly(kit() / "results" / "kit.txt", "kit=" + manifest.id + "\nbackend=custom\nconverted=tflite\n");
  const KitResults results = read_kit_results(kit());
  EXPECT_EQ(results.latencies.size(), 2u);
  EXPECT_EQ(results.aggregated, 1u);
  ASSERT_GE(results.findings.size(), 1u);
  EXPECT_EQ(results.findings[0].problem, KitProblem::other_model);
  EXPECT_EQ(results.findings[0].message.find("arch_02 ("), 0u) << results.findings[0].message;
  EXPECT_EQ(results.findings.size(), 2u) << "and, once, that the operators have no latency";
  const nlohmann::json environment = nlohmann::json::parse(device_of(results, "phone").environment);
  EXPECT_EQ(environment.at("aggregated").at("measurements"), 1);
  EXPECT_EQ(environment.at("run").at("converted"), "tflite");
}

}  // namespace
}  // namespace tenshot::datasets
