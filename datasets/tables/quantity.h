#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tenshot::datasets {

/// What is measured of a network on a device-runtime. Predictors treat every positive number per network alike; numbers
/// inside the program are called latencies in milliseconds whatever they are, and this says what they are.
enum class Quantity {
  latency,  ///< warm latency of an inference
  cold,     ///< from the model's file to the first output, in a fresh process
  energy,   ///< energy of an inference
  memory    ///< peak memory of a process that runs the network, less that of its runtime
};

constexpr std::array<Quantity, 4> all_quantities = {Quantity::latency, Quantity::cold, Quantity::energy,
                                                    Quantity::memory};

/// "latency", "cold", "energy", "memory": the word on the command line and in files.
std::string_view name(Quantity quantity);
/// "latency", "cold latency", "energy", "peak memory": in sentences and pictures.
std::string_view title(Quantity quantity);
/// "ms", "ms", "mJ", "MiB".
std::string_view unit(Quantity quantity);
/// "latency_ms", "cold_ms", "energy_mj", "memory_mib".
std::string column(Quantity quantity);
/// `start` with the unit: "lower" gives "lower_mj".
std::string column(std::string_view start, Quantity quantity);

/// Throws InputError that lists the quantities.
Quantity quantity_named(std::string_view name);
/// "latency, cold, energy, memory".
std::string quantity_list();

/// The quantities of which `columns` holds the column.
std::vector<Quantity> quantities_in(const std::vector<std::string>& columns);

/// `text`, a name or a sentence that speaks of a latency in milliseconds, for another quantity: "latency_ms" becomes
/// "energy_mj", "costs_ms" becomes "costs_mj", "1.2 ms" becomes "1.2 mJ", "latencies" becomes "energies". Unchanged for
/// latencies.
std::string in_words_of(Quantity quantity, std::string text);

/// How many milliseconds one "s", "ms" or "us" is. Throws InputError that lists the units.
double milliseconds_of(std::string_view unit);

/// A sentence that asks for the unit where one source's latencies are about a thousand or a million times another's,
/// else "". `ratios` are of the networks that both measured, `first` over `second`.
std::string unit_doubt(std::vector<double> ratios, const std::string& first, const std::string& second);

}  // namespace tenshot::datasets
