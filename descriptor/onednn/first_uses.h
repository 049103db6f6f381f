#pragma once

namespace tenshot::descriptor {

/// What the first uses of the library in a process cost more than later ones.
struct FirstUses {
  double primitive_ms = 0;       ///< extra cost of the first primitive of all
  double matrix_product_ms = 0;  ///< extra cost of the first that a matrix product computes, whose code is shared
};

/// Measured in several child processes, which have not used the library yet; the least of them, since what disturbs
/// only adds. Zeros where there can be no child.
FirstUses first_uses();

}  // namespace tenshot::descriptor
