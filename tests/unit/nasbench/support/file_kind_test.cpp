#include "nasbench/support/file_kind.h"

#include <gtest/gtest.h>

#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"

namespace tenshot {
namespace {

std::string kind_of(const std::string& bytes) {
  const TemporaryFolder folder;
  write_file_quickly(folder.path() / "file", bytes);
  const std::optional<FileKind> kind = file_kind(folder.path() / "file");
  return kind ? kind->what : "nothing";
}

TEST(FileKind, WhatFilesAre_IsSaidByTheirFirstBytes) {
  using namespace std::string_literals;
  EXPECT_EQ(kind_of(""), "empty");
  EXPECT_EQ(kind_of("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"), "a Git LFS pointer");
  EXPECT_EQ(kind_of("<!DOCTYPE html>\n<html></html>"), "an HTML page");
  EXPECT_EQ(kind_of("\n  <HTML><body>404</body></HTML>"), "an HTML page");
  EXPECT_EQ(kind_of("<?xml version=\"1.0\"?>\n<net name=\"a\" version=\"11\"></net>"), "an OpenVINO network (.xml)");
  EXPECT_EQ(kind_of("<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code></Error>"), "an XML document");
  EXPECT_EQ(kind_of("{\"message\": \"Not Found\"}"), "a JSON document");
  EXPECT_EQ(kind_of("\x1f\x8b\x08\0\0"s), "a gzip archive");
  EXPECT_EQ(kind_of("PK\x03\x04..........net/data.pkl"s), "a PyTorch file (zip)");
  EXPECT_EQ(kind_of("PK\x03\x04..........net/code/__torch__.py"s), "a TorchScript archive (zip)");
  EXPECT_EQ(kind_of("PK\x03\x04..........readme"s), "a zip archive");
  EXPECT_EQ(kind_of("\x1c\0\0\0TFL3"s), "a TensorFlow Lite model");
  EXPECT_EQ(kind_of("\x1c\0\0\0ORTM"s), "a model of ONNX Runtime's own format (.ort)");
  EXPECT_EQ(kind_of("7767517\n3 3\n"), "an ncnn network");
  EXPECT_EQ(kind_of("\x80\x02}q\0"s), "a Python pickle, such as torch.save writes");
  EXPECT_EQ(kind_of("\x89HDF\r\n\x1a\n"s), "an HDF5 file, such as Keras writes");
  EXPECT_EQ(kind_of("\x20\0\0\0\0\0\0\0{\"a\":1}"s), "a safetensors file: weights without a network");
  EXPECT_EQ(kind_of("\x08\x07\x12\x07pytorch"s), "an ONNX model");
  EXPECT_EQ(kind_of("2 2\nInput data 0 1 data\nReLU r 1 1 data y\n"),
            "an ncnn network of before 2017, without the number 7767517 before its layers");
  EXPECT_EQ(kind_of("architecture,latency_ms\n"), "a text that begins with 'architecture,latency_ms'");
  EXPECT_EQ(kind_of(std::string(100, '\0')), "nothing but zeros");
  EXPECT_EQ(kind_of("\x01\x02\x03\x04"s), "nothing");
}

TEST(FileKind, Messages_SayWhatItIsAndWhatToDo) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "net.onnx";
  write_file_quickly(path, "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_EQ(other_kind_message(path, "an ONNX model"),
            "'" + path.string() + "' is a Git LFS pointer, no ONNX model; fetch the file itself by git lfs pull");
  write_file_quickly(path, "7767517\n");
  EXPECT_EQ(other_kind_message(path, "an ncnn network"), std::nullopt);
  EXPECT_EQ(file_kind(folder.path()).value_or(FileKind{"nothing", ""}).what, "a folder");
  EXPECT_EQ(file_kind(folder.path() / "nowhere"), std::nullopt);
  const auto what_is = [&](const std::string& name) {
    write_file_quickly(folder.path() / name, "\n\x0f\n\x05image\x12\x0bPlaceholder");
    return file_kind(folder.path() / name).value_or(FileKind{"nothing", ""}).what;
  };
  EXPECT_EQ(what_is("frozen.pb"), "a TensorFlow graph, by its name");
  EXPECT_EQ(what_is("net.pt2"), "a program that torch.export saved");
  EXPECT_EQ(what_is("net.caffemodel"), "a Caffe model, by its name");
  what_is("saved_model.pb");
  EXPECT_EQ(file_kind(folder.path()).value_or(FileKind{"nothing", ""}).what, "a TensorFlow SavedModel");
}

}  // namespace
}  // namespace tenshot
