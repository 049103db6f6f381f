#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "nasbench/graph/network.h"
#include "nasbench/spaces/network_space.h"

namespace tenshot::nasbench {

/// A network that goes by its name, and what it executes, in order.
struct NamedNetwork {
  std::string name;
  std::string hash;  ///< of the content, 64 hexadecimal digits, whatever the weights are
  std::vector<OperatorSpecification> operators;
  /// For each operator, the operators whose outputs it takes, −1 for the network's input; empty where nobody said.
  std::vector<std::vector<int>> sources;
  std::vector<std::string> remarks;  ///< what is to be said of how its costs were counted, a sentence each
  std::string origin;                ///< the file it came from, for messages
  std::string file;                  ///< of the network itself; empty where nobody named one
  /// Reads that file again, as it was read; nothing where nobody named one. A function, so that predicting needs no
  /// reader of network files.
  std::function<Network()> read_again;
};

/// A network as it was read from a file, and one of which only the operators are known.
NamedNetwork named_network(std::string name, const Network& network, std::string origin);
NamedNetwork named_network(std::string name, std::vector<OperatorSpecification> operators, std::string origin);

/// Who named a network. What the user names comes before what files carry.
enum class NamedBy {
  user,  ///< --networks, or the file of a network as an argument
  file,  ///< the networks.json of a pool, a device or a kit
  card   ///< the card of a checkpoint or a predictor, which may carry networks of one name that are unlike
};

/// The collection of networks by name: all that add_network() was told of in this process. An architecture of it is
/// the identity of a network, 16 bytes made of its name and hash, the same in every process; its string is the name.
/// Networks of one name and of unlike content live side by side: the name then means the one that the user named last,
/// or where the user named none, the one that a file or a card named last. Its computation() reads the network's file
/// again, whatever the shape, and throws InputError where nobody named one, where the file holds another network by
/// now, or where the first dimension of its input is not the batch that is asked for.
const NetworkSpace& networks();

/// As networks().parse(), but what a file or a card named last counts before what the user did.
Architecture network_of_files(const std::string& name);

/// Makes a network known, and returns its identity. A network that is known already is the same one. Throws InputError
/// when it has no operators, or when the name could not stand in a table: it is empty, over 200 bytes, or has commas,
/// quotes, control characters, or blanks around it.
Architecture add_network(NamedNetwork network, NamedBy by = NamedBy::user);

/// The same of several: where one is refused, none is made known. Throws InputError also as require_distinct_names(),
/// but for a card.
std::vector<Architecture> add_networks(std::vector<NamedNetwork> networks, NamedBy by = NamedBy::user);

/// Throws InputError that names both where two of `identities` have one name and unlike content: a table that names
/// them could mean either.
void require_distinct_names(const std::vector<Architecture>& identities);

/// What is known of a network; valid as long as the program runs. Throws InputError on an identity nobody knows.
const NamedNetwork& named_network(const Architecture& identity);

/// `tenshot.networks/1`: the networks, each once, with their operators, those that are equal written once. Reading
/// makes them known, and returns their identities in the file's order. Throws FormatError that names the place in
/// `file`, and InputError as add_networks() of several does; nothing is known then that was not before.
nlohmann::json networks_json(const std::vector<Architecture>& identities);
std::vector<Architecture> add_networks(const nlohmann::json& json, const std::string& file, NamedBy by = NamedBy::user);

}  // namespace tenshot::nasbench
