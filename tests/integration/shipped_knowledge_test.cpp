// Every way to adapt, beside the knowledge that ships: from ten networks of one of its runtimes, all others predicted.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "nasbench/support/median.h"
#include "nasbench/support/number_text.h"
#include "nasbench/support/numbers.h"
#include "tests/integration/program.h"

namespace tenshot::test {
namespace {

namespace fs = std::filesystem;

const fs::path data = fs::path(TENSHOT_SOURCE_DIR) / "datasets/data";
const fs::path shipped = fs::path(TENSHOT_SOURCE_DIR) / "checkpoints/networks.tenshot";
const std::string runtime = "libtorch-eager_t1_b1";
const std::string networks = " --networks " + quoted(data / "networks/networks.json");
const std::string operators = " --operators " + quoted(data / "operators" / (runtime + ".csv"));

class ShippedKnowledge : public ::testing::Test {
 protected:
  ShippedKnowledge() {
    std::istringstream rows(slurp(data / "networks" / runtime / "latencies.csv"));
    std::string line, header;
    std::getline(rows, header);
    std::vector<std::string> part(2, header + '\n');
    std::string slower = "architecture,latency_ms\n", equal = slower;
    for (int n = 1; n <= 150 && std::getline(rows, line); ++n) {
      if (n % 15 != 0) continue;
      part[static_cast<std::size_t>(n / 15 % 2)] += line + '\n';
      const std::size_t name = line.find(',') + 1;
      equal += line.substr(0, name) + "12.5\n";
      slower += line.substr(0, name) + shortest(1.05 * std::stod(line.substr(name))) + '\n';
    }
    write(path("odd.csv"), part[1]);
    write(path("even.csv"), part[0]);
    write(path("ten.csv"), part[1] + part[0].substr(header.size() + 1));
    write(path("slower.csv"), slower);
    write(path("equal.csv"), equal);
  }

  fs::path path(const std::string& name) const { return folder_.path() / name; }
  std::string q(const std::string& name) const { return quoted(path(name)); }

  Outcome adapt(const fs::path& checkpoint, const std::string& options) const {
    return run("tenshot adapt --checkpoint " + quoted(checkpoint) + networks + options + " --out " +
               q("device.tenshot"));
  }

  /// Adapts and predicts all others: most are near, and intervals hold and are short enough to be of use.
  void expect_good(const fs::path& checkpoint, const std::string& options) const {
    SCOPED_TRACE(checkpoint.filename().string() + options);
    const Outcome adapted = adapt(checkpoint, options);
    ASSERT_EQ(adapted.exit_code, 0) << adapted.err;
    const Outcome evaluated = run("tenshot evaluate --json --predictor " + q("device.tenshot") + networks +
                                  " --measurements " + quoted(data / "networks" / runtime / "latencies.csv"));
    ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
    const nlohmann::json quality = nlohmann::json::parse(evaluated.out);
    EXPECT_GT(quality.at("architectures"), 250) << evaluated.out;
    EXPECT_LT(quality.at("mape"), 0.15) << evaluated.out;
    EXPECT_GT(quality.at("coverage"), 0.8) << evaluated.out;
    EXPECT_LT(quality.at("mean_relative_width"), 1) << evaluated.out;
  }

 private:
  Folder folder_;
};

TEST_F(ShippedKnowledge, PredictsOtherNetworksHoweverADeviceIsAdapted) {
  const std::string ten = " --measurements " + q("ten.csv"), fleet = ten + " --measurements " + q("slower.csv");
  const std::string said = " --runtime libtorch-eager", like = " --like libtorch-frozen_t1_b1";
  for (const std::string& options : {ten, " --measurements " + q("odd.csv") + " --measurements " + q("even.csv"),
                                     ten + said, ten + like, ten + operators, ten + operators + said,
                                     ten + operators + like, fleet + " --fleet", fleet + " --fleet" + operators}) {
    expect_good(shipped, options);
  }
}

TEST_F(ShippedKnowledge, PredictsOtherNetworksWhereItGrewByAUsersPool) {
  const std::string kinds = " --networks " + quoted(data / "kinds/networks.json");
  std::istringstream rows(slurp(data / "kinds/pytorch-eager_t1_b1_kinds/latencies.csv"));
  std::string line, table = "network,mine\n";
  for (std::getline(rows, line); std::getline(rows, line);) {
    table += line.substr(0, line.find(',', line.find(',') + 1)) + '\n';
  }
  write(path("mine.csv"), table);
  const Outcome imported =
      run("tenshot dataset import --space networks" + kinds + " --table " + q("mine.csv") + " --out " + q("mine"));
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  const Outcome grown =
      run("tenshot train --from " + quoted(shipped) + " --pool " + q("mine") + " --out " + q("grown.tenshot"));
  ASSERT_EQ(grown.exit_code, 0) << grown.err;
  const std::string ten = " --measurements " + q("ten.csv");
  expect_good(path("grown.tenshot"), ten);
  expect_good(path("grown.tenshot"), ten + operators);
}

/// A convolution of 64 channels to as many, on an image of that size.
std::string convolution_of(int size) {
  const std::string extent = std::to_string(size);
  return "7767517\n2 2\nInput in 0 1 in 0=" + extent + " 1=" + extent + " 2=64\n" +
         "Convolution conv 1 1 in out 0=64 1=3 4=1 6=36864\n";
}

/// Whatever the device measured, four times the positions take about four times as long, and no tensor is a cliff.
TEST_F(ShippedKnowledge, OfAKnownDeviceLargerOperatorsTakeAsMuchLonger) {
  const auto latency_ms = [&](const std::string& device, int size) {
    const std::string name = "conv_" + std::to_string(size) + ".param";
    write(path(name), convolution_of(size));
    const Outcome said = run("tenshot predict --json --device " + device + " " + q(name));
    EXPECT_EQ(said.exit_code, 0) << said.err;
    return nlohmann::json::parse(said.out).at("predictions").at(0).at("latency_ms").get<double>();
  };
  for (const char* gpu : {"pixel4_gpu_float", "mi8se_gpu_float", "s10_gpu_float", "iphonexs_gpu_float"}) {
    EXPECT_GT(latency_ms(gpu, 896) / latency_ms(gpu, 448), 3) << gpu;
  }
  for (const char* device : {"s10_4small_float", "rockchip-rk3588_cpu_t4_p2"}) {
    EXPECT_LT(latency_ms(device, 368) / latency_ms(device, 360), 1.1) << device << ", across 32 MiB";
  }
}

TEST_F(ShippedKnowledge, AdaptAsksForTheUnitWhereLargerNetworksTakeLess) {
  std::istringstream rows(slurp(path("ten.csv")));
  std::string line, per_second = "architecture,latency_ms\n";
  for (std::getline(rows, line); std::getline(rows, line);) {
    const std::size_t name = line.find(',') + 1;
    per_second += line.substr(0, name) + shortest(1000 / std::stod(line.substr(name))) + '\n';
  }
  write(path("per_second.csv"), per_second);
  const Outcome adapted = adapt(shipped, " --measurements " + q("per_second.csv"));
  EXPECT_NE(adapted.err.find("are these frames per second?"), std::string::npos) << adapted.err;
  EXPECT_NE(adapted.err.find("Doubtful"), std::string::npos) << adapted.err;
}

TEST_F(ShippedKnowledge, AdaptAsksForTheUnitWhereNoDeviceIsNearlyAsSlow) {
  const std::string question = "are these latencies in ms?";
  EXPECT_EQ(adapt(shipped, " --measurements " + q("ten.csv")).err.find(question), std::string::npos);
  std::istringstream rows(slurp(path("ten.csv")));
  std::string line, microseconds = "architecture,latency_ms\n";
  for (std::getline(rows, line); std::getline(rows, line);) {
    const std::size_t name = line.find(',') + 1;
    microseconds += line.substr(0, name) + shortest(1000 * std::stod(line.substr(name))) + '\n';
  }
  write(path("microseconds.csv"), microseconds);
  const Outcome adapted = adapt(shipped, " --measurements " + q("microseconds.csv"));
  EXPECT_NE(adapted.err.find(question), std::string::npos) << adapted.err;
}

TEST_F(ShippedKnowledge, NetworksThatAllTakeTheSame_AreDoubted) {
  const Outcome outcome = adapt(shipped, " --strict --measurements " + q("equal.csv"));
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("did the timing wait for the device?"), std::string::npos) << outcome.err;
}

TEST_F(ShippedKnowledge, ADeviceThatIsMisspelt_GetsTheNearestOnes) {
  const Outcome outcome = run("tenshot adapt --like rockchip-rk3588_cpu_t4_p3 --out " + q("device.tenshot"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("most like it: rockchip-rk3588_cpu_t4_p"), std::string::npos) << outcome.err;
}

TEST(ShippedCheckpoints, AreThoseOfTheirPage) {
  const fs::path folder = fs::path(TENSHOT_SOURCE_DIR) / "checkpoints";
  const std::string page = slurp(folder / "README.md"), readme = slurp(folder / "../README.md");
  for (const char* name : {"cells", "maple-edge", "networks", "pool"}) {
    const std::string card = page.substr(page.find("## " + std::string(name) + ".tenshot"));
    EXPECT_NE(card.substr(0, 200).find(sha256_hex(slurp(folder / (name + std::string(".tenshot"))))), std::string::npos)
        << name;
  }
  std::size_t of_files = 0;
  std::map<std::string, std::vector<double>> within;  // of devices that answer files, by the source's first word
  const nlohmann::json devices = nlohmann::json::parse(run("tenshot devices --json").out);
  for (const auto& device : devices) {
    if (device.at("space") != "networks") continue;
    ++of_files;
    const std::string source = device.at("source");
    if (!device.at("within_10").is_null())
      within[source.substr(0, source.find_first_of(" ,"))].push_back(device.at("within_10"));
  }
  for (const auto& [source, words] : std::map<std::string, std::string>{
           {"A", "phone has "}, {"tenshot", "measured here "}, {"ncnn", "18 networks, only "}}) {
    EXPECT_NE(readme.find(words + decimals(100 * median(within[source]), 0)), std::string::npos) << words;
  }
  EXPECT_NE(readme.find("lists " + std::to_string(of_files) + " that answer files and " +
                        std::to_string(devices.size() - of_files) + " of cells"),
            std::string::npos)
      << of_files;
}

/// What a profiler found inside the measured networks; and the same where it is called milliseconds, in microseconds.
TEST_F(ShippedKnowledge, AdaptTakesTimesOfOperators_AndRefusesTimesInAnotherUnit) {
  const std::string ten = " --measurements " + q("ten.csv");
  const Outcome taken = adapt(shipped, ten + operators);
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_NE(taken.err.find("operators inside 10 of the measured networks are used"), std::string::npos) << taken.err;

  std::istringstream times(slurp(data / "operators" / (runtime + ".csv")));
  std::string line, wrong;
  std::getline(times, line);
  wrong += line + '\n';
  while (std::getline(times, line)) {
    const std::size_t end = line.rfind(','), begin = line.rfind(',', end - 1) + 1;
    if (end > begin) line.replace(begin, end - begin, shortest(1000 * std::stod(line.substr(begin, end - begin))));
    wrong += line + '\n';
  }
  write(path("wrong.csv"), wrong);
  const Outcome left = adapt(shipped, ten + " --operators " + q("wrong.csv"));
  EXPECT_EQ(left.exit_code, 0) << left.err;
  EXPECT_NE(left.err.find("the times of operators are not used: their sum is"), std::string::npos) << left.err;
}

}  // namespace
}  // namespace tenshot::test
