#include "experiments/kernels/published_cnn.h"

#include <gtest/gtest.h>

#include "nasbench/support/error.h"

namespace tenshot::experiments {
namespace {

TEST(PublishedCnn, NetworksAreSoundAndKnownByName) {
  for (const std::string& name : published_cnn_names()) require_sound(published_cnn(name));
  EXPECT_GE(published_cnn_names().size(), 50U);
  EXPECT_THROW(published_cnn("resnet9000"), InputError);
}

TEST(PublishedCnn, HaveTheirPublishedParameters) {
  // torchvision's table of models; Howard et al., 2017, Table 8; Sandler et al., CVPR 2018, Table 4 (torchvision).
  EXPECT_EQ(parameter_count(published_cnn("resnet18")), 11'689'512);
  EXPECT_EQ(parameter_count(published_cnn("mobilenet_w1")), 4'231'976);
  EXPECT_EQ(parameter_count(published_cnn("densenet121")), 7'978'856);
  EXPECT_EQ(parameter_count(published_cnn("squeezenet_v1_0")), 1'248'424);
  EXPECT_EQ(parameter_count(published_cnn("mobilenetv2b_w1")), 3'504'872 - 1000);  // a classifier without bias
}

}  // namespace
}  // namespace tenshot::experiments
