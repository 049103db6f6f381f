#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tenshot::descriptor {

/// First line of a file, without blanks around it; nothing when it cannot be read.
std::optional<std::string> first_line(const std::filesystem::path& path);

/// Whether /proc/cpuinfo names the flag, as those of x86 processors are.
bool has_cpu_flag(const std::string& flag);

/// What the processor calls itself ("unknown CPU" where the system does not say).
std::string cpu_model();
/// "family 6 model 207 stepping 2", which tells processors of one name apart; empty where it is not known, as on Arm.
std::string cpu_revision();
/// Processors this process may run on.
int usable_cpus();
/// "Linux 6.1.0-18-amd64 x86_64".
std::string kernel_release();
/// Load averages over 1, 5 and 15 minutes; empty where the system has none.
std::vector<double> load_average();
/// Current frequency of a processor where the system shows one.
std::optional<double> cpu_frequency_mhz(int cpu);
/// The hottest thermal zone where the system shows one, degrees Celsius.
std::optional<double> temperature_c();

/// Keeps the calling thread, and threads it starts from now on, on the last of the processors it may use (the first
/// ones serve most interrupts), and gives the thread its former processors back at the end. Where the system refuses,
/// nothing is pinned and `cpus()` is empty.
class CpuPin {
 public:
  explicit CpuPin(int cpus);
  /// To these processors.
  explicit CpuPin(std::vector<int> cpus);
  ~CpuPin();
  CpuPin(const CpuPin&) = delete;
  CpuPin& operator=(const CpuPin&) = delete;

  /// Where the thread is pinned to; empty when it is not.
  const std::vector<int>& cpus() const { return cpus_; }

 private:
  std::vector<int> former_cpus_;
  std::vector<int> cpus_;
};

/// The processors the calling thread may run on, ascending; empty where the system does not say.
std::vector<int> allowed_cpus();

}  // namespace tenshot::descriptor
