#include "datasets/tables/network_sources.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/tables/measurements.h"
#include "datasets/tables/operator_latencies.h"
#include "datasets/tables/space_files.h"
#include "nasbench/graph/network_builder.h"
#include "nasbench/graph/onnx.h"
#include "nasbench/spaces/layered_space.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "tests/unit/datasets/fixtures.h"

namespace tenshot::datasets {
namespace {

using nasbench::NamedNetwork;

const std::string header =
    "network,index,operation,input_size,input_channels,output_size,stride,kernel,filters,groups,flops\n";

std::vector<std::string> lines_of(const std::string& rows) {
  const std::vector<NamedNetwork> networks = parse_operator_table(header + rows, "ops.csv");
  std::vector<std::string> lines;
  for (const auto& operation : networks.at(0).operators) lines.push_back(format(operation));
  return lines;
}

const std::string timed_header = "network,operation,input_size,input_channels,output_size,kernel,filters,gpu_ms\n";

TEST(OperatorLatencies, AreOfTheOperatorsOfTheirRows) {
  const auto found = parse_operator_latencies(
      timed_header + "a,conv_2d,56,8,56,3,16,0.25\na,relu,56,16,56,,,\nb,fully_connected,,16,,,10,0.5\n", "ops.csv",
      {{"board_gpu", "gpu_ms"}});
  const std::vector<OperatorLatency>& latencies = found.at("board_gpu");
  ASSERT_EQ(latencies.size(), 2U) << "the relu was not measured";
  EXPECT_EQ(format(latencies[0].operation), "convolution 3x3 bias 1x8x56x56 -> 1x16x56x56 float32");
  EXPECT_EQ(latencies[0].latency_ms, 0.25);
  EXPECT_EQ(latencies[0].network, "a");
  EXPECT_EQ(latencies[1].network, "b");
}

TEST(OperatorLatencies, SayWhatIsWrongAndWhere) {
  const auto refusal = [](const std::string& rows, const std::string& column) -> std::string {
    try {
      parse_operator_latencies(timed_header + rows, "ops.csv", {{"board_gpu", column}});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal("a,conv_2d,56,8,56,3,16,0.25\n", "npu_ms").find("npu_ms"), std::string::npos);
  EXPECT_NE(refusal("", "npu_ms").find("npu_ms"), std::string::npos) << "the header says it before any row";
  EXPECT_NE(refusal("", "gpu_ms").find("has no rows"), std::string::npos);
  EXPECT_NE(refusal("a,conv_2d,56,8,56,3,16,-1\n", "gpu_ms").find("ops.csv:2"), std::string::npos);
  EXPECT_NE(refusal("a,conv_2d,56,8,56,3,16,fast\n", "gpu_ms").find("positive number"), std::string::npos);
}

TEST(OperatorTable, OperationsBecomeSpecifications) {
  const std::vector<std::string> expected = {"convolution 3x3 stride 2x2 bias 1x3x224x224 -> 1x32x112x112 float32",
                                             "convolution 3x3 groups 32 bias 1x32x114x114 -> 1x32x112x112 float32",
                                             "convolution groups 4 bias 1x32x112x112 -> 1x64x112x112 float32",
                                             "max_pool 2x2 stride 2x2 1x64x112x112 -> 1x64x56x56 float32",
                                             "concatenate 1x64x56x56 1x16x56x56 1x16x56x56 -> 1x96x56x56 float32",
                                             "global_pool 1x96x56x56 -> 1x96 float32",
                                             "linear bias 1x96 -> 1x10 float32",
                                             "activation relu6 1x10x1x1 -> 1x10x1x1 float32",
                                             "opaque attention 1x10x1x1 -> 1x10x1x1 float32"};
  EXPECT_EQ(lines_of("n,0,conv_2d,224,3,112,2,3,32,1,9\n"
                     "n,1,depthwise_conv_2d,114,32,112,1,3,1,1,9\n"
                     "n,2,conv_2d_group,112,32,112,1,1,64,4,9\n"
                     "n,3,max_pool_2d,112,64,56,2,2,,,9\n"
                     "n,4,concatenation,56,64,56,,3,96,,9\n"
                     "n,5,mean,56,96,96,,0,,,9\n"
                     "n,6,fully_connected,,96,,,,10,,9\n"
                     "n,7,relu6,1,10,,,,,,\n"
                     "n,8,attention,1,10,,,,,,\n"),
            expected);
}

std::vector<std::string> padded_lines_of(const std::string& rows) {
  std::vector<std::string> lines;
  for (const auto& op : with_padding(parse_operator_table(header + rows, "ops.csv").at(0).operators)) {
    lines.push_back(format(op));
  }
  return lines;
}

TEST(OperatorPadding, InputLargerThanTheImageBefore_IsPaddedFirst) {
  const std::vector<std::string> lines = padded_lines_of(
      "n,0,conv_2d,224,3,112,2,3,32,1,\n"
      "n,1,depthwise_conv_2d,114,32,112,1,3,1,1,\n"
      "n,2,max_pool_2d,113,32,56,2,3,,,\n"
      "n,3,conv_2d,60,32,56,1,5,64,1,\n");
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[1], "pad 1x32x112x112 -> 1x32x114x114 float32");
  EXPECT_EQ(lines[3], "pad 1x32x112x112 -> 1x32x113x113 float32");
  EXPECT_EQ(lines[5], "pad 1x32x56x56 -> 1x32x60x60 float32");
}

TEST(OperatorPadding, ListedPadding_IsNotCountedTwice) {
  EXPECT_EQ(padded_lines_of("n,0,conv_2d,224,3,112,2,3,32,1,\nn,1,pad,112,32,114,,,,,\n"
                            "n,2,depthwise_conv_2d,114,32,112,1,3,1,1,\n"),
            (std::vector<std::string>{"convolution 3x3 stride 2x2 bias 1x3x224x224 -> 1x32x112x112 float32",
                                      "pad 1x32x112x112 -> 1x32x114x114 float32",
                                      "convolution 3x3 groups 32 bias 1x32x114x114 -> 1x32x112x112 float32"}));
}

TEST(OperatorPadding, WhatNoWindowExplains_IsLeftAsItIs) {
  // The network's own input; an image that was enlarged; a window of one position; an image that was there before.
  EXPECT_EQ(padded_lines_of("n,0,conv_2d,230,3,112,2,7,8,1,\nn,1,conv_2d,120,8,120,1,3,8,1,\n"
                            "n,2,conv_2d,122,8,122,1,1,8,1,\nn,3,conv_2d,112,8,110,1,3,8,1,\n")
                .size(),
            4U);
}

TEST(OperatorTable, NetworksStandInTheOrderOfTheirFirstRows) {
  const auto networks =
      parse_operator_table(header + "b,0,relu,4,4,4,,,,,\na,0,relu,8,4,8,,,,,\nb,1,relu,4,4,4,,,,,\n", "o");
  ASSERT_EQ(networks.size(), 2U);
  EXPECT_EQ(networks[0].name, "b");
  EXPECT_EQ(networks[0].operators.size(), 2U);
  EXPECT_EQ(networks[1].name, "a");
}

TEST(OperatorTable, WhatIsWrong_IsNamedWithLineAndColumn) {
  const auto complaint = [](const std::string& rows) {
    return message_of([&] { parse_operator_table(header + rows, "ops.csv"); });
  };
  EXPECT_EQ(complaint("n,0,conv_2d,224,x,112,2,3,32,1,\n"),
            "ops.csv:2: column input_channels: is 'x', expected a whole number from 1 to 131072");
  EXPECT_EQ(complaint("n,0,conv_2d,224,3,112,2,3,,1,\n"), "ops.csv:2: column filters: is empty, which conv_2d needs");
  EXPECT_NE(complaint("n,0,conv_2d,224,3,112,2,-3,32,1,\n").find("ops.csv:2: column kernel"), std::string::npos);
  EXPECT_NE(complaint("n,0,conv_2d,224,3,112,2,3,32,2,\n").find("2 groups do not divide 3"), std::string::npos);
  EXPECT_NE(complaint("n,1,relu,4,4,4,,,,,\nn,0,relu,4,4,4,,,,,\n").find("ops.csv:3: column index: is 0 after 1"),
            std::string::npos);
  EXPECT_NE(complaint(",0,relu,4,4,4,,,,,\n").find("column network"), std::string::npos);
  EXPECT_NE(complaint("n,0,relu,4\n").find("4 fields where the header has 11"), std::string::npos);
  EXPECT_NE(complaint("").find("has no rows"), std::string::npos);
  EXPECT_NE(message_of([] { parse_operator_table("network,index\n", "ops.csv"); }).find("operation"),
            std::string::npos);
}

TEST(OperatorTable, OperatorsBeyondAnyDevice_AreRefusedWhenTheyAreAdded) {
  auto networks = parse_operator_table(header + "huge,0,conv_2d,16384,131072,16384,1,1024,131072,1,\n", "ops.csv");
  EXPECT_NE(message_of([&] { nasbench::add_network(networks.at(0)); }).find("too large"), std::string::npos);
}

TEST(OperatorTable, PublicTable_HasTheFlopsThatItSays) {
  const char* tables = std::getenv("TENSHOT_TABLES");
  if (tables == nullptr) GTEST_SKIP() << "needs the table of Li et al. (EdgeSys 2024) in TENSHOT_TABLES";
  const auto identities = read_networks(std::string(tables) + "/mobile-cnn/operators.csv");
  EXPECT_EQ(identities.size(), 102U);
  std::size_t listed = 0, padded = 0;
  for (const Architecture& identity : identities) {
    for (const auto& op : nasbench::named_network(identity).operators) {
      ++(op.kind == nasbench::OperatorKind::pad ? padded : listed);
    }
  }
  EXPECT_EQ(listed, 5556U);
  EXPECT_EQ(padded, 1122U);
  // ResNet-18: 1.81 G multiply-adds (He et al., CVPR 2016, table 1 gives 1.8 G)
  EXPECT_NEAR(static_cast<double>(nasbench::networks().flop_count(nasbench::networks().parse("resnet18"), {})), 1.81e9,
              0.02e9);
}

std::string tiny_onnx(int channels) {
  nasbench::NetworkBuilder builder;
  const nasbench::Source image = builder.input("input", {1, 3, 8, 8});
  const nasbench::Source conv = builder.convolution("conv", image, channels, {nasbench::same_window(3)});
  builder.output(builder.activation("relu", conv, "relu"));
  return nasbench::onnx_model(builder.network(), {});
}

TEST(NetworkSources, FolderOfOnnxFiles_NamesThemAsTheFiles) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "second-net.onnx", tiny_onnx(5));
  write_file_atomically(folder.path() / "first-net.ONNX", tiny_onnx(4));
  write_file_atomically(folder.path() / "notes.txt", "not a network");
  const auto identities = read_networks(folder.path());
  ASSERT_EQ(identities.size(), 2U);
  EXPECT_EQ(nasbench::networks().format(identities[0]), "first-net");
  EXPECT_EQ(nasbench::networks().format(identities[1]), "second-net");
  EXPECT_EQ(format(nasbench::networks().operator_list(identities[0]).at(0)),
            "convolution 3x3 1x3x8x8 -> 1x4x8x8 float32");
  EXPECT_EQ(read_networks(folder.path() / "first-net.ONNX"), (std::vector<Architecture>{identities[0]}));
}

TEST(NetworkSources, FilesOfOneStem_GoByTheirPaths) {
  const TemporaryFolder folder;
  const std::string first = (folder.path() / "stem.onnx").string(), other = (folder.path() / "alone.onnx").string();
  const std::string second = (folder.path() / "v2" / "stem.onnx").string();
  std::filesystem::create_directory(folder.path() / "v2");
  write_file_atomically(first, tiny_onnx(4));
  write_file_atomically(second, tiny_onnx(5));
  write_file_atomically(other, tiny_onnx(6));
  std::vector<std::string> names;
  for (const Architecture& read : architectures_or_files({first, other, second}, nasbench::networks(), {}, nullptr)) {
    names.push_back(nasbench::networks().format(read));
  }
  EXPECT_EQ(names, (std::vector<std::string>{first, "alone", second}));
}

TEST(NetworkSources, TablesMayCallANetworkByItsFile) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "called-by-file.onnx", tiny_onnx(4));
  const auto identities = read_networks(folder.path());
  const Measurements read = parse_measurements("architecture,latency_ms\nmodels/called-by-file.onnx,2\nnobody.onnx,3\n",
                                               "m.csv", nasbench::networks(), Quantity::latency);
  ASSERT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.rows[0].architecture, identities.at(0));
  EXPECT_EQ(read.findings.total(), 1U);
}

TEST(NetworkSources, FilesOfAllFormats_AreReadFromAFolder) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "format-a.onnx", tiny_onnx(4));
  write_file_atomically(folder.path() / "format-b.param",
                        "7767517\n2 2\nInput data 0 1 data 0=8 1=8 2=3\nConvolution c 1 1 data y 0=4 1=3 4=1 6=108\n");
  const auto identities = read_networks(folder.path());
  ASSERT_EQ(identities.size(), 2U);
  EXPECT_EQ(format(nasbench::networks().operator_list(identities[1]).at(0)),
            format(nasbench::networks().operator_list(identities[0]).at(0)));
  write_file_atomically(folder.path() / "format-a.param", "7767517\n1 1\nInput data 0 1 data 0=8\n");
  EXPECT_EQ(read_networks(folder.path()), identities) << "one network in two formats is read from its ONNX file";
}

TEST(NetworkSources, AFileOfAnUnknownKind_IsSaidByWhatItIs) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "net.pt", "PK\x03\x04 net/data.pkl");
  const std::string message =
      message_of([&] { architecture_or_file((folder.path() / "net.pt").string(), nasbench::networks()); });
  EXPECT_NE(message.find("net.pt' is a PyTorch file (zip), no network's file; export it"), std::string::npos)
      << message;
  EXPECT_NE(message_of([] { architecture_or_file("nowhere.pt", nasbench::networks()); }).find("there is no network"),
            std::string::npos);
}

TEST(NetworkSources, AFileThatCannotBeRead_IsLeftOutByName) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "page-a.onnx", "<!DOCTYPE html><html></html>");
  write_file_atomically(folder.path() / "whole-b.onnx", tiny_onnx(4));
  std::vector<LeftOutFile> left_out;
  const auto identities = read_networks(folder.path(), {}, &left_out);
  ASSERT_EQ(identities.size(), 1U);
  EXPECT_EQ(nasbench::networks().format(identities[0]), "whole-b");
  ASSERT_EQ(left_out.size(), 1U);
  EXPECT_EQ(left_out[0].file, (folder.path() / "page-a.onnx").string());
  EXPECT_NE(left_out[0].reason.find("is an HTML page"), std::string::npos) << left_out[0].reason;
  EXPECT_NE(message_of([&] { read_networks(folder.path()); }).find("page-a.onnx"), std::string::npos)
      << "who does not ask for what is left out is refused";
  std::filesystem::remove(folder.path() / "whole-b.onnx");
  EXPECT_NE(message_of([&] { read_networks(folder.path(), {}, &left_out); }).find("page-a.onnx"), std::string::npos);
}

TEST(NetworkSources, ShapesOfAFolder_AreForTheNetworksThatHaveTheInput) {
  const TemporaryFolder folder;
  const auto param = [](const std::string& input) {
    return "7767517\n2 2\nInput " + input + " 0 1 " + input + "\nReLU r 1 1 " + input + " y\n";
  };
  write_file_atomically(folder.path() / "shape-a.param", param("pixels"));
  write_file_atomically(folder.path() / "shape-b.param", param("tokens"));
  nasbench::NetworkReadOptions options;
  options.shapes = {{"pixels", {1, 3, 8, 8}}, {"tokens", {1, 16, 4}}};
  const auto identities = read_networks(folder.path(), options);
  ASSERT_EQ(identities.size(), 2U);
  EXPECT_EQ(nasbench::networks().operator_list(identities[0]).at(0).output, (nasbench::Shape{1, 3, 8, 8}));
  EXPECT_EQ(nasbench::networks().operator_list(identities[1]).at(0).output, (nasbench::Shape{1, 16, 4}));
  EXPECT_NO_THROW(nasbench::networks().computation(identities[1], {}, 1)) << "it is read again with the same shapes";
  options.shapes.emplace("nobody", nasbench::Shape{1, 2});
  const std::string message = message_of([&] { read_networks(folder.path(), options); });
  EXPECT_NE(message.find("no network has an input 'nobody'"), std::string::npos) << message;
  EXPECT_NE(message.find("pixels, tokens"), std::string::npos) << message;
  options.shapes = {{"pixels", {1, 1, 3, 8, 8, 8}}, {"tokens", {1, 16, 4}}};
  std::vector<LeftOutFile> left_out;
  EXPECT_EQ(read_networks(folder.path(), options, &left_out).size(), 1U) << "the shape is wrong, not the name";
}

TEST(NetworkSources, WhatIsRefused_MakesNoNetworkKnown) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "unknown-a.onnx", tiny_onnx(4));
  nasbench::NetworkReadOptions options;
  options.shapes = {{"nobody", {1, 2}}};
  EXPECT_THROW(read_networks(folder.path(), options), InputError);
  EXPECT_THROW(nasbench::networks().parse("unknown-a"), InputError);
  write_file_atomically(folder.path() / "zz-page.onnx", "<!DOCTYPE html><html></html>");
  EXPECT_THROW(read_networks(folder.path()), FormatError);
  EXPECT_THROW(nasbench::networks().parse("unknown-a"), InputError);
  std::filesystem::remove(folder.path() / "zz-page.onnx");
  read_networks(folder.path());
  EXPECT_NO_THROW(nasbench::networks().parse("unknown-a"));
}

TEST(NetworkSources, FolderWithoutOnnxFiles_IsRefusedWithAnExample) {
  const TemporaryFolder folder;
  EXPECT_NE(message_of([&] { read_networks(folder.path()); }).find("resnet18.onnx"), std::string::npos);
  make_folder(folder.path() / "vision");
  EXPECT_NE(message_of([&] { read_networks(folder.path()); }).find("its folders are not read: vision"),
            std::string::npos);
}

TEST(NetworkSources, ChangedFileOfAKnownName_IsAnotherNetworkThatTheNameMeansFromThenOn) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "changed-net.onnx", tiny_onnx(4));
  const auto before = read_networks(folder.path());
  write_file_atomically(folder.path() / "changed-net.onnx", tiny_onnx(6));
  const auto after = read_networks(folder.path());
  EXPECT_NE(before, after);
  EXPECT_EQ(nasbench::networks().parse("changed-net"), after.at(0));
}

TEST(SpaceFiles, NamedSpace_IsKnownByNameOrReadFromItsFile) {
  EXPECT_EQ(&named_space("nasbench201"), &nasbench::nasbench201());
  const std::string message = message_of([] { named_space("ofaa"); });
  EXPECT_NE(message.find("fbnet, ofa"), std::string::npos) << message;
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "my.json").string();
  EXPECT_NE(message_of([&] { named_space(file); }).find("my.json"), std::string::npos);
}

/// A space that no program knows by name.
const nasbench::SearchSpace& own_space() {
  return nasbench::layered_space(parse_json(R"({"format": "tenshot.space/1", "name": "own-space",
    "input": {"channels": 3, "resolution": 8}, "layers": [{"out": 4, "options": [
      {"name": "k1", "operators": [{"kind": "convolution", "channels": "out"}]},
      {"name": "k3", "operators": [{"kind": "convolution", "channels": "out", "kernel": 3}]}]}]})",
                                            "own.json"),
                                 "own.json");
}

Pool pool_of(const nasbench::NetworkSpace& of, const std::vector<Architecture>& architectures) {
  Pool pool;
  pool.space = &of;
  DeviceRuntime device;
  device.id = device.device = "board";
  for (const Architecture& architecture : architectures) {
    Measurement row;
    row.architecture = architecture;
    row.latency_ms = 1.5;
    device.latencies.push_back(row);
  }
  pool.devices.push_back(std::move(device));
  return pool;
}

TEST(SpaceFiles, PoolOfAFileSpace_KeepsItBesideItsDevices) {
  const TemporaryFolder folder;
  const Pool pool = pool_of(own_space(), own_space().all());
  write_pool(folder.path(), pool);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "space.json"));
  const Pool read = read_pool(folder.path());
  EXPECT_EQ(read.space, &own_space());
  EXPECT_EQ(content_hash(read), content_hash(pool));
  EXPECT_EQ(read_device(folder.path() / "board").space, &own_space());
  Pool other = pool_of(nasbench::fbnet(), {Architecture(22)});
  other.devices[0].id = "board2";
  EXPECT_NE(message_of([&] { write_pool(folder.path(), other); }).find("keep one space in one folder"),
            std::string::npos);
  // A device that is measured anew in another space belongs to that space from then on.
  write_pool(folder.path(), pool_of(nasbench::fbnet(), {Architecture(22)}));
  EXPECT_EQ(read_pool(folder.path()).space, &nasbench::fbnet());
}

TEST(SpaceFiles, PoolOfNetworks_KeepsThemBesideItsDevices) {
  const TemporaryFolder folder;
  std::vector<Architecture> identities;
  for (NamedNetwork& network :
       parse_operator_table(header + "kept-a,0,relu,4,4,4,,,,,\nkept-b,0,relu,8,4,8,,,,,\n", "ops.csv")) {
    identities.push_back(nasbench::add_network(std::move(network)));
  }
  write_pool(folder.path(), pool_of(nasbench::networks(), {identities[0]}));
  Pool second = pool_of(nasbench::networks(), {identities[1]});
  second.devices[0].id = "board2";
  write_pool(folder.path(), second);
  const auto kept = nlohmann::json::parse(read_file(folder.path() / "networks.json"));
  EXPECT_EQ(kept.at("networks").size(), 2U) << "the second write keeps what the first one wrote";
  const Pool read = read_pool(folder.path());
  EXPECT_EQ(read.space, &nasbench::networks());
  EXPECT_EQ(read.devices.at(1).latencies.at(0).architecture, identities[1]);
}

TEST(SpaceFiles, TableOfNetworks_MayCallItsColumnNetwork) {
  nasbench::add_network(parse_operator_table(header + "in-table,0,relu,4,4,4,,,,,\n", "ops.csv").at(0));
  const Pool pool = parse_wide_table("network,phone\nin-table,2.5\nunknown-net,3\n", "w.csv", nasbench::networks(), {});
  ASSERT_EQ(pool.devices.size(), 1U);
  EXPECT_EQ(pool.devices[0].id, "phone");
  EXPECT_EQ(pool.devices[0].latencies.size(), 1U);
  EXPECT_EQ(pool.findings.counts().at(Problem::unknown_architecture), 1U);
  const Measurements rows = parse_measurements("network,latency_ms\nin-table,2\n", "m.csv", nasbench::networks());
  EXPECT_EQ(rows.rows.size(), 1U);
}

}  // namespace
}  // namespace tenshot::datasets
