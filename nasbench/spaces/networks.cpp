#include "nasbench/spaces/networks.h"

#include <deque>
#include <map>
#include <mutex>

#include "nasbench/graph/limits.h"
#include "nasbench/graph/operator_products.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/text.h"

namespace tenshot::nasbench {
namespace {

constexpr std::size_t identity_bytes = 16;
constexpr std::size_t longest_name = 200;
constexpr std::size_t shown_names = 5;

bool is_network_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && trimmed(name) == name &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F && c != ',' && c != '"'; });
}

Architecture identity_of(const std::string& name, const std::string& hash) {
  const std::string digest = sha256_hex(name + '\n' + hash);
  Architecture identity(identity_bytes);
  for (std::size_t i = 0; i < identity_bytes; ++i) {
    identity[i] = static_cast<std::uint8_t>(std::stoi(digest.substr(2 * i, 2), nullptr, 16));
  }
  return identity;
}

void require_addable(const NamedNetwork& network) {
  if (!is_network_name(network.name)) {
    throw InputError(network.origin + ": '" + excerpt(network.name) +
                     "' cannot name a network: expected at most 200 bytes without commas, quotes, control "
                     "characters and blanks around it; rename it");
  }
  if (network.operators.empty()) throw InputError(network.origin + ": network '" + network.name + "' has no operators");
  for (const OperatorSpecification& op : network.operators) {
    if (is_countable(op)) continue;
    throw InputError(network.origin + ": network '" + network.name +
                     "' has an operator that is too large to compute with: " + excerpt(nasbench::format(op), 200));
  }
}

void require_distinct(const std::vector<const NamedNetwork*>& networks) {
  std::map<std::string, const NamedNetwork*> known;
  for (const NamedNetwork* network : networks) {
    const NamedNetwork& first = *known.emplace(network->name, network).first->second;
    if (first.hash == network->hash) continue;
    throw InputError("network '" + network->name + "' of " + network->origin + " is another one (hash " +
                     network->hash.substr(0, 12) + "…) than '" + first.name + "' of " + first.origin + " (hash " +
                     first.hash.substr(0, 12) + "…): one table cannot hold both; rename one");
  }
}

class NamedNetworks final : public NetworkSpace {
  /// The networks that a name means, by position: the last one that the user named, and that files named.
  struct Meaning {
    std::optional<std::size_t> of_user, of_files;
  };

 public:
  Architecture add(NamedNetwork network, NamedBy by) {
    require_addable(network);
    const std::lock_guard lock(mutex_);
    const Architecture identity = identity_of(network.name, network.hash);
    const auto [found, is_new] = by_identity_.emplace(identity, all_.size());
    if (is_new) {
      all_.push_back(std::move(network));
    } else if (!network.file.empty()) {
      all_[found->second].file = std::move(network.file);
      all_[found->second].read_again = std::move(network.read_again);
    }
    Meaning& meaning = by_name_[all_[found->second].name];
    (by == NamedBy::user ? meaning.of_user : meaning.of_files) = found->second;
    return identity;
  }

  std::size_t position(const Architecture& identity) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_identity_.find(identity);
    if (found == by_identity_.end()) {
      throw InputError("this network is not known here; name the networks' operators by --networks");
    }
    return found->second;
  }

  const NamedNetwork& at_position(std::size_t position) const {
    const std::lock_guard lock(mutex_);
    if (position >= all_.size()) throw InputError("there is no network " + std::to_string(position));
    return all_[position];
  }

  const NamedNetwork& get(const Architecture& identity) const { return at_position(position(identity)); }

  std::string_view name() const override { return "networks"; }
  std::size_t architecture_bytes() const override { return identity_bytes; }
  bool could_be(const Architecture& identity) const override { return identity.size() == identity_bytes; }

  Architecture parse(std::string_view text) const override { return parse(text, false); }
  Architecture parse(std::string_view text, bool by_files) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_name_.find(text);
    if (found != by_name_.end()) {
      const auto& [of_user, of_files] = found->second;
      const NamedNetwork& meant = all_[by_files ? of_files.value_or(*of_user) : of_user.value_or(*of_files)];
      return identity_of(meant.name, meant.hash);
    }
    throw InputError("there is no network '" + excerpt(text) + "'; " + known_names() +
                     "; name what it executes by --networks DIR|FILE");
  }
  void append_format(std::string& text, const Architecture& identity) const override { text += get(identity).name; }
  std::string example() const override {
    const std::lock_guard lock(mutex_);
    return by_name_.empty() ? "resnet18" : by_name_.begin()->first;
  }

  Network computation(const Architecture& identity, const NetworkShape&, int batch) const override {
    const NamedNetwork& known = get(identity);
    if (known.file.empty() || !known.read_again) {
      throw InputError("network '" + known.name + "' of " + known.origin +
                       " is known by its operators alone, which cannot be run; name its file by --networks DIR|FILE");
    }
    Network network = known.read_again();
    if (content_hash(network) != known.hash) {
      throw InputError(known.file +
                       ": holds another network than when it was first read; let nothing write it "
                       "meanwhile");
    }
    const std::int64_t images = network.inputs.empty() || network.inputs.front().type.shape.empty()
                                    ? 1
                                    : network.inputs.front().type.shape.front();
    if (images == batch) return network;
    throw InputError(known.file + ": the first dimension of input '" + network.inputs.front().name + "' is " +
                     std::to_string(images) + ", asked for a batch of " + std::to_string(batch) +
                     "; if it is a batch, give --batch " + std::to_string(images) +
                     " or export the network with an open one; one of steps in time cannot be measured with others");
  }
  std::vector<OperatorSpecification> operator_list(const Architecture& identity) const override {
    return get(identity).operators;
  }
  std::vector<std::uint32_t> operator_parts(const Architecture& identity) const override {
    return {static_cast<std::uint32_t>(position(identity))};
  }
  std::vector<OperatorSpecification> operator_part(std::uint32_t part) const override {
    return at_position(part).operators;
  }
  std::int64_t flop_count(const Architecture& identity, const NetworkShape&) const override {
    std::int64_t count = 0;
    for (const OperatorSpecification& operation : get(identity).operators) count += multiply_adds(operation);
    return count;
  }

 private:
  std::string known_names() const {
    if (all_.empty()) return "no network is known";
    std::vector<std::string> names;
    for (const auto& entry : by_name_) {
      if (names.size() == shown_names) break;
      names.push_back(entry.first);
    }
    return std::to_string(all_.size()) + (all_.size() == 1 ? " is known: " : " are known: ") + joined(names) +
           (all_.size() > shown_names ? ", …" : "");
  }

  mutable std::mutex mutex_;
  std::deque<NamedNetwork> all_;
  std::map<std::string, Meaning, std::less<>> by_name_;
  ArchitectureMap<std::size_t> by_identity_;
};

NamedNetworks& catalogue() {
  static NamedNetworks collection;
  return collection;
}

}  // namespace

NamedNetwork named_network(std::string name, const Network& network, std::string origin) {
  NamedNetwork named;
  named.name = std::move(name);
  named.origin = std::move(origin);
  named.hash = content_hash(network);
  named.operators = operator_list(network);
  named.remarks = network.remarks;
  for (const NetworkNode& node : network.nodes) {
    std::vector<int>& sources = named.sources.emplace_back();
    for (const Source& source : node.inputs) sources.push_back(source.node);
  }
  return named;
}

NamedNetwork named_network(std::string name, std::vector<OperatorSpecification> operators, std::string origin) {
  NamedNetwork named;
  named.name = std::move(name);
  named.origin = std::move(origin);
  std::string content;
  for (const OperatorSpecification& operation : operators) content += format(operation) + '\n';
  named.hash = sha256_hex(content);
  if (std::string remark = remark_on_weights(operators); !remark.empty()) named.remarks = {std::move(remark)};
  named.operators = std::move(operators);
  return named;
}

const NetworkSpace& networks() { return catalogue(); }

Architecture network_of_files(const std::string& name) { return catalogue().parse(name, true); }

Architecture add_network(NamedNetwork network, NamedBy by) { return catalogue().add(std::move(network), by); }

std::vector<Architecture> add_networks(std::vector<NamedNetwork> networks, NamedBy by) {
  std::vector<const NamedNetwork*> all;
  for (const NamedNetwork& network : networks) {
    require_addable(network);
    all.push_back(&network);
  }
  if (by != NamedBy::card) require_distinct(all);
  std::vector<Architecture> identities;
  for (NamedNetwork& network : networks) identities.push_back(add_network(std::move(network), by));
  return identities;
}

void require_distinct_names(const std::vector<Architecture>& identities) {
  std::vector<const NamedNetwork*> networks;
  for (const Architecture& identity : identities) networks.push_back(&named_network(identity));
  require_distinct(networks);
}

const NamedNetwork& named_network(const Architecture& identity) { return catalogue().get(identity); }

}  // namespace tenshot::nasbench
