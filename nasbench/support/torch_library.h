#pragma once

#include <typeinfo>

namespace tenshot {

// LibTorch takes half a second to load, and most of what tenshot does needs nothing of it. What does is linked into a
// library of its own, libtenshot_torch.so, which is loaded when one of its functions is called for the first time.
//
// A source that includes LibTorch's headers is named as TORCH of its room (tenshot_room() in .cmake/tenshot.cmake), and
// goes into that library. For each function of it that sources outside the library call, there is
// - a row in trainer/torch/functions.cpp, which makes it known by name;
// - a function of the same declaration in a source *_late.cpp of the room, which calls it by that name:
//
//     std::unique_ptr<Runtime> make_libtorch_runtime(std::string_view name) {
//       return from_torch_library<decltype(make_libtorch_runtime)>("make_libtorch_runtime")(name);
//     }
//
// Files are written, and signals handled, outside: the library has its own copy of everything below it.

/// The function that the library knows by `name` and type (what typeid says of it); loads the library where it is not
/// there yet. Any thread may call it. Throws Error that says what to install where the library cannot be loaded, where
/// it is another version's, or where the address space is limited to less than LibTorch needs (ulimit -v): OpenBLAS
/// would ask for memory for ever.
void* torch_function(const char* name, const char* type);

template <class Signature>
Signature* from_torch_library(const char* name) {
  return reinterpret_cast<Signature*>(torch_function(name, typeid(Signature).name()));
}

}  // namespace tenshot
