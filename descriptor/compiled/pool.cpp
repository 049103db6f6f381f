#include <utility>

#include "descriptor/compiled/kernel_makers.h"
#include "descriptor/compiled/window.h"

namespace tenshot::descriptor {
namespace {

class Pool : public CompiledKernel {
 public:
  Pool(const Window& window, std::vector<Segment> segments, bool greatest, bool counts_padding, const MachineCode& code)
      : window_(window),
        segments_(std::move(segments)),
        greatest_(greatest),
        counts_padding_(counts_padding),
        code_(code) {}

  std::size_t scratch_bytes() const override { return static_cast<std::size_t>(window_.taps()) * sizeof(float*); }

  void execute(const Arguments& arguments) const override {
    auto** taps = reinterpret_cast<const float**>(arguments.scratch);
    PoolTask task;
    task.taps = taps;
    task.step = window_.step();
    task.channels = window_.channels;
    task.greatest = greatest_;
    for (const Segment& segment : segments_) {
      task.count = 0;
      window_.each_tap(segment, [&](int, std::ptrdiff_t place) { taps[task.count++] = arguments.inputs[0] + place; });
      task.scale = 1.0F / static_cast<float>(counts_padding_ ? window_.taps() : task.count);
      task.pixels = segment.count;
      task.output = arguments.output + static_cast<std::ptrdiff_t>(segment.pixel) * window_.channels;
      code_.pool(task);
    }
  }

 private:
  Window window_;
  std::vector<Segment> segments_;
  bool greatest_, counts_padding_;
  const MachineCode& code_;
};

}  // namespace

std::unique_ptr<CompiledKernel> compiled_pool(const ColdNetwork& network, const ColdLayer& layer,
                                              const MachineCode& code) {
  const bool greatest = layer.kind == ColdKind::max_pool;
  if ((!greatest && layer.kind != ColdKind::average_pool) || !has_images(network, layer)) return nullptr;
  if (!layer.activation.name.empty()) return nullptr;
  const Window window = window_of(network, layer);
  std::vector<Segment> segments = window.segments();
  for (const Segment& segment : segments) {
    if (segment.rows * segment.columns == 0) return nullptr;  // a window outside the image
  }
  return std::make_unique<Pool>(window, std::move(segments), greatest, layer.count_padding, code);
}

}  // namespace tenshot::descriptor
