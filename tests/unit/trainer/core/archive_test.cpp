#include "trainer/core/archive.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/error.h"
#include "nasbench/support/numbers.h"
#include "nasbench/support/random.h"
#include "trainer/core/space_card.h"

namespace tenshot::trainer {
namespace {

Archive example() {
  Archive archive;
  archive.card = {{"content", "predictor"}, {"seed", 7}};
  archive.put("weights", to_array(std::vector<float>{1.5F, -2.0F, 0.25F}, {3}));
  archive.put("latency", to_array(std::vector<double>{0.1, 1e-300}, {1, 2}));
  archive.put("choices", to_array(std::vector<std::uint8_t>{0, 4, 2}, {3}));
  return archive;
}

/// A file whose checksum is right, whatever its card says.
std::string with_card(const std::string& card, const std::string& arrays = "") {
  std::string bytes = "TENSHOT\n";
  bytes += std::string("\1\0\0\0", 4);
  for (std::size_t i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(card.size() >> (8 * i) & 0xff));
  bytes += card + arrays;
  return bytes + sha256_hex(bytes);
}

std::string message_of(std::string_view bytes) {
  try {
    Archive::parse(bytes, "x.tenshot");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

TEST(Archive, ReadsBackWhatItWrote) {
  const Archive archive = Archive::parse(example().serialise(), "x.tenshot");
  EXPECT_EQ(archive.card, example().card);
  EXPECT_EQ(archive.floats("weights"), (std::vector<float>{1.5F, -2.0F, 0.25F}));
  EXPECT_EQ(archive.doubles("latency"), (std::vector<double>{0.1, 1e-300}));
  EXPECT_EQ(archive.shape("latency"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(archive.bytes("choices"), (std::vector<std::uint8_t>{0, 4, 2}));
  EXPECT_EQ(archive.serialise(), example().serialise());
}

/// A predictor's card of so many measurements, all of different architectures.
Archive adapted_on(std::size_t count) {
  Archive archive = example();
  archive.card["space"] = "nasbench201";
  archive.card["adaptation_set"] = nlohmann::json::array();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string architecture = nasbench::nasbench201().format(nasbench::nasbench201().at(i));
    archive.card["adaptation_set"].push_back(
        {{"architecture", architecture}, {"latency_ms", 1 + 0.1 * static_cast<double>(i)}});
  }
  return archive;
}

TEST(Archive, KeepsManyMeasurementsInLittleRoom) {
  for (const std::size_t count : {10U, 2000U, 3000U}) {
    const Archive archive = adapted_on(count), packed = with_packed_adaptation_set(archive);
    EXPECT_EQ(packed.card.contains("adaptation_set"), count <= 2000) << count;
    Archive unpacked = Archive::parse(packed.serialise(), "x.tenshot");
    unpack_adaptation_set(unpacked);
    EXPECT_EQ(unpacked.card, archive.card);
    EXPECT_EQ(unpacked.serialise(), archive.serialise());
  }
  EXPECT_LT(with_packed_adaptation_set(adapted_on(3000)).serialise().size(), 3000U * 20);
}

TEST(Archive, RefusesPackedMeasurementsThatAreNone) {
  const Archive good = with_packed_adaptation_set(adapted_on(2001));
  const auto refuses = [&](const auto& change) {
    Archive bad = good;
    change(bad);
    EXPECT_THROW(unpack_adaptation_set(bad), FormatError);
  };
  const std::string latency = "adaptation_set.latency_ms", choices = "adaptation_set.architectures";
  refuses([&](Archive& bad) { bad.put(latency, to_array(std::vector<double>(2000, 1.0), {2000})); });
  refuses([&](Archive& bad) { bad.put(latency, to_array(std::vector<double>(2001, -1.0), {2001})); });
  refuses([&](Archive& bad) { bad.put(choices, to_array(std::vector<std::uint8_t>(2001 * 6, 9), {2001, 6})); });
  refuses([&](Archive& bad) { bad.remove(choices); });
  refuses([&](Archive& bad) { bad.card["space"] = "another"; });
}

TEST(Archive, NamesAnArrayThatIsNotThere) {
  EXPECT_THROW(example().floats("biases"), FormatError);
  EXPECT_THROW(example().doubles("weights"), FormatError);  // there, but of another type
}

TEST(Archive, RefusesAFlipOfAnyBit) {
  const std::string good = example().serialise();
  for (std::size_t position = 0; position < good.size(); ++position) {
    for (const int bit : {0, 3, 7}) {
      std::string bad = good;
      bad[position] = static_cast<char>(bad[position] ^ (1 << bit));
      EXPECT_NE(message_of(bad), "") << "byte " << position << " bit " << bit;
    }
  }
}

TEST(Archive, RefusesEveryShorterFile) {
  const std::string good = example().serialise();
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(message_of(std::string_view(good).substr(0, length)), "") << length;
  }
}

TEST(Archive, SaysThatAFileIsForeign) {
  EXPECT_NE(message_of("PK\x03\x04 a zip archive").find("not a tenshot file"), std::string::npos);
  EXPECT_NE(message_of("").find("not a tenshot file"), std::string::npos);
}

TEST(Archive, SaysThatAFileIsOfANewerVersion) {
  std::string newer = example().serialise();
  newer[8] = 9;
  const std::string message = message_of(newer);
  EXPECT_NE(message.find("format version 9"), std::string::npos) << message;
  EXPECT_NE(message.find("use a newer tenshot"), std::string::npos) << message;
}

TEST(Archive, SaysThatAFileIsDamaged) {
  std::string damaged = example().serialise();
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_NE(message_of(damaged).find("damaged"), std::string::npos);
}

TEST(Archive, SurvivesRandomBytesBehindItsMagic) {
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = "TENSHOT\n";
    for (std::uint64_t length = rng.below(300); length > 0; --length) bytes.push_back(static_cast<char>(rng.bits()));
    EXPECT_NE(message_of(bytes), "");
  }
}

TEST(CraftedArchive, WithADeeplyNestedCardIsRefused) {
  const std::string deep(100'000, '['), object_deep = [] {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "{\"a\":";
    return text;
  }();
  for (const std::string& card : {"{\"arrays\": " + deep, "{\"arrays\": " + deep + std::string(100'000, ']') + "}",
                                  object_deep, object_deep + "1" + std::string(100'000, '}')}) {
    EXPECT_NE(message_of(with_card(card)).find("x.tenshot: its card"), std::string::npos)
        << message_of(with_card(card));
  }
}

TEST(CraftedArchive, WhoseArraysDoNotFitTheFileNamesTheField) {
  const auto card = [](const std::string& array) { return "{\"arrays\": [" + array + "]}"; };
  const auto expect = [&](const std::string& text, const std::string& expected, const std::string& arrays = "") {
    const std::string message = message_of(with_card(text, arrays));
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  };
  expect("{}", "no field 'arrays'");
  expect("[]", "expected an object");
  expect("{\"arrays\": 3}", "arrays is 3");
  expect(card("3"), "arrays[0] is 3");
  expect(card(R"({"name": "a", "type": "float16", "shape": [1]})"), "arrays[0].type is \"float16\"");
  expect(card(R"({"name": "a", "type": "uint8", "shape": [-1]})"), "arrays[0].shape[0] is -1");
  expect(card(R"({"name": "a", "type": "uint8", "shape": [1e300]})"), "arrays[0].shape[0] is 1e+300");
  expect(card(R"({"name": "a", "type": "uint8", "shape": [18446744073709551615]})"), "arrays[0].shape[0]");
  expect(card(R"({"name": "a", "type": "float64", "shape": [4611686018427387904, 4]})"), "arrays[0].shape is");
  expect(card(R"({"name": "a", "type": "uint8", "shape": [2]})"), "arrays[0].shape is", "x");
  expect(card(R"({"name": "a", "type": "uint8", "shape": [1]})"), "1 bytes more", "xy");
  expect(card(R"({"name": 7, "type": "uint8", "shape": [1]})"), "arrays[0].name is 7", "x");
  expect(card(R"({"name": "a", "type": "uint8", "shape": [1]}, {"name": "a", "type": "uint8", "shape": [1]})"),
         "arrays[1].name is \"a\"", "xy");
  EXPECT_EQ(message_of(with_card(card(R"({"name": "a", "type": "uint8", "shape": [2]})"), "xy")), "");
}

TEST(CraftedArchive, WithAMegabyteInAFieldIsRefusedInALine) {
  const std::string card = R"({"arrays": [{"name": "a", "shape": [1], "type": ")" + std::string(1 << 20, 'x') + "\"}]}";
  EXPECT_LT(message_of(with_card(card)).size(), 300U);
}

}  // namespace
}  // namespace tenshot::trainer
