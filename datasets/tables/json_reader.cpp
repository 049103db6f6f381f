#include "datasets/tables/json_reader.h"

namespace tenshot::datasets {

const nasbench::NetworkSpace& space_of(const JsonReader& reader, const nasbench::NetworkSpace* kept) {
  const nlohmann::json& space = reader.require("space", "the name of a search space, such as \"nasbench201\"");
  if (!space.is_string()) reader.fail("space", "the name of a search space", space);
  if (kept != nullptr && kept->name() == space.get_ref<const std::string&>()) return *kept;
  try {
    return nasbench::known_space(space.get<std::string>());
  } catch (const InputError& error) {
    throw FormatError(reader.file() + ": space: " + error.what());
  }
}

}  // namespace tenshot::datasets
