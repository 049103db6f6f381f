#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace tenshot::datasets {

/// A matrix of numbers that is written row by row and read column by column, on disk beyond some megabytes: in a file
/// without a name, so that nothing of it is left whatever ends the process.
class ColumnSpool {
 public:
  /// The file is in `folder`, or, while that does not exist, in the nearest folder above it that does. Throws FileError
  /// where none can be made.
  ColumnSpool(const std::filesystem::path& folder, std::size_t columns);
  ~ColumnSpool();
  ColumnSpool(const ColumnSpool&) = delete;
  ColumnSpool& operator=(const ColumnSpool&) = delete;

  /// `row` has as many values as there are columns. Throws FileError (the disk is full).
  void append(const std::vector<double>& row);
  std::vector<double> column(std::size_t column) const;

 private:
  void write_block();

  std::filesystem::path folder_;
  std::size_t columns_;
  std::size_t rows_of_block_;
  std::size_t blocks_ = 0;      ///< on disk, each full
  std::vector<double> buffer_;  ///< rows of the block that is not full
  int file_ = -1;
};

}  // namespace tenshot::datasets
