#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenshot::descriptor {

/// Where the kernel lists its performance monitoring units (PMUs), one folder each.
inline const std::filesystem::path event_sources = "/sys/bus/event_source/devices";

/// The PMUs of processor cores, ascending: "cpu" on most machines, "cpu_atom" and "cpu_core" on a hybrid Intel
/// processor, "armv8_cortex_a55" and "armv8_cortex_a76" on a big.LITTLE one. A core PMU is one named "cpu" or "cpum_cf"
/// (IBM Z), or one with a file `cpus`, as perf(1) decides; units outside the cores have a `cpumask`, software ones
/// neither. Empty where no hardware counts: in most virtual machines, and where the folder cannot be read.
std::vector<std::string> core_types(const std::filesystem::path& sources = event_sources);

/// The core type of a processor, as core_types names it; empty where the kernel does not say. Where a machine has more
/// than one type, counts mean something only for a thread that is pinned to processors of one type (CpuPin): each type
/// has counters, events and caches of its own, and the kernel counts an event on the cores of one type only.
std::string core_type(int cpu, const std::filesystem::path& sources = event_sources);

/// The core types of several processors, each once and ascending, joined by '+', or "unknown"; files record it.
std::string core_types_of(const std::vector<int>& cpus, const std::filesystem::path& sources = event_sources);

}  // namespace tenshot::descriptor
