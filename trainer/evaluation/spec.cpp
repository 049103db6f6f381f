#include "trainer/evaluation/spec.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "datasets/tables/space_files.h"
#include "nasbench/support/error.h"
#include "nasbench/support/files.h"
#include "nasbench/support/json_reader.h"
#include "trainer/core/archive_reader.h"
#include "trainer/planning/planning.h"
#include "trainer/predictors/registry.h"

namespace tenshot::trainer::evaluation {
namespace {

using nlohmann::json;

constexpr long long most_rows = 100'000'000;

/// `text` with the environment variables that it names.
std::string expanded(const JsonField& value) {
  std::string text = value.text(), result;
  for (std::size_t start = 0;;) {
    const std::size_t open = text.find("${", start);
    if (open == std::string::npos) return result + text.substr(start);
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) value.fail("a '}' after every '${'");
    const std::string name = text.substr(open + 2, close - open - 2);
    const char* found = std::getenv(name.c_str());
    if (found == nullptr || *found == '\0') value.fail("the environment variable " + name + " to be set");
    result += text.substr(start, open - start) + found;
    start = close + 1;
  }
}

std::string beside_spec(const std::string& path, const std::filesystem::path& folder) {
  const std::filesystem::path beside = folder / path;  // an absolute path stays itself
  return !path.empty() && is_there(beside) ? beside.string() : path;
}

DataSource data_of(const JsonField& value, const std::filesystem::path& folder) {
  value.only_keys({"pool", "table", "space", "networks", "operator_latencies", "quantity"});
  const auto pool = value.find("pool"), table = value.find("table");
  if (pool.has_value() == table.has_value()) value.fail("either the key 'pool' (a folder) or 'table' (a CSV)");
  DataSource data;
  data.is_table = table.has_value();
  data.path = beside_spec(expanded(data.is_table ? *table : *pool), folder);
  if (const auto space = value.find("space")) {
    if (!data.is_table) space->fail("no 'space' beside 'pool', which knows its own");
    data.space = expanded(*space);
    const std::string beside = beside_spec(data.space, folder);
    if (is_file(beside)) data.space = beside;  // a folder may be called like a space
    try {
      datasets::named_space(data.space);
    } catch (const Error& error) {
      space->fail(std::string("a search space (") + error.what() + ")");
    }
  }
  if (const auto networks = value.find("networks")) {
    if (!data.is_table) networks->fail("no 'networks' beside 'pool', which keeps its own");
    data.networks = beside_spec(expanded(*networks), folder);
  }
  if (const auto latencies = value.find("operator_latencies")) {
    if (data.networks.empty()) latencies->fail("no 'operator_latencies' without 'networks', whose columns it names");
    if (!latencies->json().is_object()) latencies->fail("an object: the column of each device");
    for (const auto& [device, column] : latencies->json().items()) {
      data.operator_latencies[device] = latencies->at(device).text();
    }
  }
  if (const auto quantity = value.find("quantity")) {
    std::vector<std::string> names;
    for (const datasets::Quantity known : datasets::all_quantities) names.emplace_back(name(known));
    data.quantity = datasets::quantity_named(quantity->one_of(names));
  }
  return data;
}

datasets::RowRange rows_of(const JsonField& value) {
  try {
    return datasets::parse_row_range(value.text());
  } catch (const InputError&) {
    value.fail("rows from:to, such as \"0:900\"");
  }
}

Split split_of(const JsonField& value) {
  value.only_keys({"train", "test", "pool"});
  Split split{rows_of(value.at("train")), rows_of(value.at("test")), std::nullopt};
  if (const auto pool = value.find("pool")) split.pool = rows_of(*pool);
  if (split.train.begin < split.test.end && split.test.begin < split.train.end) {
    value.at("test").fail("rows that are not also training rows");
  }
  return split;
}

PoolStrategy pool_of(const JsonField& value) {
  const std::vector<std::string> kinds = {"others", "same-runtime", "other-runtimes", "other-families"};
  PoolStrategy pool;
  if (!value.json().is_object()) {
    pool.name = pool.of = value.one_of(kinds);
    if (pool.of == "other-families") value.fail("an object that names the families");
    return pool;
  }
  value.only_keys({"name", "of", "devices", "families", "one_at_a_time"});
  pool.name = value.at("name").text();
  if (const auto of = value.find("of")) pool.of = of->one_of(kinds);
  if (const auto single = value.find("one_at_a_time")) pool.one_at_a_time = single->boolean();
  if (const auto devices = value.find("devices")) pool.devices = devices->texts();
  const auto families = value.find("families");
  if (families.has_value() != (pool.of == "other-families")) {
    value.fail("the key 'families' (a list of lists of devices) with \"of\": \"other-families\", and only there");
  }
  if (families) {
    for (const JsonField& family : families->list()) pool.families.push_back(family.texts());
  }
  return pool;
}

int whole(const JsonField& value, int least, int most) { return static_cast<int>(value.whole_number(least, most)); }

/// The settings that a method's keys change, and the others as they are unless told otherwise.
json settings_of(const JsonField& value, const PredictorRow& row) {
  json given = json::object();
  for (const OptionText& option : row.settings) {
    const auto found = value.find(option.name);
    if (!found) continue;
    if (!option.options.empty()) found->only_keys(names_of(option.options));
    given[option.name] = found->json();
  }
  try {
    return row.complete(given);
  } catch (const BadOption& bad) {
    fail_at(value, bad);
  }
}

void read_samples(const JsonField& value, Method& method) {
  if (const auto v = value.find("sampler")) method.sampler = v->one_of(plan_samplers());
  if (const auto v = value.find("planning_noise")) method.planning_noise = v->number({1e-4, 10});
  if (const auto v = value.find("samples")) {
    method.samples = v->json() == "all" ? every_sample : static_cast<std::size_t>(v->whole_number(0, most_rows));
  }
  if (const auto v = value.find("rounds")) {
    if (method.sampler != "information" || value.find("samples")) {
      v->fail("no 'samples', and \"sampler\": \"information\", which alone learns from earlier rounds");
    }
    std::size_t samples = 0;
    for (const JsonField& round : v->list()) {
      method.rounds.push_back(static_cast<std::size_t>(round.whole_number(1, most_rows)));
      samples += method.rounds.back();
    }
    method.samples = samples;
  }
}

Method method_of(const JsonField& value) {
  Method method;
  method.predictor = (value.json().is_object() ? value.at("predictor") : value).one_of(predictor_names());
  const PredictorRow& row = predictor_row(method.predictor);
  if (!value.json().is_object()) {
    method.name = method.predictor;
    method.settings = row.complete(nullptr);
    return method;
  }
  std::vector<std::string> keys(row.adapt_keys.begin(), row.adapt_keys.end());
  keys.insert(keys.begin(), {"name", "predictor", "sampler", "samples", "rounds", "descriptor", "planning_noise",
                             "planning_descriptor", "shuffled_descriptor"});
  for (const OptionText& option : row.settings) {
    if (option.name != "seed") keys.push_back(option.name);  // which is the experiment's
  }
  value.only_keys(keys);
  method.name = value.find("name") ? value.at("name").text() : method.predictor;
  method.settings = settings_of(value, row);
  if (const auto v = value.find("mode")) {
    method.mode = v->one_of({"joint", "fine-tune", "set-encoder"});
    if (method.mode == "set-encoder" && method.settings.value("pretraining_epochs", 0) == 0) {
      v->fail("\"pretraining_epochs\" beside \"set-encoder\", which trains nothing afterwards");
    }
  }
  if (const auto v = value.find("ensemble")) method.ensemble = whole(*v, 1, 100);
  if (const auto v = value.find("clones")) method.clones = whole(*v, 1, 10'000);
  if (const auto v = value.find("descriptor")) method.descriptor = v->boolean();
  if (const auto v = value.find("shuffled_descriptor")) {
    method.shuffled_descriptor = v->boolean();
    if (method.shuffled_descriptor && !method.descriptor) v->fail("no \"descriptor\": false beside it");
  }
  if (const auto v = value.find("planning_descriptor"); v && v->boolean()) {
    const bool planned = value.find("sampler") && value.at("sampler").json() == "information";
    if (!planned) v->fail("\"sampler\": \"information\" beside it, the only one that looks at descriptors");
    const bool richest = method.descriptor_kind() == "auto" || method.descriptor_kind() == "in-network";
    if (!method.descriptor || !richest) {
      v->fail("neither \"descriptor\": false nor a poorer \"descriptor_kind\" beside it: planning knows all there is");
    }
    method.planning_descriptor = true;
  }
  if (const auto v = value.find("profiled")) method.profiled = v->boolean();
  read_samples(value, method);
  return method;
}

template <class Named>
void require_distinct(const JsonField& list, const std::vector<Named>& entries) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!names.insert(entries[i].name).second) list.list()[i].fail("a name that no entry before it has");
  }
}

ExperimentSpec spec_of(const JsonField& value, const std::filesystem::path& folder) {
  value.only_keys({"format", "name", "description", "data", "split", "targets", "pools", "samplers", "samples",
                   "clones", "methods", "trials", "seed", "quick"});
  value.at("format").one_of({"tenshot.experiment/1"});
  ExperimentSpec spec;
  spec.name = value.at("name").text();
  if (const auto v = value.find("description")) spec.description = v->text();
  spec.data = data_of(value.at("data"), folder);
  spec.split = split_of(value.at("split"));
  spec.targets = value.at("targets").texts();
  const JsonField pools = value.at("pools"), methods = value.at("methods");
  for (const JsonField& pool : pools.list()) spec.pools.push_back(pool_of(pool));
  require_distinct(pools, spec.pools);
  const auto add_new = [](const JsonField& field, auto& values, auto one) {
    const bool is_new = std::find(values.begin(), values.end(), one) == values.end();
    is_new ? values.push_back(one) : field.fail("a value that no entry before it has");
  };
  for (const JsonField& field : value.at("samplers").list())
    add_new(field, spec.samplers, field.one_of(plan_samplers()));
  for (const JsonField& field : value.at("samples").list())
    add_new(field, spec.samples, static_cast<std::size_t>(field.whole_number(0, most_rows)));
  if (const auto clones = value.find("clones")) {
    for (const JsonField& factor : clones->list()) add_new(factor, spec.clones, whole(factor, 1, 10'000));
  } else {
    spec.clones.emplace_back();
  }
  for (const JsonField& method : methods.list()) spec.methods.push_back(method_of(method));
  require_distinct(methods, spec.methods);
  spec.trials = whole(value.at("trials"), 1, 10'000);
  if (const auto seed = value.find("seed")) spec.seed = static_cast<std::uint64_t>(seed->whole_number(0, 1LL << 53));
  return spec;
}

}  // namespace

ExperimentSpec parse_spec(const std::string& text, const std::string& file, bool quick) {
  json document = parse_json(text, file);
  if (!document.is_object()) JsonField(document, file).fail("a JSON object");
  if (quick) {
    const json changes = document.value("quick", json::object({{"trials", 1}}));
    if (!changes.is_object()) JsonField(document, file).at("quick").fail("an object: what --quick changes");
    document.merge_patch(changes);
  }
  document.erase("quick");
  ExperimentSpec spec = spec_of(JsonField(document, file), std::filesystem::path(file).parent_path());
  if (quick) {  // whoever reads a result has to see that it is not the whole experiment's
    spec.name += " (quick)";
    spec.description = "The small grid of `--quick`, to see that everything runs: not a result to report." +
                       (spec.description.empty() ? "" : " " + spec.description);
    document["name"] = spec.name;
    document["description"] = spec.description;
  }
  spec.json = document;
  return spec;
}

ExperimentSpec read_spec(const std::filesystem::path& path, bool quick) {
  return parse_spec(read_file(path), path == "-" ? "standard input" : path.string(), quick);
}

}  // namespace tenshot::trainer::evaluation
