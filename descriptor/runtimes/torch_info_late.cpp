#include "descriptor/runtimes/torch_info.h"
#include "nasbench/support/torch_library.h"

namespace tenshot::descriptor {

std::string torch_summary() { return from_torch_library<decltype(torch_summary)>("torch_summary")(); }

}  // namespace tenshot::descriptor
