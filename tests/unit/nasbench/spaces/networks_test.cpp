#include "nasbench/spaces/networks.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "nasbench/graph/network_builder.h"
#include "nasbench/support/error.h"

namespace tenshot::nasbench {
namespace {

using nlohmann::json;

OperatorSpecification convolution(std::int64_t in, std::int64_t out, int kernel) {
  OperatorSpecification op;
  op.kind = OperatorKind::convolution;
  op.kernel = {kernel, kernel};
  op.inputs = {{1, in, 8, 8}};
  op.output = {1, out, 8, 8};
  return op;
}

std::string complaint(const json& value) {
  try {
    add_networks(value, "networks.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Networks, OneThatIsAdded_IsFoundByItsName) {
  const Architecture identity = add_network(named_network("found-by-name", {convolution(3, 4, 1)}, "a.csv"));
  EXPECT_EQ(networks().parse("found-by-name"), identity);
  EXPECT_EQ(networks().format(identity), "found-by-name");
  EXPECT_EQ(networks().operator_list(identity), (std::vector<OperatorSpecification>{convolution(3, 4, 1)}));
  EXPECT_EQ(networks().flop_count(identity, {}), 8 * 8 * 3 * 4);
  EXPECT_EQ(&known_space("networks"), &networks());
}

TEST(Networks, EqualOnes_AreOneNetworkWhereverTheyComeFrom) {
  const Architecture first = add_network(named_network("twice", {convolution(3, 4, 1)}, "a.csv"));
  EXPECT_EQ(add_network(named_network("twice", {convolution(3, 4, 1)}, "b.csv")), first);
}

TEST(Networks, OfOneNameAndUnlikeContent_LiveSideBySide) {
  const Architecture first = add_network(named_network("clash", {convolution(3, 4, 1)}, "first.csv"));
  const Architecture second = add_network(named_network("clash", {convolution(3, 4, 3)}, "second.csv"));
  EXPECT_NE(first, second);
  EXPECT_EQ(networks().operator_list(first).at(0).kernel.height, 1);
  EXPECT_EQ(networks().operator_list(second).at(0).kernel.height, 3);
  EXPECT_EQ(networks().format(first), "clash");
  EXPECT_EQ(networks().format(second), "clash");
}

TEST(Networks, AName_MeansWhatTheUserNamedLastBeforeWhatFilesCarry) {
  const auto named = [](int window) { return named_network("meant", {convolution(3, 4, window)}, "a"); };
  const Architecture carried = add_network(named(1), NamedBy::card);
  EXPECT_EQ(networks().parse("meant"), carried);
  const Architecture later = add_network(named(3), NamedBy::file);
  EXPECT_EQ(networks().parse("meant"), later);
  const Architecture own = add_network(named(5), NamedBy::user);
  EXPECT_EQ(networks().parse("meant"), own);
  add_network(named(1), NamedBy::file);  // a file that is read later changes nothing of that
  EXPECT_EQ(networks().parse("meant"), own);
  EXPECT_EQ(network_of_files("meant"), carried) << "what a kit measured is what the kit says";
  add_network(named_network("of-a-user", {convolution(3, 4, 7)}, "a"), NamedBy::user);
  EXPECT_EQ(network_of_files("of-a-user"), networks().parse("of-a-user"));
  EXPECT_THROW(network_of_files("of-nobody"), InputError);
  EXPECT_EQ(add_network(named(3), NamedBy::user), later);
  EXPECT_EQ(networks().parse("meant"), later);
}

TEST(Networks, OfOneNameInOneTable_AreRefusedNamingBoth) {
  const Architecture first = add_network(named_network("ambiguous", {convolution(3, 4, 1)}, "first.csv"));
  const Architecture second = add_network(named_network("ambiguous", {convolution(3, 4, 3)}, "second.csv"));
  EXPECT_NO_THROW(require_distinct_names({first, first}));
  try {
    require_distinct_names({first, second});
    FAIL();
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'ambiguous' of second.csv"), std::string::npos) << message;
    EXPECT_NE(message.find("'ambiguous' of first.csv"), std::string::npos) << message;
  }
  const auto both = networks_json({first, second});
  EXPECT_THROW(add_networks(both, "networks.json", NamedBy::file), InputError);
  EXPECT_EQ(add_networks(both, "the card", NamedBy::card), (std::vector<Architecture>{first, second}));
}

TEST(Networks, Identity_IsTheSameInEveryProcess) {
  const Architecture identity = add_network(named_network("stable", {convolution(3, 4, 1)}, "a.csv"));
  ASSERT_EQ(identity.size(), 16U);
  // The first bytes of SHA-256("stable\n" + SHA-256("convolution 1x3x8x8 -> 1x4x8x8 float32\n")).
  EXPECT_EQ(identity, (Architecture{107, 117, 85, 85, 8, 59, 213, 72, 242, 105, 33, 0, 55, 71, 206, 244}));
  EXPECT_NE(identity, add_network(named_network("stable too", {convolution(3, 4, 1)}, "a.csv")));
}

TEST(Networks, UnknownName_IsRefusedSayingHowToNameIt) {
  try {
    networks().parse("nobody's");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("--networks"), std::string::npos) << error.what();
  }
  EXPECT_THROW(networks().format(Architecture(16)), InputError);
}

TEST(Networks, NamesThatNoTableCouldHold_AreRefused) {
  for (const char* name : {"", "a,b", "a\"b", " a", "a\nb"}) {
    EXPECT_THROW(add_network(named_network(name, {convolution(3, 4, 1)}, "a.csv")), InputError) << name;
  }
  EXPECT_THROW(add_network(named_network("empty", std::vector<OperatorSpecification>{}, "a.csv")), InputError);
}

TEST(Networks, AreNoSearchSpace) {
  EXPECT_EQ(networks().search_space(), nullptr);
  EXPECT_THROW(search_space(networks()), InputError);
  EXPECT_EQ(networks().architecture_bytes(), 16U);
  EXPECT_TRUE(networks().could_be(add_network(named_network("one", {convolution(3, 4, 1)}, "a.csv"))));
  EXPECT_FALSE(networks().could_be(Architecture(6)));
  EXPECT_TRUE(networks().input_shape({32, 10}).empty()) << "each has a shape of its own";
}

TEST(NetworksFile, ReadsBackAsTheSameNetworks) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 3, 8, 8});
  const Source a = builder.convolution("a", image, 4, {same_window(3)});
  const Source b = builder.convolution("b", image, 4, {same_window(3)});
  builder.output(builder.add("sum", a, b));
  const Network network = builder.take();
  const Architecture with_edges = add_network(named_network("edges", network, "edges.onnx"));
  OperatorSpecification quantised = convolution(4, 4, 1);
  quantised.type = ElementType::int16;
  quantised.weight_bits = 4;
  quantised.name = std::string(90, 'n');  // of another domain, as long as it is
  quantised.kernel = {1, 48'000};
  const Architecture without =
      add_network(named_network("list", {convolution(3, 4, 3), convolution(4, 4, 1), quantised}, "l.csv"));
  const json written = networks_json({with_edges, without});
  EXPECT_EQ(written.at("operators").size(), 4U) << "equal operators are written once";
  EXPECT_EQ(add_networks(written, "copy.json"), (std::vector<Architecture>{with_edges, without}));
  EXPECT_EQ(named_network(with_edges).sources, (std::vector<std::vector<int>>{{-1}, {-1}, {0, 1}}));
  EXPECT_EQ(named_network(with_edges).hash, content_hash(network));
}

TEST(NetworksFile, OperatorsOrEdgesEditedByHand_AreRefusedByTheHash) {
  NetworkBuilder builder;
  const Source image = builder.input("input", {1, 3, 8, 8});
  const Source a = builder.convolution("a", image, 4, {same_window(3)});
  builder.output(builder.add("sum", a, builder.activation("relu", a, "relu")));
  const json good = networks_json({add_network(named_network("edited", builder.take(), "edited.onnx"))});
  const std::string expected =
      "networks.json: networks[0]: the hash of network 'edited' is not that of its operators; the file was altered";
  json bad = good;
  bad["operators"][0]["kernel"] = {5, 5};
  EXPECT_EQ(complaint(bad), expected);
  bad = good;
  bad["networks"][0]["operators"][1] = 2;
  EXPECT_EQ(complaint(bad), expected);
  bad = good;
  bad["networks"][0]["sources"][2] = {1, 1};
  EXPECT_EQ(complaint(bad), expected);
  bad = good;
  bad["networks"][0]["kept_hash"] = 7;
  EXPECT_NE(complaint(bad).find("networks[0].kept_hash"), std::string::npos) << complaint(bad);
  json of_an_earlier_release = good;
  of_an_earlier_release["networks"][0].erase("kept_hash");
  EXPECT_EQ(add_networks(of_an_earlier_release, "old.json"), add_networks(good, "new.json"));
}

TEST(NetworksFile, OneThatIsRefused_MakesNoNetworkKnown) {
  const auto json_of = [](const std::string& name, int window) {
    return networks_json({add_network(named_network(name, {convolution(3, 4, window)}, "a.csv"))});
  };
  json clash = json_of("of-the-refused", 1);
  clash["networks"][0]["name"] = "new-of-the-refused";  // its hash is of its operators alone
  const json other = json_of("of-the-other", 3);
  clash["operators"].push_back(other["operators"][0]);
  clash["networks"].push_back(
      {{"name", "new-of-the-refused"}, {"hash", other["networks"][0]["hash"]}, {"operators", {1}}});
  EXPECT_NE(complaint(clash).find("one table cannot hold both"), std::string::npos) << complaint(clash);
  EXPECT_THROW(networks().parse("new-of-the-refused"), InputError);
  clash["networks"][1]["name"] = "a,b";
  EXPECT_NE(complaint(clash).find("cannot name a network"), std::string::npos) << complaint(clash);
  EXPECT_THROW(networks().parse("new-of-the-refused"), InputError);
  clash["networks"][1]["name"] = "another";
  EXPECT_EQ(complaint(clash), "nothing");
  EXPECT_NO_THROW(networks().parse("new-of-the-refused"));
}

TEST(NetworksFile, WhatIsWrong_IsNamedWithItsPlace) {
  const Architecture identity = add_network(named_network("wrong", {convolution(3, 4, 3)}, "a.csv"));
  const json good = networks_json({identity});
  json bad = good;
  bad["operators"][0]["output"][1] = 5;
  EXPECT_NE(complaint(bad).find("hash of network 'wrong' is not that of its operators"), std::string::npos);
  bad = good;
  bad["operators"][0]["kind"] = "convolutoin";
  EXPECT_NE(complaint(bad).find("operators[0].kind"), std::string::npos) << complaint(bad);
  bad = good;
  bad["operators"][0]["inputs"][0][1] = -3;
  EXPECT_NE(complaint(bad).find("operators[0].inputs"), std::string::npos) << complaint(bad);
  bad = good;
  bad["operators"][0]["output"] = {1, 1000000000, 1000000000};
  EXPECT_NE(complaint(bad).find("operators[0].output"), std::string::npos) << complaint(bad);
  bad = good;
  bad["operators"][0]["weight_bits"] = 65;
  EXPECT_NE(complaint(bad).find("operators[0].weight_bits"), std::string::npos) << complaint(bad);
  bad = good;
  bad["networks"][0]["operators"][0] = 7;
  EXPECT_NE(complaint(bad).find("networks[0].operators"), std::string::npos) << complaint(bad);
  bad = good;
  bad["networks"][0]["hash"] = "abc";
  EXPECT_NE(complaint(bad).find("64 hexadecimal"), std::string::npos) << complaint(bad);
  bad = good;
  bad["format"] = "tenshot.networks/9";
  EXPECT_NE(complaint(bad).find("newer"), std::string::npos) << complaint(bad);
  EXPECT_NE(complaint(json::array()).find("networks.json"), std::string::npos);
}

}  // namespace
}  // namespace tenshot::nasbench
