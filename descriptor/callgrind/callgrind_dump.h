#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tenshot::descriptor {

/// What tenshot reads of one profile dump of callgrind (Valgrind manual, "Callgrind Format Specification").
struct CallgrindDump {
  std::string creator;                   ///< "callgrind-3.19.0"
  std::string trigger;                   ///< the name that the client request gave the dump; "" without one
  std::map<std::string, double> counts;  ///< event ("Ir") → how often it happened since counting was set to zero
};

/// Reads a dump; `file` is what errors call it. Counts are those of the line "summary:", since "totals:", the sum over
/// the lines of code, keeps part of what happened before counting was set to zero. Throws FormatError when `text` is no
/// dump, is cut short ("totals:" comes last), or holds counts that are none.
CallgrindDump parse_callgrind_dump(std::string_view text, const std::string& file);

}  // namespace tenshot::descriptor
