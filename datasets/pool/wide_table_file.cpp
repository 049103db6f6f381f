#include "datasets/pool/wide_table_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "datasets/pool/device_file.h"
#include "datasets/tables/space_files.h"
#include "nasbench/support/files.h"

namespace tenshot::datasets {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t values_of_block = std::size_t{1} << 21;  // 16 MB

fs::path nearest_existing(fs::path folder) {
  folder = fs::absolute(folder);
  while (!is_folder(folder) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

[[noreturn]] void fail(const fs::path& folder, const char* what) {
  throw FileError(folder.string() + ": " + what + " a temporary file here (" + std::generic_category().message(errno) +
                  ")");
}

/// A file in `folder` that has no name, without a buffer; nullptr where none can be made.
std::FILE* open_nameless(const fs::path& folder) {
  constexpr mode_t own = 0600;
  int number = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, own);
  if (number < 0) {  // where the file system has no such files
    std::string name = (folder / ".tenshot-XXXXXX").string();
    number = ::mkstemp(name.data());
    if (number >= 0) ::unlink(name.c_str());
  }
  std::FILE* file = number < 0 ? nullptr : ::fdopen(number, "w+b");
  if (file != nullptr) std::setvbuf(file, nullptr, _IONBF, 0);
  return file;
}

}  // namespace

WideTableFile::WideTableFile(const fs::path& table, const NetworkSpace& space, const WideTableOptions& options,
                             const fs::path& out)
    : space_(space), table_(name_in_messages(table)), options_(options) {
  FileBlocks blocks(table);
  CsvReader csv([&](std::string& text, std::size_t most) { return blocks.append_to(text, most); }, table_);
  WideTableScan scan(csv, space, options);
  for (const WideTableScan::DeviceColumn& column : scan.columns()) columns_.push_back({column.id});
  spool_ = std::make_unique<ColumnSpool>(out, columns_.size());
  scan.run(findings_, [&](const Architecture& architecture, const std::vector<double>& latencies_ms) {
    architectures_.push_back(architecture);
    spool_->append(latencies_ms);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (std::isnan(latencies_ms[c])) continue;
      ++columns_[c].usable;
      columns_[c].whole_milliseconds = columns_[c].whole_milliseconds && latencies_ms[c] == std::floor(latencies_ms[c]);
    }
  });
  constexpr std::size_t enough = 5;
  for (Column& column : columns_) column.whole_milliseconds = column.whole_milliseconds && column.usable >= enough;
}

DeviceRuntime WideTableFile::device(std::size_t column) const {
  DeviceRuntime device = imported_device(columns_[column].id, table_, options_.quantity, columns_[column].usable);
  const std::vector<double> latencies_ms = spool_->column(column);
  for (std::size_t a = 0; a < architectures_.size(); ++a) {
    if (!std::isnan(latencies_ms[a])) device.latencies.push_back({architectures_[a], latencies_ms[a]});
  }
  add_operator_latencies(device, space_, options_.operator_latencies);
  return device;
}

/// What any column measured, in the order in which the columns name it first. Only networks by name are asked for.
std::vector<Architecture> WideTableFile::known_architectures() const {
  std::vector<Architecture> known;
  if (space_.search_space() != nullptr) return known;
  nasbench::ArchitectureSet seen;
  for (std::size_t c = 0; c < columns_.size() && seen.size() < architectures_.size(); ++c) {
    for (const Measurement& row : device(c).latencies) {
      if (seen.insert(row.architecture).second) known.push_back(row.architecture);
    }
  }
  return known;
}

void WideTableFile::write_pool(const fs::path& folder, const std::function<void(DeviceRuntime&)>& complete) const {
  make_folder(folder);
  require_one_space(folder, space_);
  write_space_files(folder, space_, known_architectures());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].usable == 0) continue;
    DeviceRuntime device = this->device(c);
    if (complete) complete(device);
    write_device_files(folder, device, space_);
  }
}

ColumnSpool::ColumnSpool(const fs::path& folder, std::size_t columns)
    : folder_(nearest_existing(folder)),
      columns_(columns),
      rows_of_block_(std::max<std::size_t>(values_of_block / std::max<std::size_t>(columns, 1), 1)) {}

void ColumnSpool::append(const std::vector<double>& row) {
  buffer_.insert(buffer_.end(), row.begin(), row.end());
  if (buffer_.size() == rows_of_block_ * columns_) write_block();
}

void ColumnSpool::write_block() {
  if (file_ == nullptr) file_.reset(open_nameless(folder_));
  if (file_ == nullptr) fail(folder_, "cannot make");
  std::vector<double> block(buffer_.size());
  for (std::size_t r = 0; r < rows_of_block_; ++r) {
    for (std::size_t c = 0; c < columns_; ++c) block[c * rows_of_block_ + r] = buffer_[r * columns_ + c];
  }
  std::fseek(file_.get(), 0, SEEK_END);
  if (std::fwrite(block.data(), sizeof(double), block.size(), file_.get()) < block.size())
    fail(folder_, "cannot write");
  buffer_.clear();
  ++blocks_;
}

std::vector<double> ColumnSpool::column(std::size_t column) const {
  std::vector<double> values(blocks_ * rows_of_block_);
  for (std::size_t b = 0; b < blocks_; ++b) {
    const auto offset = static_cast<off_t>((b * columns_ + column) * rows_of_block_ * sizeof(double));
    ::fseeko(file_.get(), offset, SEEK_SET);
    double* into = values.data() + b * rows_of_block_;
    if (std::fread(into, sizeof(double), rows_of_block_, file_.get()) < rows_of_block_) fail(folder_, "cannot read");
  }
  for (std::size_t at = column; at < buffer_.size(); at += columns_) values.push_back(buffer_[at]);
  return values;
}

}  // namespace tenshot::datasets
