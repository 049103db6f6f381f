#include "datasets/pool/device_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "nasbench/spaces/search_space.h"
#include "nasbench/support/json_reader.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

using nlohmann::json;

json valid_device() {
  Rng rng(2);
  return to_json(random_device("nano", 0, rng), space());
}

TEST(DeviceFile, SaysEverythingOfTheDevice) {
  const DeviceFile file = device_file_from_json(valid_device(), "d.json");
  EXPECT_EQ(file.space, &space());
  EXPECT_EQ(file.latencies, "latencies.csv");
  EXPECT_EQ(file.device.id, "nano");
  EXPECT_EQ(file.device.descriptor.source, "perf_event");
  EXPECT_EQ(file.device.descriptor.counters.size(), 6U);
  EXPECT_EQ(file.device.descriptor.operators.size(), 15U);
  EXPECT_EQ(file.device.descriptor.in_network.size(), 18U);
  EXPECT_EQ(to_json(file.device, space()), valid_device());
}

TEST(DeviceFile, NeedsOnlyFormatSpaceAndId) {
  const json object = {{"format", "tenshot.device/1"}, {"space", "nasbench201"}, {"id", "x"}, {"extra", {1}}};
  const DeviceFile file = device_file_from_json(object, "d.json");
  EXPECT_EQ(file.device.device, "x");
  EXPECT_EQ(file.device.batch, 0);
  EXPECT_EQ(file.device.environment, "{}");
  EXPECT_EQ(file.device.descriptor.source, "none");
  EXPECT_EQ(file.latencies, "");
}

TEST(DeviceFile, HasNullForACountThatIsNotThere) {
  json device = valid_device();
  device["descriptor"]["operators"][0]["counts"][3] = nullptr;
  const DeviceRuntime read = device_file_from_json(device, "d.json").device;
  EXPECT_TRUE(std::isnan(read.descriptor.operators[0].counts[3]));
  EXPECT_TRUE(to_json(read, space())["descriptor"]["operators"][0]["counts"][3].is_null());
}

TEST(DeviceFile, LabelsSimulatedCountersAndKeepsHowTheyWereCounted) {
  DeviceRuntime device = device_file_from_json(valid_device(), "d.json").device;
  EXPECT_FALSE(to_json(device, space())["descriptor"].contains("simulated"));
  device.descriptor.source = "callgrind";
  device.descriptor.conditions = {{"simulated_caches", "small ones"}, {"runs", "5"}};
  const json written = to_json(device, space());
  EXPECT_EQ(written["descriptor"]["simulated"], true);
  const DeviceRuntime read = device_file_from_json(written, "d.json").device;
  EXPECT_TRUE(read.descriptor.simulated());
  EXPECT_EQ(read.descriptor.conditions, device.descriptor.conditions);
}

TEST(DeviceFile, KeepsWhatOperationsCostInsideANetwork) {
  DeviceRuntime device;
  device.id = "d";
  device.descriptor.source = "latency_only";
  device.descriptor.operators = {
      {"avg_pool_3x3", *nasbench::nasbench201().named_operation("avg_pool_3x3", 16, 32), 0.5, {}}};
  EXPECT_FALSE(to_json(device, space())["descriptor"].contains("in_network"));
  device.descriptor.in_network = {
      {"avg_pool_3x3", *nasbench::nasbench201().named_operation("avg_pool_3x3", 16, 32), 0.0625},
      {"relu", *nasbench::nasbench201().named_operation("relu", 64, 8), 0}};
  const json written = to_json(device, space());
  EXPECT_EQ(written["descriptor"]["in_network"][0],
            json({{"name", "avg_pool_3x3"}, {"channels", 16}, {"resolution", 32}, {"latency_ms", 0.0625}}));
  const std::vector<OperatorProfile> read = device_file_from_json(written, "d.json").device.descriptor.in_network;
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].latency_ms, 0.0625);
  EXPECT_EQ(read[1].name, "relu");
  EXPECT_EQ(read[1].key.channels(), 64);
  EXPECT_EQ(read[1].key.resolution(), 8);
  EXPECT_EQ(read[1].latency_ms, 0);
}

struct BadFile {
  std::string place;  ///< JSON pointer of what is replaced
  std::string value;  ///< by this JSON; empty removes it
  std::string fragment;
};

void PrintTo(const BadFile& file, std::ostream* stream) { *stream << file.place << " = " << file.value; }

class BadFiles : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadFiles, AreRefusedWithTheKeyAtFault) {
  json device = valid_device();
  const json::json_pointer place(GetParam().place);
  if (GetParam().value.empty()) {
    device[place.parent_pointer()].erase(place.back());
  } else {
    device[place] = json::parse(GetParam().value);
  }
  try {
    device_file_from_json(device, "d.json");
    FAIL() << "was accepted";
  } catch (const FormatError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.substr(0, 8), "d.json: ") << message;
    EXPECT_NE(message.find(GetParam().fragment), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Key, BadFiles,
    ::testing::Values(
        BadFile{"", "[]", "the file is an empty list, expected an object"},  //
        BadFile{"", "3", "the file is 3, expected an object"}, BadFile{"/format", "", "no key 'format'"},
        BadFile{"/format", "7", "format is 7"},
        BadFile{"/format", R"("tenshot.device/2")", "newer than this tenshot reads (tenshot.device/1)"},
        BadFile{"/format", R"("tenshot.device/one")", "format is 'tenshot.device/one', expected tenshot.device/1"},
        BadFile{"/format", R"("onnx")", "format is 'onnx', expected tenshot.device/1"},
        BadFile{"/space", "", "no key 'space'"}, BadFile{"/space", R"("darts")", "space: "},
        BadFile{"/id", "", "no key 'id'"}, BadFile{"/id", R"("../up")", "id is \"../up\", expected letters"},
        BadFile{"/id", R"(".git")", "id is \".git\""}, BadFile{"/id", R"("")", "id is \"\""},
        BadFile{"/device", "[]", "device is an empty list, expected a text"},
        BadFile{"/batch", "-1", "batch is -1, expected a whole number from 0"},
        BadFile{"/batch", "1.5", "batch is 1.5"},
        BadFile{"/batch", "18446744073709551615", "batch is 18446744073709551615"},
        BadFile{"/batch", "1e300", "batch is 1e+300"}, BadFile{"/threads", R"("4")", "threads is \"4\""},
        BadFile{"/input_shape", "[3, 32]", "expected [channels, height, width]"},
        BadFile{"/input_shape/1", "0", "input_shape is 0, expected a whole number from 1"},
        BadFile{"/environment", "[]", "environment is an empty list, expected an object"},
        BadFile{"/descriptor", "4", "descriptor is 4, expected an object"},
        BadFile{"/descriptor/source", R"("guess")", "descriptor.source is \"guess\", expected perf_event"},
        BadFile{"/descriptor/source", R"("latency_only")", "descriptor.counters has 6 names"},
        BadFile{"/descriptor/source", R"("none")", "descriptor.counters has 6 names"},
        BadFile{"/descriptor", R"({"source":"none","operators":[{"name":"none","latency_ms":1}]})",
                "descriptor.operators has entries"},
        BadFile{"/descriptor", R"({"source":"perf_stat"})", "descriptor.counters has 0 names"},
        BadFile{"/descriptor/conditions", "[1]", "descriptor.conditions is a list, expected an object of texts"},
        BadFile{"/descriptor/conditions", R"({"runs":5})", "descriptor.conditions.runs is 5, expected a text"},
        BadFile{"/descriptor/counters", R"({"a":1})", "descriptor.counters is an object, expected a list"},
        BadFile{"/descriptor/counters/0", "4", "descriptor.counters is 4, expected a list of names"},
        BadFile{"/descriptor/operators/3", "4", "descriptor.operators[3] is 4, expected an object"},
        BadFile{"/descriptor/operators/3/name", "", "no key 'descriptor.operators[3].name'"},
        BadFile{"/descriptor/operators/3/channels", R"("x")", "descriptor.operators[3].channels is \"x\""},
        BadFile{"/descriptor/operators/3/latency_ms", "", "no key 'descriptor.operators[3].latency_ms'"},
        BadFile{"/descriptor/operators/3/latency_ms", "-2", "descriptor.operators[3].latency_ms is -2"},
        BadFile{"/descriptor/operators/3/counts", "[1]", "descriptor.operators[3].counts has 1 values"},
        BadFile{"/descriptor/operators/3/counts/0", "-5", "descriptor.operators[3].counts is -5"},
        BadFile{"/descriptor/operators/3/name", R"("")", "descriptor.operators[3].name is \"\", expected a name"},
        BadFile{"/descriptor/in_network", R"({"a":1})", "descriptor.in_network is an object, expected a list"},
        BadFile{"/descriptor/in_network/2", "4", "descriptor.in_network[2] is 4, expected an object"},
        BadFile{"/descriptor/in_network/2/name", "", "no key 'descriptor.in_network[2].name'"},
        BadFile{"/descriptor/in_network/2/name", R"("")", "descriptor.in_network[2].name is \"\", expected a name"},
        BadFile{"/descriptor/in_network/2/resolution", "-1", "descriptor.in_network[2].resolution is -1"},
        BadFile{"/descriptor/in_network/2/latency_ms", "", "no key 'descriptor.in_network[2].latency_ms'"},
        BadFile{"/descriptor/in_network/2/latency_ms", "-0.5", "descriptor.in_network[2].latency_ms is -0.5"},
        BadFile{"/descriptor", R"({"source":"none","in_network":[{"name":"relu","latency_ms":1}]})",
                "descriptor.in_network has entries, which source 'none' cannot have"},
        BadFile{"/latencies", R"("../other.csv")", "latencies is \"../other.csv\", expected the name of a file"},
        BadFile{"/latencies", R"("/etc/passwd")", "latencies is"}, BadFile{"/latencies", R"("..")", "latencies is"},
        BadFile{"/latencies", R"("-")", "latencies is"}, BadFile{"/latencies", R"("a\u0000b")", "latencies is"},
        BadFile{"/latencies", R"("a\\b")", "latencies is"}, BadFile{"/latencies", "7", "latencies is 7"}));

TEST(ParseJson, NamesTheLineOfASyntaxError) {
  EXPECT_NE(message_of([] { parse_json("{\n\"a\": 1,\n]", "d.json"); }).find("d.json:3: is not valid JSON"),
            std::string::npos);
  EXPECT_THROW(parse_json("", "d.json"), FormatError);
  EXPECT_THROW(parse_json("{\"a\":\"\xFF\"}", "d.json"), FormatError);
  EXPECT_THROW(parse_json("[1e999]", "d.json"), FormatError);
}

TEST(ParseJson, RefusesWhatIsNestedTooDeep) {
  EXPECT_NO_THROW(parse_json(std::string(60, '[') + std::string(60, ']'), "d.json"));
  for (const std::size_t depth : {std::size_t{70}, std::size_t{1'000'000}}) {
    EXPECT_NE(message_of([&] { parse_json(std::string(depth, '['), "d.json"); }).find("nested deeper"),
              std::string::npos);
  }
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_THROW(parse_json(objects, "d.json"), FormatError);
}

TEST(DeviceFileOperators, OfOldFilesAreKeyedByTheirSpecifications) {
  const auto path = std::filesystem::path(TENSHOT_SOURCE_DIR) / "tests/fixtures/1/pool/described";
  const HardwareDescriptor descriptor = read_device(path).device.descriptor;
  const std::vector<nasbench::Operator> operators = space().operators({8, 10}, 1);
  ASSERT_EQ(descriptor.operators.size(), operators.size());
  for (std::size_t i = 0; i < operators.size(); ++i) EXPECT_EQ(descriptor.operators[i].key, operators[i].key);
  const std::vector<nasbench::OperationChain> chains = space().operation_chains({8, 10}, 1);
  ASSERT_EQ(descriptor.in_network.size(), chains.size());
  for (std::size_t i = 0; i < chains.size(); ++i) EXPECT_EQ(descriptor.in_network[i].key, chains[i].key);
}

TEST(DeviceFileOperators, ThatTheSpaceDoesNotNameAreWrittenByTheirSpecifications) {
  nasbench::OperatorSpecification op;
  op.kind = nasbench::OperatorKind::convolution;
  op.kernel = {3, 5};
  op.stride = {2, 2};
  op.groups = 24;
  op.dilation = {1, 2};
  op.inputs = {{1, 24, 56, 112}};
  op.output = {1, 48, 28, 56};
  op.type = nasbench::ElementType::int8;
  DeviceRuntime device;
  device.id = "board";
  device.descriptor.source = "latency_only";
  device.descriptor.operators = {{"depthwise", {op.inputs[0], {op}}, 0.25, {}},
                                 {"nor_conv_1x1", *space().named_operation("nor_conv_1x1", 16, 32), 0.5, {}}};
  const nlohmann::json written = to_json(device, space());
  const nlohmann::json& rows = written.at("descriptor").at("operators");
  EXPECT_EQ(rows[0].at("operators").size(), 1U);
  EXPECT_EQ(rows[1], nlohmann::json::parse(
                         R"({"name": "nor_conv_1x1", "channels": 16, "resolution": 32, "latency_ms": 0.5,
                             "counts": []})"));
  const HardwareDescriptor read = device_file_from_json(written, "device.json").device.descriptor;
  ASSERT_EQ(read.operators.size(), 2U);
  EXPECT_EQ(read.operators[0].key, device.descriptor.operators[0].key);
  EXPECT_EQ(read.operators[1].key, device.descriptor.operators[1].key);
  EXPECT_EQ(to_json(device_file_from_json(written, "device.json").device, space()), written);
  nlohmann::json broken = written;
  broken["descriptor"]["operators"][0]["operators"][0]["kernel"] = 3;
  EXPECT_THROW(device_file_from_json(broken, "device.json"), FormatError);
}

}  // namespace
}  // namespace tenshot::datasets
