#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nasbench/graph/network.h"

namespace tenshot::experiments {

/// Published convolutional networks for images of 3×224×224 with batch norms and activations as operators of their
/// own, in the order in which TensorFlow Lite executes them:
///
///   resnet10 … resnet18, resnet18_w3d4/wd2/wd4, resnetbc14b, resnetbc26b    He et al., CVPR 2016
///   preresnet10 … preresnet18 and the same variants                        He et al., ECCV 2016
///   seresnet10 … seresnet18, sepreresnet10 … sepreresnet18                 Hu et al., CVPR 2018
///   resnext14_16x4d, resnext14_32x4d, resnext26_16x4d, resnext26_32x4d     Xie et al., CVPR 2017
///   mobilenet_w1 … wd4, mobilenetb_w1 … wd4 (no activation after a depthwise convolution)   Howard et al., 2017
///   fdmobilenet_w1 … wd4                                                   Qin et al., ICIP 2018
///   mobilenetv2_w1 … wd4, mobilenetv2b_w1 … wd4 (no expansion where it is 1)   Sandler et al., CVPR 2018
///   densenet121, densenet169                                               Huang et al., CVPR 2017
///   squeezenet_v1_0, squeezenet_v1_1, squeezeresnet_v1_0, squeezeresnet_v1_1   Iandola et al., 2016
///
/// under the names of Li, Paolieri and Golubchik (EdgeSys 2024). Throws InputError that lists the names.
nasbench::Network published_cnn(std::string_view name);

/// All names, in alphabetical order.
std::vector<std::string> published_cnn_names();

}  // namespace tenshot::experiments
