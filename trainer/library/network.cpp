#include "trainer/library/network.h"

#include "nasbench/formats/network_file.h"
#include "nasbench/spaces/networks.h"

namespace tenshot {

Network read_network(const std::filesystem::path& file,
                     const std::map<std::string, std::vector<std::int64_t>>& shapes) {
  nasbench::NamedNetwork network = nasbench::named_network(
      file.stem().string(), nasbench::read_network_file(file, {/*batch=*/1, shapes}), file.string());
  return Network(std::make_shared<const nasbench::NamedNetwork>(std::move(network)));
}

}  // namespace tenshot
