#pragma once

#include <cstring>
#include <typeinfo>
#include <vector>

namespace tenshot {

// LibTorch takes half a second to load, and OpenCV, oneDNN and XGBoost a third of the time of a prediction. What needs
// them is linked into libtenshot_torch.so and libtenshot_engines.so, which are loaded when one of their functions is
// called for the first time: the sources named as TORCH or ENGINES of a room (tenshot_room() in .cmake/tenshot.cmake).
// Each function that others call has a row in trainer/late/torch.cpp or engines.cpp, which makes it known by name, and
// one of the same declaration in a source *_late.cpp of the room, which calls it by that name:
//
//     std::unique_ptr<Runtime> make_libtorch_runtime(std::string_view name) {
//       return from_torch_library("make_libtorch_runtime", make_libtorch_runtime)(name);
//     }
//
// Files are written, and signals handled, outside: the library has its own copy of everything below it.

enum class LateLibrary { torch, engines };

/// The function that the library knows by `name` and type (what typeid says of it); loads the library where it is not
/// there yet. Any thread may call it. Throws Error that says what to install where the library cannot be loaded, where
/// it is another version's, or where the address space is limited to less than LibTorch needs (ulimit -v): OpenBLAS
/// would ask for memory for ever.
void* late_function(LateLibrary library, const char* name, const char* type);

/// The library's function of the same name and type as one here.
template <class Signature>
Signature* from_torch_library(const char* name, Signature*) {
  return reinterpret_cast<Signature*>(late_function(LateLibrary::torch, name, typeid(Signature).name()));
}

template <class Signature>
Signature* from_engines_library(const char* name, Signature*) {
  return reinterpret_cast<Signature*>(late_function(LateLibrary::engines, name, typeid(Signature).name()));
}

/// A function that one of the libraries offers.
struct LateFunction {
  template <class Signature>
  LateFunction(const char* its_name, Signature* function)
      : name(its_name), type(typeid(Signature).name()), address(reinterpret_cast<void*>(function)) {}

  const char* name;
  const char* type;
  void* address;
};

/// Null where no function of the library has the name and the type.
inline void* address_of(const std::vector<LateFunction>& functions, const char* name, const char* type) {
  for (const LateFunction& function : functions) {
    if (std::strcmp(function.name, name) == 0 && std::strcmp(function.type, type) == 0) return function.address;
  }
  return nullptr;
}

}  // namespace tenshot
