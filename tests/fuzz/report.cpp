// The results of a stranger's experiment as a page: the input is results.json, a byte 0, and predictions.csv.

#include "trainer/report/report.h"

#include "nasbench/support/files.h"
#include "nasbench/support/temporaries.h"
#include "tests/fuzz/fuzz.h"

using namespace tenshot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder folder;
  const std::string_view input = fuzz::text_of(data, size);
  const std::size_t end = std::min(input.find('\0'), input.size());
  const std::filesystem::path predictions = folder.path() / "predictions.csv";
  return fuzz::survives([&] {
    write_file_quickly(folder.path() / "results.json", input.substr(0, end));
    if (end < input.size()) {
      write_file_quickly(predictions, input.substr(end + 1));
    } else {
      std::filesystem::remove(predictions);
    }
    fuzz::require(!trainer::report::experiment_report(folder.path()).html().empty(), "a page says something");
  });
}
