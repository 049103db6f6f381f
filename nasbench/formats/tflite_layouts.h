#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nasbench/formats/tflite_file.h"
#include "nasbench/formats/tflite_operation.h"
#include "nasbench/support/numbers_below.h"

namespace tenshot::nasbench::tflite {

/// Which tensors are images: those that windows move over, and all of four dimensions that are alike by what computes
/// one from the other.
class Layouts {
 public:
  explicit Layouts(const TfliteFile& file)
      : file_(file), set_(numbers_below(file.tensors.size())), image_(file.tensors.size(), false) {
    for (const TfliteOperator& op : file.operators) {
      const Rule* rule = rule_of(op.code, op.custom);
      const bool hands_on = op.code == code::quantize || op.code == code::dequantize || op.code == code::fake_quant;
      if (rule == nullptr && !hands_on) continue;
      const Rule::Layout layout = rule == nullptr ? Rule::Layout::alike : rule->layout;
      if (layout != Rule::Layout::any) join(op, layout == Rule::Layout::images);
    }
  }

  bool is_image(std::size_t tensor) const { return has_image_rank(tensor) && image_[root(tensor)]; }

 private:
  bool has_image_rank(std::size_t tensor) const {
    return file_.tensors[tensor].shape.size() == 4 && !file_.tensors[tensor].has_data;
  }

  std::size_t root(std::size_t tensor) const {
    while (set_[tensor] != tensor) {
      set_[tensor] = set_[set_[tensor]];
      tensor = set_[tensor];
    }
    return tensor;
  }

  void join(const TfliteOperator& op, bool images) {
    std::vector<std::size_t> tensors;
    for (const auto* list : {&op.inputs, &op.outputs}) {
      for (const std::int32_t tensor : *list) {
        if (tensor >= 0 && has_image_rank(static_cast<std::size_t>(tensor))) {
          tensors.push_back(static_cast<std::size_t>(tensor));
        }
      }
    }
    for (const std::size_t tensor : tensors) {
      const std::size_t first = root(tensors.front()), other = root(tensor);
      image_[first] = image_[first] || image_[other] || images;
      set_[other] = first;
      set_[tensor] = first;
    }
  }

  const TfliteFile& file_;
  mutable std::vector<std::size_t> set_;  ///< the way to the root is made shorter whenever it is gone
  std::vector<bool> image_;
};

}  // namespace tenshot::nasbench::tflite
