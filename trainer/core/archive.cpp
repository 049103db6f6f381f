#include "trainer/core/archive.h"

#include <array>
#include <cstring>

#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/numbers.h"
#include "trainer/core/adaptation_rows.h"

namespace tenshot::trainer {
namespace {

constexpr std::string_view magic = "TENSHOT\n";
constexpr std::size_t header_bytes = 8 + 4 + 8;
constexpr std::size_t digest_bytes = 64;
constexpr std::array<std::string_view, 3> type_names = {"float32", "float64", "uint8"};
constexpr std::array<std::size_t, 3> type_sizes = {4, 8, 1};

static_assert(sizeof(float) == 4 && sizeof(double) == 8);

template <class Integer>
void append_little_endian(std::string& bytes, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) bytes.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

template <class Integer>
Integer read_little_endian(std::string_view bytes, std::size_t offset) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value |= static_cast<Integer>(static_cast<unsigned char>(bytes[offset + i])) << (8 * i);
  }
  return value;
}

template <class T>
Array packed(Array::Type type, const std::vector<T>& values, std::vector<std::int64_t> shape) {
  Array array{type, std::move(shape), std::string(values.size() * sizeof(T), '\0')};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

template <class T>
std::vector<T> unpacked(const Array& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

/// Bytes an array of this description takes, or throws: a damaged card must not make us allocate.
std::size_t bytes_of(const nlohmann::json& entry, Array::Type& type, std::size_t available) {
  const std::string type_name = entry.at("type");
  std::size_t t = 0;
  while (t < type_names.size() && type_names[t] != type_name) ++t;
  if (t == type_names.size()) throw FormatError("array type '" + type_name + "' is unknown");
  type = static_cast<Array::Type>(t);
  std::size_t bytes = type_sizes[t];
  for (const std::int64_t extent : entry.at("shape").get<std::vector<std::int64_t>>()) {
    if (extent < 0 || (extent > 0 && bytes > available / static_cast<std::size_t>(extent))) {
      throw FormatError("array is larger than the file");
    }
    bytes *= static_cast<std::size_t>(extent);
  }
  return bytes;
}

}  // namespace

Array to_array(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return packed(Array::Type::float32, values, std::move(shape));
}
Array to_array(const std::vector<double>& values, std::vector<std::int64_t> shape) {
  return packed(Array::Type::float64, values, std::move(shape));
}
Array to_array(const std::vector<std::uint8_t>& values, std::vector<std::int64_t> shape) {
  return packed(Array::Type::uint8, values, std::move(shape));
}

const Array& Archive::array(const std::string& name, Array::Type type) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end() || found->second.type != type) {
    throw FormatError("this tenshot file has no " + std::string(type_names[static_cast<std::size_t>(type)]) +
                      " array '" + name + "'");
  }
  return found->second;
}

std::vector<float> Archive::floats(const std::string& name) const {
  return unpacked<float>(array(name, Array::Type::float32));
}
std::vector<double> Archive::doubles(const std::string& name) const {
  return unpacked<double>(array(name, Array::Type::float64));
}
std::vector<std::uint8_t> Archive::bytes(const std::string& name) const {
  return unpacked<std::uint8_t>(array(name, Array::Type::uint8));
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
  if (sha256_hex(content) != bytes.substr(content.size())) {
    // A newer version may end in another way; only a plausible one is believed over the checksum.
    if (version > format_version && version < 1000) {
      throw FormatError(file + ": has format version " + std::to_string(version) + ", this tenshot reads up to " +
                        std::to_string(format_version) + "; use a newer tenshot");
    }
    throw FormatError(file + ": this tenshot file is damaged or cut short (its checksum does not match)");
  }
  if (version != format_version) {
    throw FormatError(file + ": has format version " + std::to_string(version) + ", this tenshot reads version " +
                      std::to_string(format_version) + (version > format_version ? "; use a newer tenshot" : ""));
  }
  const auto card_bytes = read_little_endian<std::uint64_t>(bytes, magic.size() + 4);
  if (card_bytes > content.size() - header_bytes) throw FormatError(file + ": its card is longer than the file");

  Archive archive;
  try {
    archive.card = nlohmann::json::parse(content.substr(header_bytes, card_bytes));
    std::string_view rest = content.substr(header_bytes + card_bytes);
    for (const auto& entry : archive.card.at("arrays")) {
      Array array;
      array.shape = entry.at("shape").get<std::vector<std::int64_t>>();
      const std::size_t size = bytes_of(entry, array.type, rest.size());
      if (size > rest.size()) throw FormatError("array is larger than the file");
      array.bytes = rest.substr(0, size);
      rest.remove_prefix(size);
      archive.arrays_[entry.at("name").get<std::string>()] = std::move(array);
    }
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
