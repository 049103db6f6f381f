#include "nasbench/formats/network_file.h"

#include <string>
#include <system_error>

#include "nasbench/graph/onnx_external.h"
#include "nasbench/graph/onnx_reader.h"
#include "nasbench/support/error.h"
#include "nasbench/support/file_kind.h"
#include "nasbench/support/words.h"

namespace tenshot::nasbench {
namespace {

std::vector<std::filesystem::path> no_files(const std::filesystem::path&) { return {}; }
std::optional<std::string> no_problem(const std::filesystem::path&) { return std::nullopt; }

const NetworkFormat* format_by_name(const std::filesystem::path& file) {
  const std::string suffix = lower_case(file.extension().string());
  for (const NetworkFormat& format : network_formats()) {
    if (format.suffix == suffix) return &format;
  }
  return nullptr;
}

}  // namespace

const std::vector<NetworkFormat>& network_formats() {
  static const std::vector<NetworkFormat> formats = {
      {".onnx", "ONNX", read_onnx, external_data_files, external_data_problem},
      {".tflite", "TensorFlow Lite", read_tflite, no_files, no_problem},
      {".param", "ncnn", read_ncnn, ncnn_weight_files, ncnn_weights_problem}};
  return formats;
}

const NetworkFormat& network_format(const std::filesystem::path& file) {
  if (const NetworkFormat* format = format_by_name(file)) return *format;
  const std::optional<FileKind> kind = file_kind(file);
  for (const NetworkFormat& format : network_formats()) {
    if (kind && kind->what.find(format.name) != std::string::npos) return format;
  }
  return network_formats().front();
}

bool is_network_file(const std::filesystem::path& file) { return format_by_name(file) != nullptr; }

std::vector<std::string> network_suffixes() {
  std::vector<std::string> suffixes;
  for (const NetworkFormat& format : network_formats()) suffixes.push_back("*" + format.suffix);
  return suffixes;
}

Network read_network_file(const std::filesystem::path& file, const NetworkReadOptions& options) {
  std::error_code ignored;
  if (std::filesystem::is_fifo(file, ignored)) {  // opening it would wait for whoever writes
    throw FileError("cannot read '" + file.string() + "': it is no regular file");
  }
  return network_format(file).read(file, options);
}

}  // namespace tenshot::nasbench
