#pragma once

#include <cstdint>

#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

/// Network number `index` of seed `seed` of a space made of the blocks of published networks. Of sixteen networks one
/// is a row of encoders (Dosovitskiy et al., ICLR 2021) or of mixers (Tolstikhin et al., NeurIPS 2021) on patches, one
/// is of ConvNeXt's blocks (Liu et al., CVPR 2022), and fourteen have four stages that are drawn each for itself from
///
///   1. residual blocks of two convolutions (He et al., CVPR 2016)
///   2. bottlenecks whose middle convolution has 1 group, or groups of 4 to 32 channels (ResNeXt, RegNet), half of them
///      with squeeze-and-excite
///   3. inverted residual blocks, 3×3 to 7×7, expanded 1 to 6 times (MobileNetV2 and V3, EfficientNet), half of them
///   with
///      squeeze-and-excite
///   4. densely connected layers (Huang et al., CVPR 2017)
///   5. fire modules (SqueezeNet)
///   6. units that shuffle channels (ShuffleNetV2)
///   7. plain convolutions (VGG), half of them with batch norms
///   8. depthwise separable convolutions, 3×3 to 7×7 (MobileNetV1, NASNet)
///   9. convolutions beside each other (Inception)
///
/// on images of 96 to 224 pixels, with 16 to 64 channels first and 1.5 to 2.5 times as many in each further stage. A
/// network of less than 20 million or more than 2 billion multiply-adds is drawn again. The same seed and index give
/// the same network everywhere.
Network synthetic_blocks(std::uint64_t seed, std::uint64_t index, int batch = 1);

}  // namespace tenshot::nasbench
