#include <cmath>
#include <cstring>

#include "datasets/pool/device_file.h"
#include "datasets/pool/pool.h"
#include "nasbench/support/numbers.h"

namespace tenshot::datasets {
namespace {

// Bytes to hash: numbers little-endian, texts and lists after their length, so that no two contents read the same.

void add(std::string& bytes, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(value >> shift & 0xFF));
}
void add(std::string& bytes, double value) {
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  add(bytes, bits);
}
void add(std::string& bytes, std::string_view text) {
  add(bytes, std::uint64_t{text.size()});
  bytes += text;
}
void add(std::string& bytes, const Architecture& architecture) {
  bytes.push_back(static_cast<char>(architecture.size()));
  bytes.append(architecture.begin(), architecture.end());
}

/// The hashes of pools whose operators are known by name are in many files.
void add_operator(std::string& bytes, const std::string& name, const nasbench::OperatorSequence& key,
                  const NetworkSpace* space) {
  add(bytes, name);
  add(bytes, static_cast<std::uint64_t>(key.channels()));
  add(bytes, static_cast<std::uint64_t>(key.resolution()));
  if (space != nullptr && !is_known_by_name(name, key, *space)) add(bytes, nasbench::format(key));
}

void add_descriptor(std::string& bytes, const HardwareDescriptor& descriptor, const NetworkSpace* space) {
  add(bytes, descriptor.source);
  add(bytes, std::uint64_t{descriptor.counters.size()});
  for (const std::string& counter : descriptor.counters) add(bytes, counter);
  add(bytes, std::uint64_t{descriptor.operators.size()});
  for (const OperatorProfile& profile : descriptor.operators) {
    add_operator(bytes, profile.name, profile.key, space);
    add(bytes, profile.latency_ms);
    add(bytes, std::uint64_t{profile.counts.size()});
    for (const double count : profile.counts) add(bytes, count);
  }
  if (!descriptor.has_in_network()) return;  // the hashes of pools without it are in many files
  add(bytes, std::string_view("in_network"));
  add(bytes, std::uint64_t{descriptor.in_network.size()});
  for (const OperatorProfile& latency : descriptor.in_network) {
    add_operator(bytes, latency.name, latency.key, space);
    add(bytes, latency.latency_ms);
  }
}

void add_latencies(std::string& bytes, const std::vector<Measurement>& latencies) {
  std::vector<const Measurement*> rows;
  for (const Measurement& row : latencies) rows.push_back(&row);
  std::sort(rows.begin(), rows.end(),
            [](const Measurement* a, const Measurement* b) { return a->architecture < b->architecture; });
  add(bytes, std::uint64_t{rows.size()});
  for (const Measurement* row : rows) {
    add(bytes, row->architecture);
    add(bytes, row->latency_ms);
  }
}

/// The hashes of pools without them are in many files.
void add_operator_latencies(std::string& bytes, const std::vector<OperatorLatency>& latencies) {
  if (latencies.empty()) return;
  add(bytes, std::string_view("operator_latencies"));
  add(bytes, std::uint64_t{latencies.size()});
  for (const OperatorLatency& latency : latencies) {
    add(bytes, format(latency.operation));
    add(bytes, latency.latency_ms);
    add(bytes, latency.network);
  }
}

}  // namespace

LatencyMatrix latency_matrix(const Pool& pool) {
  LatencyMatrix matrix;
  nasbench::ArchitectureMap<std::size_t> positions;
  std::vector<std::vector<std::size_t>> columns(pool.devices.size());
  for (std::size_t d = 0; d < pool.devices.size(); ++d) {
    const std::vector<Measurement>& rows = pool.devices[d].latencies;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Architecture& architecture = rows[i].architecture;
      // Devices of one table list the same architectures in the same order; only others need the search.
      if (i < matrix.architectures.size() && matrix.architectures[i] == architecture) {
        columns[d].push_back(i);
        continue;
      }
      const auto [position, is_new] = positions.emplace(architecture, matrix.architectures.size());
      if (is_new) matrix.architectures.push_back(architecture);
      columns[d].push_back(position->second);
    }
  }
  const std::vector<double> nothing(matrix.architectures.size(), std::numeric_limits<double>::quiet_NaN());
  matrix.latency_ms.assign(pool.devices.size(), nothing);
  for (std::size_t d = 0; d < pool.devices.size(); ++d) {
    const std::vector<Measurement>& rows = pool.devices[d].latencies;
    for (std::size_t i = 0; i < rows.size(); ++i) matrix.latency_ms[d][columns[d][i]] = rows[i].latency_ms;
  }
  return matrix;
}

std::string content_hash(const Pool& pool) {
  std::vector<const DeviceRuntime*> devices;
  for (const DeviceRuntime& device : pool.devices) devices.push_back(&device);
  std::sort(devices.begin(), devices.end(),
            [](const DeviceRuntime* a, const DeviceRuntime* b) { return a->id < b->id; });
  std::string bytes;
  add(bytes, pool.space == nullptr ? std::string_view() : pool.space->name());
  add(bytes, std::uint64_t{devices.size()});
  for (const DeviceRuntime* device : devices) {
    add(bytes, device->id);
    // The hashes of pools of latencies are in many files.
    if (device->quantity != Quantity::latency) add(bytes, name(device->quantity));
    add_descriptor(bytes, device->descriptor, pool.space);
    add_latencies(bytes, device->latencies);
    add_operator_latencies(bytes, device->operator_latencies);
  }
  return sha256_hex(bytes);
}

}  // namespace tenshot::datasets
