#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace tenshot::descriptor {

/// What a test shows as /proc or /sys: files in a temporary folder, removed with it.
class FakeTree {
 public:
  FakeTree() : root_(::testing::TempDir() + "tenshot-tree-XXXXXX") {
    if (::mkdtemp(root_.data()) == nullptr) throw std::runtime_error(root_ + ": cannot make a temporary folder");
  }
  ~FakeTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;

  std::filesystem::path root() const { return root_; }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

 private:
  std::string root_;
};

}  // namespace tenshot::descriptor
