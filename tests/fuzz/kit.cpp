// A kit's folder with its results. The input holds its files, each after a line "@PATH".

#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "datasets/kit/kit_results.h"
#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"
#include "tests/fuzz/fuzz.h"

using namespace tenshot;

namespace {

bool is_plain(std::string_view path) {
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != '/') return false;
  }
  return !path.empty() && path.front() != '/' && path.back() != '/' && path.size() < 100 &&
         path.find("..") == std::string_view::npos && path.find("//") == std::string_view::npos;
}

void unpack(std::string_view text, const std::filesystem::path& folder) {
  while (!text.empty() && text.front() == '@') {
    const std::size_t line = text.find('\n');
    if (line == std::string_view::npos) return;
    const std::string_view path = text.substr(1, line - 1);
    const std::size_t next = text.find("\n@", line);
    const std::size_t end = next == std::string_view::npos ? text.size() : next;
    const std::string_view content = line + 1 <= end ? text.substr(line + 1, end - line - 1) : std::string_view();
    if (is_plain(path)) {
      require_writable_target(folder / path);
      write_file_quickly(folder / path, content);
    }
    text.remove_prefix(next == std::string_view::npos ? text.size() : next + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const TemporaryFolder folder;
  return fuzz::survives([&] {
    unpack(fuzz::text_of(data, size), folder.path());
    const datasets::KitResults results = datasets::read_kit_results(folder.path());
    const datasets::DeviceRuntime device = datasets::device_of(results, datasets::default_device_id(results));
    fuzz::require(!datasets::to_json(device, *results.manifest.space).dump().empty(), "a kit becomes a device");
  });
}
