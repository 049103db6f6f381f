#include "descriptor/cold/cold_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "descriptor/cold/cold_weights.h"
#include "descriptor/machine/memory.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"

namespace tenshot::descriptor {
namespace {

const std::string key(64, 'k');

class WeightFileTest : public testing::Test {
 protected:
  std::filesystem::path written(const std::vector<std::string>& records) const {
    write_file_atomically(path, WeightFile::content(key, records));
    return path;
  }
  void damage(std::uint64_t offset) const {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put('#');
  }

  TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "raw.weights";
};

TEST_F(WeightFileTest, GivesBackItsRecords) {
  const std::vector<std::string> records = {"first", "", std::string(10'000, 'x'), "last"};
  const WeightFile file(written(records), key, records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::string read(file.bytes(i), '?');
    EXPECT_TRUE(file.read(i, read.data()));
    EXPECT_EQ(read, records[i]);
  }
}

TEST_F(WeightFileTest, MapsItsRecordsWhereTheyAreInThePageCache) {
  const std::vector<std::string> records = {"first", std::string(10'000, 'x')};
  const WeightFile in_memory(written(records), key, records.size());  // just written
  for (std::size_t i = 0; i < records.size(); ++i) {
    const char* mapped = in_memory.mapped(i);
    ASSERT_NE(mapped, nullptr);
    EXPECT_EQ(std::string(mapped, in_memory.bytes(i)), records[i]);
  }
  damage(4096 + 1);
  EXPECT_EQ(in_memory.mapped(0), nullptr);
  EXPECT_NE(in_memory.mapped(1), nullptr);
}

TEST_F(WeightFileTest, MapsNothingThatIsOnTheDiskAlone) {
  written({"first"});
  if (!drop_from_page_cache(path).dropped()) GTEST_SKIP() << "the file system keeps its files in memory";
  const WeightFile file(path, key, 1);
  EXPECT_EQ(file.mapped(0), nullptr);
  std::string read(5, '?');
  EXPECT_TRUE(file.read(0, read.data()));
  EXPECT_EQ(read, "first");
}

TEST_F(WeightFileTest, NoticesDamageByTheRecordsHash) {
  written({"first", "second"});
  damage(4096 + 1);  // records lie at multiples of 4,096
  const WeightFile file(path, key, 2);
  std::string read(6, '?');
  EXPECT_FALSE(file.read(0, read.data()));
  EXPECT_TRUE(file.read(1, read.data()));
}

TEST_F(WeightFileTest, RefusesAnotherKeyAnotherCountAndADamagedTable) {
  written({"first", "second"});
  EXPECT_THROW(WeightFile(path, std::string(64, 'z'), 2), FormatError);
  EXPECT_THROW(WeightFile(path, key, 3), FormatError);
  damage(90);
  EXPECT_THROW(WeightFile(path, key, 2), FormatError);
  std::filesystem::resize_file(path, 30);
  EXPECT_THROW(WeightFile(path, key, 2), FormatError);
  EXPECT_THROW(WeightFile(folder.path() / "none", key, 2), FileError);
}

TEST_F(WeightFileTest, RefusesAFileThatEndsBeforeItsRecords) {
  written({std::string(10'000, 'x'), "second"});
  std::filesystem::resize_file(path, 9'000);
  EXPECT_THROW(WeightFile(path, key, 2), FormatError);
}

TEST(QuickHash, ChangesWithEveryByte) {
  std::string text(200, 'a');
  const std::uint64_t whole = quick_hash(text.data(), text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = 'b';
    EXPECT_NE(quick_hash(text.data(), text.size()), whole) << i;
    text[i] = 'a';
  }
  EXPECT_NE(quick_hash(text.data(), 199), whole);
}

ColdStages stages() {
  ColdStages stages;
  stages.model = "model.onnx";
  stages.machine = "here";
  stages.network.tensors = {{1, 4}, {1, 4}};
  stages.network.output = 1;
  ColdLayer layer;
  layer.inputs = {0};
  layer.output = 1;
  stages.network.layers = {layer};
  stages.layers = {{0, 100, 0.5, {{"kernel", true, 200, 3, 1, 0.75, 0.25, 0.125, 2, 1.5, 0}}}};
  return stages;
}

TEST(ColdStages, AreTheSameAfterWritingAndReading) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "stages.json";
  write_file_atomically(path, to_text(stages()));
  EXPECT_EQ(to_text(read_stages(path)), to_text(stages()));
}

TEST(ColdStages, NameTheFileAndThePlaceOfWhatIsWrong) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "stages.json";
  ColdStages wrong = stages();
  wrong.layers[0].kernels[0].create_ms = -1;
  write_file_atomically(path, to_text(wrong));
  try {
    read_stages(path);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("stages.json"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("stages[0].kernels[0].create_ms"), std::string::npos) << error.what();
  }
  wrong = stages();
  wrong.layers.clear();
  write_file_atomically(path, to_text(wrong));
  EXPECT_THROW(read_stages(path), FormatError);
}

TEST(ColdStages, RefuseMoreBytesThanAFileHas) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "stages.json";
  nlohmann::json document = nlohmann::json::parse(to_text(stages()));
  for (const double bytes : {18446744073709551616.0, 1e300}) {
    document["stages"][0]["kernels"][0]["cached_bytes"] = bytes;
    write_file_atomically(path, document.dump());
    EXPECT_THROW(read_stages(path), FormatError) << bytes;
  }
  document["stages"][0]["kernels"][0]["cached_bytes"] = 300;
  write_file_atomically(path, document.dump());
  EXPECT_EQ(read_stages(path).layers[0].kernels[0].cached_bytes, 300U);
}

TEST(ColdPlanFile, IsTheSameAfterWritingAndReading) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "plan.json";
  ColdPlan plan;
  plan.network = stages().network;
  plan.layers = {{"kernel", true, 1}};
  write_file_atomically(path, to_text(plan));
  EXPECT_EQ(to_text(read_plan(path)), to_text(plan));
  plan.layers[0].core = 2;  // of one preparing core
  write_file_atomically(path, to_text(plan));
  EXPECT_THROW(read_plan(path), FormatError);
}

TEST(ColdPlanFile, KeepsItsSwitchesAndRefusesThoseOfNoLayerAndOfOneTwice) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "plan.json";
  ColdPlan plan;
  plan.network = stages().network;
  plan.layers = {{"kernel", true, 1}};
  plan.switches = {{0, "other", true}};
  plan.switched_ms = 1.5;
  write_file_atomically(path, to_text(plan));
  const ColdPlan read = read_plan(path);
  EXPECT_EQ(to_text(read), to_text(plan));
  EXPECT_EQ(read.switches[0].kernel, "other");
  EXPECT_TRUE(read.switches[0].cached);
  EXPECT_EQ(read.switched_ms, 1.5);
  for (const std::vector<PlannedSwitch>& wrong :
       {std::vector<PlannedSwitch>{{1, "other", true}}, {{0, "other", true}, {0, "third", false}}}) {
    plan.switches = wrong;
    write_file_atomically(path, to_text(plan));
    try {
      read_plan(path);
      FAIL();
    } catch (const FormatError& error) {
      EXPECT_NE(std::string(error.what()).find("switches["), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tenshot::descriptor
