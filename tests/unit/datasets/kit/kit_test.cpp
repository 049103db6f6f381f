#include "datasets/kit/kit.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "nasbench/graph/onnx.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/temporaries.h"
#include "tests/unit/datasets/kit/kit_fixture.h"

namespace tenshot::datasets {
namespace {

TEST(Kit, HoldsThePlanAndEveryOperatorAloneAndInChains) {
  const TemporaryFolder folder;
  const KitSummary summary = write_kit(folder.path() / "kit", small_request());
  EXPECT_EQ(summary.models, 3u + 15u + 21u);
  const KitManifest manifest = read_kit_manifest(folder.path() / "kit");
  ASSERT_EQ(manifest.models.size(), 39u);
  EXPECT_EQ(manifest.space, &space());
  EXPECT_EQ(manifest.batch, 2);
  EXPECT_EQ(manifest.shape.resolution, 8);
  std::set<std::string> hashes;
  std::uintmax_t bytes = 0;
  for (std::size_t i = 0; i < manifest.models.size(); ++i) {
    const KitModel& model = manifest.models[i];
    EXPECT_EQ(model.is_operator(), i >= 3 && i < 18);
    EXPECT_EQ(model.chain.has_value(), i >= 18);
    if (model.is_architecture()) {
      EXPECT_EQ(model.architecture, small_request().architectures[i]);
    }
    const std::string onnx = read_file(folder.path() / "kit" / "models" / (model.id + ".onnx"));
    EXPECT_EQ(sha256_hex(onnx), model.sha256);
    hashes.insert(model.sha256);
    bytes += onnx.size();
  }
  EXPECT_EQ(hashes.size(), 39u) << "each model has weights of its own";
  EXPECT_EQ(bytes, summary.bytes);
  EXPECT_EQ(manifest.models[0].id, "arch_01");
  EXPECT_EQ(manifest.models[3].id, "op_none_16");
  EXPECT_EQ(manifest.models[17].id, "op_avg_pool_3x3_64");
  EXPECT_EQ(manifest.models[17].key.resolution(), 2);
}

TEST(Kit, DescribesItsChainsAndTheirSurroundings) {
  const TemporaryFolder folder;
  write_kit(folder.path(), small_request());
  const KitManifest manifest = read_kit_manifest(folder.path());
  const KitModel& surroundings = manifest.models[18];
  EXPECT_EQ(surroundings.id, "around_16");
  EXPECT_TRUE(surroundings.chain->is_surroundings());
  EXPECT_EQ(surroundings.chain->key.channels(), 16);
  EXPECT_EQ(surroundings.chain->key.resolution(), 8);
  const KitModel& chain = manifest.models[38];
  EXPECT_EQ(chain.id, "chain_multiply_64");
  EXPECT_EQ(chain.chain->operation, "multiply");
  EXPECT_EQ(chain.chain->key.channels(), 64);
  EXPECT_EQ(chain.chain->key.resolution(), 2);
  EXPECT_EQ(chain.chain->repeats, 8);
  const nlohmann::json models = nlohmann::json::parse(read_file(folder.path() / "manifest.json")).at("models");
  EXPECT_EQ(models[18].at("kind"), "surroundings");
  EXPECT_EQ(models[18].at("surroundings"), nlohmann::json({{"channels", 16}, {"resolution", 8}}));
  EXPECT_EQ(models[38].at("kind"), "chain");
  EXPECT_EQ(models[38].at("runs"), small_request().operator_runs);
}

TEST(Kit, OfBeforeThereWereChainsIsReadAndIsAnotherKit) {
  const TemporaryFolder folder;
  write_kit(folder.path(), small_request());
  nlohmann::json manifest = nlohmann::json::parse(read_file(folder.path() / "manifest.json"));
  manifest["models"].erase(manifest["models"].begin() + 18, manifest["models"].end());
  manifest["id"] = "98b525623653acfb";  // of small_request() at that time
  write_file_atomically(folder.path() / "manifest.json", manifest.dump());
  const KitManifest read = read_kit_manifest(folder.path());
  EXPECT_EQ(read.models.size(), 18u);
  EXPECT_TRUE(read.models.back().is_operator());
  EXPECT_NE(message_of([&] { write_kit(folder.path(), small_request()); }).find("another kit"), std::string::npos);
}

TEST(Kit, TheShellsTableSaysWhatTheManifestSays) {
  const TemporaryFolder folder;
  write_kit(folder.path(), small_request());
  const KitManifest manifest = read_kit_manifest(folder.path());
  std::istringstream table(read_file(folder.path() / "models.tsv"));
  std::vector<std::string> rows;
  for (std::string line; std::getline(table, line);) {
    if (line[0] != '#') rows.push_back(line);
  }
  ASSERT_EQ(rows.size(), 39u);
  EXPECT_EQ(rows[0], "arch_01\tarchitecture\tmodels/arch_01.onnx\t" + manifest.models[0].sha256 + "\t7\t2x3x8x8");
  EXPECT_EQ(rows[17], "op_avg_pool_3x3_64\toperator\tmodels/op_avg_pool_3x3_64.onnx\t" + manifest.models[17].sha256 +
                          "\t9\t2x64x2x2");
  EXPECT_EQ(rows[18],
            "around_16\tsurroundings\tmodels/around_16.onnx\t" + manifest.models[18].sha256 + "\t9\t2x16x8x8");
  EXPECT_EQ(rows[19], "chain_nor_conv_1x1_16\tchain\tmodels/chain_nor_conv_1x1_16.onnx\t" + manifest.models[19].sha256 +
                          "\t9\t2x16x8x8");
}

TEST(Kit, BringsItsScriptExecutable) {
  const TemporaryFolder folder;
  write_kit(folder.path(), small_request());
  for (const char* name :
       {"measure.sh", "state.sh", "tools.sh", "speed.sh", "run_onnx.py", "run_onnx.js", "README.txt"}) {
    EXPECT_EQ(read_file(folder.path() / name),
              read_file(std::filesystem::path(TENSHOT_SOURCE_DIR) / "datasets" / "kit" / "board" / name))
        << name;
  }
  const auto permissions = std::filesystem::status(folder.path() / "measure.sh").permissions();
  EXPECT_NE(permissions & std::filesystem::perms::owner_exec, std::filesystem::perms::none);
}

TEST(Kit, WrittenAgainIsTheSameAndLeavesResultsAlone) {
  const TemporaryFolder folder;
  write_kit(folder.path(), small_request());
  const std::string before = read_file(folder.path() / "manifest.json");
  make_folder(folder.path() / "results");
  write_file_atomically(folder.path() / "results" / "kit.txt", "backend=custom\n");
  write_kit(folder.path(), small_request());
  EXPECT_EQ(read_file(folder.path() / "manifest.json"), before);
  EXPECT_EQ(read_file(folder.path() / "results" / "kit.txt"), "backend=custom\n");
}

TEST(Kit, DoesNotMixWithAnotherKitOrOtherFiles) {
  const TemporaryFolder folder;
  write_kit(folder.path() / "kit", small_request());
  KitRequest other = small_request();
  other.batch = 1;
  EXPECT_NE(message_of([&] { write_kit(folder.path() / "kit", other); }).find("another kit"), std::string::npos);
  EXPECT_EQ(read_kit_manifest(folder.path() / "kit").batch, 2);
  EXPECT_NE(message_of([&] { write_kit(folder.path(), other); }).find("not empty"), std::string::npos);
  write_file_atomically(folder.path() / "file", "");
  EXPECT_THROW(write_kit(folder.path() / "file", other), FileError);
  other.architectures.clear();
  EXPECT_THROW(write_kit(folder.path() / "none", other), InputError);
}

TEST(Kit, IsWrittenAgainWhereWritingWasKilledAtTheFirstFile) {
  const TemporaryFolder folder;
  constexpr pid_t nobody = 0x3fffffff;  // more than Linux gives to processes
  std::ofstream(temporary_name(folder.path() / "models.tsv", nobody)) << "# kit";
  write_kit(folder.path(), small_request());
  EXPECT_TRUE(is_kit(folder.path()));
  EXPECT_FALSE(std::filesystem::exists(temporary_name(folder.path() / "models.tsv", nobody)));
}

TEST(Kit, AManifestThatIsNoneIsNamedWithTheKeyAtFault) {
  const TemporaryFolder folder;
  write_kit(folder.path(), small_request());
  const auto file = folder.path() / "manifest.json";
  const std::string good = read_file(file);
  const std::vector<std::pair<std::string, std::string>> replacements = {
      {"tenshot.kit/1", "tenshot.kit/2"},
      {"tenshot.kit/1", "tenshot.device/1"},
      {"nasbench201", "nasbench999"},
      {"\"arch_01\"", "\"../arch_01\""},
      {"\"arch_01\"", "\"ARCH\""},
      {"\"arch_02\"", "\"arch_01\""},
      {"|none~0|", "|nothing~0|"},
      {"\"batch\": 2", "\"batch\": 0"},
      {"\"runs\": 7", "\"runs\": \"many\""},
      {"\"op_none_16\"", "17"},
      {"\"repeats\": 8", "\"repeats\": 0"},
      {"\"repeats\"", "\"times\""},
      {"\"chain\": {", "\"bracelet\": {"},
      {"\"name\": \"relu\"", "\"name\": \"\""},
      {"\"surroundings\": {", "\"chain\": {"},
      {"\"surroundings\": {", "\"operator\": {\"name\": \"x\", "}};
  for (const auto& [from, to] : replacements) {
    std::string bad = good;
    const std::size_t at = bad.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write_file_atomically(file, bad.replace(at, from.size(), to));
    const std::string message = message_of([&] { read_kit_manifest(folder.path()); });
    EXPECT_EQ(message.rfind(file.string(), 0), 0u) << message;
  }
  write_file_atomically(file, good.substr(0, good.size() / 2));
  EXPECT_THROW(read_kit_manifest(folder.path()), FormatError);
  EXPECT_THROW(read_kit_manifest(folder.path() / "absent"), FileError);
  EXPECT_FALSE(is_kit(folder.path() / "absent"));
}

TEST(KitManifest, OfAnOldKitIsKeyedByOperatorSpecifications) {
  const KitManifest manifest = read_kit_manifest(std::filesystem::path(TENSHOT_SOURCE_DIR) / "tests/fixtures/1/kit");
  const nasbench::NetworkShape shape = manifest.shape;
  std::vector<nasbench::OperatorSequence> operators, chains;
  for (const KitModel& model : manifest.models) {
    if (model.is_operator()) operators.push_back(model.key);
    if (model.chain && !model.chain->is_surroundings()) chains.push_back(model.chain->key);
  }
  std::vector<nasbench::OperatorSequence> expected;
  for (const nasbench::Operator& op : manifest.space->operators(shape, 1)) expected.push_back(op.key);
  EXPECT_EQ(operators, expected);
  expected.clear();
  for (const nasbench::OperationChain& chain : manifest.space->operation_chains(shape, 1))
    expected.push_back(chain.key);
  EXPECT_EQ(chains, expected);
}

}  // namespace
}  // namespace tenshot::datasets
