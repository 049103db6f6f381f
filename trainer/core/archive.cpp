#include "trainer/core/archive.h"

#include <algorithm>
#include <array>
#include <limits>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/archive_reader.h"
#include "trainer/core/space_card.h"

namespace tenshot::trainer {
namespace {

constexpr std::string_view magic = "TENSHOT\n";
constexpr std::size_t header_bytes = 8 + 4 + 8;
constexpr std::size_t digest_bytes = 64;
constexpr std::array<std::string_view, 3> type_names = {"float32", "float64", "uint8"};
constexpr std::array<std::size_t, 3> type_sizes = {4, 8, 1};

constexpr std::size_t most_arrays = 100'000;
constexpr std::size_t most_dimensions = 8;

static_assert(sizeof(float) == 4 && sizeof(double) == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

template <class Integer>
void append_little_endian(std::string& bytes, Integer value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Integer>
Integer read_little_endian(std::string_view bytes, std::size_t offset) {
  Integer value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Takes type and shape from an array's description. Returns its bytes, or throws where fewer are `available`.
std::size_t describe(const JsonField& entry, Array& array, std::size_t available) {
  const auto type = std::find(type_names.begin(), type_names.end(), entry.at("type").text());
  if (type == type_names.end()) entry.at("type").fail("float32, float64 or uint8");
  const auto t = static_cast<std::size_t>(type - type_names.begin());
  array.type = static_cast<Array::Type>(t);
  std::size_t bytes = type_sizes[t];
  for (const JsonField& field : entry.at("shape").list(most_dimensions)) {
    const std::int64_t extent = field.whole_number(0, std::numeric_limits<std::int64_t>::max());
    const auto size = static_cast<std::size_t>(extent);
    if (size > 0 && bytes > available / size) entry.at("shape").fail("a shape that the file has the bytes for");
    bytes *= size;
    array.shape.push_back(extent);
  }
  if (bytes > available) entry.at("shape").fail("a shape that the file has the bytes for");
  return bytes;
}

}  // namespace

const Array& Archive::array(const std::string& name, Array::Type type) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end() || found->second.type != type) {
    throw FormatError("this tenshot file has no " + std::string(type_names[static_cast<std::size_t>(type)]) +
                      " array '" + name + "'");
  }
  return found->second;
}

std::vector<double> Archive::numbers(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end() || found->second.type != Array::Type::float32) return doubles(name);
  const std::vector<float> narrow = floats(name);
  return {narrow.begin(), narrow.end()};
}
const std::vector<std::int64_t>& Archive::shape(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) throw FormatError("this tenshot file has no array '" + name + "'");
  return found->second.shape;
}

std::string Archive::serialise() const {
  nlohmann::json described = card;
  described["arrays"] = nlohmann::json::array();
  for (const auto& [name, array] : arrays_) {
    described["arrays"].push_back(
        {{"name", name}, {"type", type_names[static_cast<std::size_t>(array.type)]}, {"shape", array.shape}});
  }
  const std::string card_text = described.dump(1) + "\n";
  std::string bytes(magic);
  append_little_endian(bytes, format_version);
  append_little_endian(bytes, static_cast<std::uint64_t>(card_text.size()));
  bytes += card_text;
  for (const auto& [name, array] : arrays_) bytes += array.bytes;
  return bytes + sha256_hex(bytes);
}

Archive Archive::parse(std::string_view bytes, const std::string& file) {
  if (bytes.substr(0, magic.size()) != magic) {
    throw FormatError(file + ": not a tenshot file (made by `tenshot train` or `tenshot adapt`)");
  }
  if (bytes.size() < header_bytes + digest_bytes) throw FormatError(file + ": this tenshot file is cut short");
  const auto version = read_little_endian<std::uint32_t>(bytes, magic.size());
  const std::string_view content = bytes.substr(0, bytes.size() - digest_bytes);
  const bool newer = version > format_version && version < 1000;
  // A newer version may end in another way; only a plausible one is believed over the checksum.
  if (!newer && sha256_hex(content) != bytes.substr(content.size())) {
    throw FormatError(file + ": this tenshot file is damaged or cut short (its checksum does not match)");
  }
  if (version != format_version) {
    throw FormatError(file + ": has format version " + std::to_string(version) + ", this tenshot reads up to " +
                      std::to_string(format_version) + (version > format_version ? "; use a newer tenshot" : ""));
  }
  const auto card_bytes = read_little_endian<std::uint64_t>(bytes, magic.size() + 4);
  if (card_bytes > content.size() - header_bytes) throw FormatError(file + ": its card is longer than the file");

  Archive archive;
  try {
    archive.card = parse_json(content.substr(header_bytes, card_bytes), "its card");
    std::string_view rest = content.substr(header_bytes + card_bytes);
    const JsonField card(archive);
    for (const JsonField& entry : card.at("arrays").list(most_arrays)) {
      Array array;
      const std::size_t size = describe(entry, array, rest.size());
      array.bytes = rest.substr(0, size);
      rest.remove_prefix(size);
      const std::string name = entry.at("name").text();
      if (!archive.arrays_.emplace(name, std::move(array)).second) entry.at("name").fail("a name of its own");
    }
    if (!rest.empty())
      throw FormatError("it holds " + std::to_string(rest.size()) + " bytes more than its arrays take");
    archive.card.erase("arrays");
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(file + ": its card is not what tenshot writes (" + error.what() + ")");
  } catch (const FormatError& error) {
    throw FormatError(file + ": " + error.what());
  }
  return archive;
}

void save(const Archive& archive, const std::filesystem::path& path) {
  write_file_atomically(path, with_packed_adaptation_set(archive).serialise());
}

Archive load_archive(const std::filesystem::path& path) {
  Archive archive = Archive::parse(read_file(path), path.string());
  try {
    unpack_adaptation_set(archive);
  } catch (const FormatError& error) {
    throw FormatError(path.string() + ": " + error.what());
  }
  return archive;
}

}  // namespace tenshot::trainer
