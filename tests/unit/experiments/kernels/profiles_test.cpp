#include "experiments/kernels/profiles.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "nasbench/kernels/fusion_rules.h"
#include "nasbench/support/error.h"

namespace tenshot::experiments {
namespace {

const std::string header =
    "network,index,operation,input_size,input_channels,output_size,stride,kernel,filters,groups,board_ms,board_kernel,"
    "phone_ms\n";

TEST(Profiles, StandBesideTheirOperators) {
  const ProfiledNetworks read = parse_profiles(header +
                                                   "a,0,conv_2d,8,3,8,1,3,16,1,0.5,conv_0,1.5\n"
                                                   "b,0,mean,8,16,16,,0,,,0.25,mean_0,2\n"
                                                   "a,1,mean,8,16,16,,0,,,0.125,mean_1,3\n",
                                               "profiles.csv");
  EXPECT_EQ(read.settings, (std::vector<std::string>{"board", "phone"}));
  ASSERT_EQ(read.networks.size(), 2U);
  const ProfiledNetwork& a = read.networks[0];
  ASSERT_EQ(a.operators.size(), 2U);
  ASSERT_EQ(a.profiles.size(), 2U);
  EXPECT_EQ(a.operators[1].kind, nasbench::OperatorKind::global_pool);
  EXPECT_EQ(a.profiles[1][0].latency_ms, 0.125);
  EXPECT_EQ(a.profiles[0][0].kernel, "conv_0");
  EXPECT_EQ(a.profiles[1][1].latency_ms, 3);
  EXPECT_EQ(a.profiles[1][1].kernel, "");
  EXPECT_EQ(read.networks[1].profiles[0][0].latency_ms, 0.25);
}

TEST(Profiles, BadLatenciesAreNamed) {
  for (const char* latency : {"0", "-1", "nan", "", "fast"}) {
    try {
      parse_profiles(header + "a,0,conv_2d,8,3,8,1,3,16,1,0.5,conv_0," + latency + "\n", "profiles.csv");
      ADD_FAILURE() << latency << " was taken";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("profiles.csv:2: column phone_ms"), std::string::npos) << error.what();
    }
  }
}

TEST(Profiles, ATableWithoutLatenciesIsRefused) {
  const std::string bare = "network,operation,input_size,input_channels,output_size,filters\n";
  EXPECT_THROW(parse_profiles(bare + "a,conv_2d,8,3,8,16\n", "bare.csv"), InputError);
}

TEST(Profiles, TheDelegatesWinogradKernelsAreThoseThatThePhonesRan) {
  const char* tables = std::getenv("TENSHOT_TABLES");
  if (tables == nullptr) {
    GTEST_SKIP() << "TENSHOT_TABLES names no folder with mobile-cnn/operators.csv of Li, Paolieri and Golubchik (2024)";
  }
  const ProfiledNetworks table = read_profiles(std::filesystem::path(tables) / "mobile-cnn" / "operators.csv");
  ASSERT_EQ(table.settings, (std::vector<std::string>{"pixel4_gpu", "s10_gpu", "mi8se_gpu", "iphonexs_gpu"}));
  const nasbench::FusionRules adreno = nasbench::fusion_rules("tflite-gpu-adreno6xx"),
                              mali = nasbench::fusion_rules("tflite-gpu-mali");
  int ran = 0, deduced = 0, both = 0;
  for (const ProfiledNetwork& network : table.networks) {
    for (std::size_t i = 0; i < network.operators.size(); ++i) {
      if (network.operators[i].kind != nasbench::OperatorKind::convolution) continue;
      for (std::size_t setting = 0; setting < table.settings.size(); ++setting) {
        const nasbench::FusionRules& rules = setting % 2 == 0 ? adreno : mali;
        const bool takes = chosen_kernel(rules.kernels, network.operators[i], "") == "convolution_winograd_4x4_6x6";
        const bool took = network.profiles[i][setting].kernel.find("winograd") != std::string::npos;
        ran += took ? 1 : 0;
        deduced += takes ? 1 : 0;
        both += takes && took ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(ran, 340);
  EXPECT_EQ(deduced, 340);
  EXPECT_EQ(both, 340);
}

}  // namespace
}  // namespace tenshot::experiments
