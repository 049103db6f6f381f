#pragma once

#include <set>
#include <string>
#include <vector>

#include "nasbench/graph/onnx_file.h"

namespace tenshot::nasbench {

/// Tells the inputs of the graph that are weights from those that are data, where a file's weights are among its
/// inputs, as PyTorch writes them with export_params=False. A weight has a fixed shape and no stored value, and is
/// nowhere read as data: where layers and products have theirs. Weights are
///   - what a convolution, a norm or a recurrent layer has as its weights;
///   - what is called as PyTorch calls them;
///   - in a file that stores no matrix, a matrix by which something computed is multiplied.
/// Beside one of these, weights are also the second factors of other products, what stands behind the first weight
/// (what a network is given comes first), and real numbers before it that join others: the last are undecided.
class WeightInputs {
 public:
  explicit WeightInputs(const OnnxFile& file);

  const std::set<std::string>& weights() const { return weights_; }
  /// What is to be said of those of which the file does not say what they are; empty where it does of all.
  std::string remark() const;

 private:
  void find_sure(bool stores_matrix);
  void find_others();

  const OnnxFile& file_;
  std::vector<const onnx::ValueInfoProto*> inputs_;
  std::set<std::string> data_, factors_, weights_, undecided_;
};

/// Whether the file says the input's whole shape, or all of it but the first dimensions.
bool is_fixed(const onnx::ValueInfoProto& input, int from = 0);

/// The inputs whose first dimension is time: of recurrent layers, whatever it is called.
std::set<std::string> sequences_of(const OnnxFile& file);

}  // namespace tenshot::nasbench
