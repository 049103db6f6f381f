#include "nasbench/support/file_kind.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <string_view>

#include "nasbench/support/files.h"
#include "nasbench/support/text.h"
#include "nasbench/support/words.h"

namespace tenshot {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t looked_at = 4096;

constexpr const char* fetch_again = "it is what a failed download leaves; download the model again";
constexpr const char* unpack = "unpack it first";
constexpr const char* export_torch = "export it by torch.onnx.export(model, example, \"model.onnx\")";
constexpr const char* export_keras = "export it by tf2onnx or by TensorFlow's TFLiteConverter";
constexpr const char* convert = "export the network as ONNX, TensorFlow Lite or ncnn";
constexpr const char* rename_onnx = "if it is one, its name has to end in .onnx";
constexpr const char* rename_tflite = "if it is one, its name has to end in .tflite";

/// Bytes at a place of the file that no other kind of file has there. The first row that fits is what it is.
struct Signature {
  std::size_t offset;
  std::string_view bytes;
  const char* what;
  const char* advice;
};

constexpr std::array<Signature, 25> signatures = {{
    {0, "version https://git-lfs"sv, "a Git LFS pointer", "fetch the file itself by git lfs pull"},
    {0, "\x1f\x8b"sv, "a gzip archive", unpack},
    {0, "BZh"sv, "a bzip2 archive", unpack},
    {0, "\xfd\x37zXZ"sv, "an xz archive", unpack},
    {0, "\x28\xb5\x2f\xfd"sv, "a Zstandard archive", unpack},
    {0, "7z\xbc\xaf"sv, "a 7-Zip archive", unpack},
    {0, "Rar!"sv, "a RAR archive", unpack},
    {257, "ustar"sv, "a tar archive", unpack},
    {4, "TFL3"sv, "a TensorFlow Lite model", rename_tflite},
    {4, "ORTM"sv, "a model of ONNX Runtime's own format (.ort)", "take the ONNX model that it was made of"},
    {4, "ET12"sv, "an ExecuTorch program (.pte)", convert},
    {4, "CIR0"sv, "a Circle model", convert},
    {0, "7767517"sv, "an ncnn network", "if it is one, its name has to end in .param"},
    {0, "\xdd\x85\x76\0"sv, "an ncnn network in binary (.param.bin)", "take the text, .param"},
    {0, "\x89HDF\r\n"sv, "an HDF5 file, such as Keras writes", export_keras},
    {0, "GGUF"sv, "a GGUF file of weights", convert},
    {0, "\x80\x02"sv, "a Python pickle, such as torch.save writes", export_torch},
    {0, "\x80\x03"sv, "a Python pickle", export_torch},
    {0, "\x80\x04"sv, "a Python pickle", export_torch},
    {0, "\x80\x05"sv, "a Python pickle", export_torch},
    {7, "\0{\""sv, "a safetensors file: weights without a network", export_torch},
    {0, "ftrt"sv, "a TensorRT engine", "take the ONNX model that it was made of"},
    {0, "ptrt"sv, "a TensorRT engine", "take the ONNX model that it was made of"},
    {0, "\xff\xfe"sv, "a text in UTF-16", ""},
    {0, "\xfe\xff"sv, "a text in UTF-16", ""},
}};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// An archive of the kind that PyTorch, Keras, NumPy and others make their files of.
FileKind zip_kind(std::string_view head) {
  if (contains(head, "code/__torch__")) return {"a TorchScript archive (zip)", export_torch};
  if (contains(head, "data.pkl")) return {"a PyTorch file (zip)", export_torch};
  if (contains(head, "model.weights.h5") || contains(head, "config.json")) return {"a Keras model (zip)", export_keras};
  if (contains(head, ".npy")) return {"NumPy arrays (zip)", ""};
  return {"a zip archive", unpack};
}

/// Letters, digits, punctuation, blanks and UTF-8, without any byte that no text has.
bool is_text(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f;
  });
}

FileKind text_kind(std::string_view head) {
  const std::size_t start = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const std::string text =
      lower_case(start == std::string_view::npos ? std::string() : std::string(head.substr(start, 600)));
  if (begins_with(text, "<!doctype html") || begins_with(text, "<html") || contains(text, "<head")) {
    return {"an HTML page", fetch_again};
  }
  if (contains(text, "<net ") && begins_with(text, "<")) return {"an OpenVINO network (.xml)", convert};
  if (begins_with(text, "<")) return {"an XML document", fetch_again};
  if (begins_with(text, "{") || begins_with(text, "[")) return {"a JSON document", fetch_again};
  if (begins_with(text, "ir_version:")) return {"an ONNX model as text", "write it in binary, by onnx.save"};
  if (contains(text, "layer {") || begins_with(text, "name: \"")) return {"a Caffe network as text", convert};
  if (text.empty()) return {"blank", fetch_again};
  if (text[0] >= '1' && text[0] <= '9' && contains(text, "\ninput "))
    return {"an ncnn network of before 2017, without the number 7767517 before its layers", "write it anew"};
  const std::string_view line =
      head.substr(start, std::min<std::size_t>(24, head.find_first_of("\r\n", start) - start));
  return {"a text that begins with '" + excerpt(line) + "'", fetch_again};
}

/// The version of ONNX's format, and a producer or a graph: what every exporter writes first.
bool is_onnx(std::string_view head) {
  constexpr std::string_view next = "\x12\x1a\x22\x28\x32\x3a\x42";
  return head.size() > 2 && head[0] == '\x08' && head[1] > 0 && head[1] < 32 &&
         next.find(head[2]) != std::string_view::npos;
}

std::string first_bytes(const std::filesystem::path& path) {
  std::string head(looked_at, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return head;
}

}  // namespace

std::optional<FileKind> file_kind(const std::filesystem::path& path) {
  if (is_file(path / "saved_model.pb")) return FileKind{"a TensorFlow SavedModel", export_keras};
  if (is_folder(path)) return FileKind{"a folder", "name the files in it"};
  if (!is_file(path)) return std::nullopt;
  const std::string head = first_bytes(path);
  if (head.empty()) return FileKind{"empty", fetch_again};
  if (path.extension() == ".pt2") return FileKind{"a program that torch.export saved", export_torch};
  if (begins_with(head, "PK\x03\x04")) return zip_kind(head);
  for (const Signature& signature : signatures) {
    if (head.size() < signature.offset + signature.bytes.size()) continue;
    if (head.compare(signature.offset, signature.bytes.size(), signature.bytes) == 0) {
      return FileKind{signature.what, signature.advice};
    }
  }
  if (is_onnx(head)) return FileKind{"an ONNX model", rename_onnx};
  if (path.extension() == ".pb") return FileKind{"a TensorFlow graph, by its name", export_keras};
  if (path.extension() == ".caffemodel") return FileKind{"a Caffe model, by its name", convert};
  if (is_text(head)) return text_kind(head);
  if (head.find_first_not_of('\0') == std::string::npos) return FileKind{"nothing but zeros", fetch_again};
  return std::nullopt;
}

std::optional<std::string> other_kind_message(const std::filesystem::path& path, const std::string& expected) {
  const std::optional<FileKind> kind = file_kind(path);
  if (!kind || kind->what == expected) return std::nullopt;
  return "'" + path.string() + "' is " + kind->what + ", no " + expected.substr(expected.find(' ') + 1) +
         (kind->advice.empty() ? "" : "; " + kind->advice);
}

}  // namespace tenshot
