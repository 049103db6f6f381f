#include <gtest/gtest.h>

#include <string>

#include "nasbench/support/error.h"
#include "trainer/core/predictor.h"

namespace tenshot::trainer {
namespace {

const std::vector<DescriptorKind> all = {DescriptorKind::inferred, DescriptorKind::latency, DescriptorKind::in_network,
                                         DescriptorKind::counters};

TEST(DescriptorKinds, AreReadByTheirNames) {
  for (const DescriptorKind kind : all) EXPECT_EQ(descriptor_kind(name(kind), all), kind);
  EXPECT_EQ(name(DescriptorKind::in_network), "in-network");
}

TEST(DescriptorKinds, ThatAPredictorHasNotAreRefusedWithThoseItHas) {
  try {
    descriptor_kind("counters", {DescriptorKind::in_network, DescriptorKind::inferred});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), "there is no descriptor kind 'counters'; there are: in-network, inferred");
  }
}

}  // namespace
}  // namespace tenshot::trainer
