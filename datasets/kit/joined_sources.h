#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/kit/measured_source.h"

namespace tenshot::datasets {

/// A network that several sources measured.
struct RepeatedNetwork {
  std::string name;            ///< as its space formats it
  std::vector<double> values;  ///< in the order of the sources
  double disagreement = 0;     ///< the largest over the smallest, less 1
};

/// Measurements of one device-runtime, or of several boards of one kind, from several places.
struct JoinedSources {
  /// Every network once, in the order in which they first come. Of a network that several sources measured, the median
  /// of their values; of a fleet that over the boards, whose levels are taken out of all values; the descriptor of the
  /// last source that has one; the last kit, which of a fleet names no board.
  MeasuredSource measured;
  std::vector<MeasuredSource> sources;  ///< each as it was read
  std::vector<RepeatedNetwork> repeated;
  Fleet levels;  ///< how the sources differ, or of a fleet its boards

  /// Sentences for people: what was measured more than once and how far that agrees, and how far the sources differ;
  /// for a fleet, how far its boards do. None where nothing was.
  std::vector<std::string> remarks(Quantity quantity) const;
  /// The doubts, and what is left out or doubtful of each source.
  std::vector<std::string> warnings() const;
};

/// Joins what read_measured() reads of each path. A single one stays as it is. Sources are of several boards where they
/// say so themselves (MeasuredSource::board); with `fleet`, each that does not say is a board of its own. Otherwise
/// they are rounds of measuring one board. Throws what read_measured() throws; InputError for a `fleet` of one board or
/// without a network in common, for boards that differ too far to have a typical one, for sources of several
/// precisions, and where some sources say that they are of several boards and one does not say whose it is.
JoinedSources read_joined(const std::vector<std::filesystem::path>& paths, const NetworkSpace& space, Quantity quantity,
                          bool fleet = false);

}  // namespace tenshot::datasets
