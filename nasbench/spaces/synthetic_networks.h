#pragma once

#include <cstdint>

#include "nasbench/graph/network.h"

namespace tenshot::nasbench {

/// Network number `index` of seed `seed` from the space of synthetic networks of Li et al. (Operation-wise prediction,
/// §4.3.2, Fig. 11): nine blocks in a row on an image of 3×224×224, each drawn uniformly from
///
///   1. a convolution 3×3, 5×5 or 7×7, half of them with 4k groups, 1 ≤ k ≤ 16
///   2. a depthwise separable convolution 3×3, 5×5 or 7×7
///   3. a linear bottleneck 3×3, 5×5 or 7×7 with expansion 1, 3 or 6, half of them with squeeze-and-excite
///   4. an average or max pool 1×1 or 3×3
///   5. a split in 2, 3 or 4, an element-wise operation on each part, and a concatenation
///
/// with 8 to 80 channels in the first five blocks and 80 to 400 in the last four; then a 1×1 convolution to 1,200 to
/// 1,800 channels, the mean over the positions and a linear layer of 1,000 classes. What the paper leaves open is ours:
/// channels are multiples of 4; as many groups as divide the channels before and after are drawn from, none where no
/// 4k does; pools and splits keep the channels; blocks 1, 2, 4, 6 and 8 halve the image, as in MobileNetV2; a split
/// that halves is followed by a 3×3 max pool; convolutions have batch norms and ReLUs.
Network synthetic_cnn(std::uint64_t seed, std::uint64_t index, int batch = 1);

/// Network number `index` of seed `seed` of a space made of the blocks of published networks. Of sixteen networks one
/// is a row of encoders (Dosovitskiy et al., ICLR 2021) or of mixers (Tolstikhin et al., NeurIPS 2021) on patches, one
/// is of ConvNeXt's blocks (Liu et al., CVPR 2022), and fourteen have four stages that are drawn each for itself from
///
///   1. residual blocks of two convolutions (He et al., CVPR 2016)
///   2. bottlenecks whose middle convolution has 1 group, or groups of 4 to 32 channels (ResNeXt, RegNet), half of them
///      with squeeze-and-excite
///   3. inverted residual blocks, 3×3 to 7×7, expanded 1 to 6 times (MobileNetV2 and V3, EfficientNet), half of them
///      with squeeze-and-excite
///   4. densely connected layers (Huang et al., CVPR 2017)
///   5. fire modules (SqueezeNet)
///   6. units that shuffle channels (ShuffleNetV2)
///   7. plain convolutions (VGG), half of them with batch norms
///   8. depthwise separable convolutions, 3×3 to 7×7 (MobileNetV1, NASNet)
///   9. convolutions beside each other (Inception)
///
/// on images of 96 to 224 pixels, with 16 to 64 channels first and 1.5 to 2.5 times as many in each further stage. A
/// network of less than 20 million or more than 2 billion multiply-adds is drawn again.
Network synthetic_blocks(std::uint64_t seed, std::uint64_t index, int batch = 1);

}  // namespace tenshot::nasbench
