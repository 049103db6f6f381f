#include "datasets/tables/json_reader.h"

namespace tenshot::datasets {

const nasbench::SearchSpace& space_of(const JsonReader& reader) {
  const nlohmann::json& space = reader.require("space", "the name of a search space, such as \"nasbench201\"");
  if (!space.is_string()) reader.fail("space", "the name of a search space", space);
  try {
    return nasbench::search_space(space.get<std::string>());
  } catch (const InputError& error) {
    throw FormatError(reader.file() + ": space: " + error.what());
  }
}

}  // namespace tenshot::datasets
