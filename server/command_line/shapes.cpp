// `stepzero shapes`: what the run knows of each place.
#include "server/command_line/checker.hpp"
#include "server/command_line/commands.hpp"
#include "server/command_line/console.hpp"
#include "server/command_line/display.hpp"
#include "server/command_line/json.hpp"
#include "server/command_line/with_progress.hpp"
#include "snapshot/snapshot.hpp"

#include <exception>
#include <unistd.h>

namespace stepzero::server {
namespace {

// A number where the text is one: "3" is 3, "3 * B" is "3 * B".
Json scalar(const snapshot::DisplayValue& value) {
  if (value.kind == "bool" && (value.value == "True" || value.value == "False")) return value.value == "True";
  if (value.kind == "int" || value.kind == "float") {
    const Json number = Json::parse(value.value, nullptr, false);
    if (number.is_number()) return number;
  }
  return value.value;
}

void add_value(Json& json, const snapshot::DisplayValue& value) {
  json["kind"] = value.kind;
  if (value.kind == "tensor") {
    Json& shape = json["shape"];
    if (value.shape) {
      shape = Json::array();
      for (const snapshot::DisplayValue::Dim& dim : *value.shape)
        shape.push_back(dim.is_int ? Json(dim.value) : Json(dim.text));
    }
  }
  if (!value.dtype.empty()) json["dtype"] = value.dtype;
  if (!value.device.empty()) json["device"] = value.device;
  if (!value.value.empty()) json["value"] = scalar(value);
  if (value.optional) json["optional"] = true;
  if (value.kind == "tuple" || value.kind == "list") {
    Json items = Json::array();
    for (const snapshot::DisplayValue& item : value.items) {
      Json inner = Json::object();
      add_value(inner, item);
      items.push_back(std::move(inner));
    }
    json["items"] = std::move(items);
  }
}

// The facts of one file, written; the engine's own values are let go at once.
struct Shapes {
  Json json = Json::array();
  std::string text;
  std::string unreadable;
};

Shapes shapes_of(const Checker& checker, const Inputs& inputs, const std::string& path, Format format) {
  Shapes shapes;
  const FileSources sources = checker.sources(path, inputs.overlay);
  const auto module = sources.module(path);
  if (!module) {
    shapes.unreadable = read_text(path).reason;
    return shapes;
  }
  snapshot::Options options;
  options.select = {"none"};  // no rule has this name: only the facts are wanted
  snapshot::Result result;
  try {
    result = checker.analyze()(sources, path, options);
  } catch (const std::exception& error) {
    shapes.unreadable = std::string("internal error: ") + error.what();
  }
  Report places(inputs.names);
  places.texts[path] = module->text;
  if (const auto cells = checker.cells(path)) places.cells[path] = cells;
  for (const snapshot::Fact& fact : result.facts) {
    if (!fact.is_place) continue;
    const Place at = places.place(path, fact.span.begin);
    if (format == Format::json) {
      Json json = Json::object();
      if (at.cell != 0) json["cell"] = at.cell;
      json.update(Json{{"line", at.line}, {"column", at.column}, {"name", fact.name}});
      add_value(json, fact.value);
      shapes.json.push_back(std::move(json));
    } else {
      shapes.text += sanitized(inputs.names.displayed(path)) + ":" +
          (at.cell ? "cell " + std::to_string(at.cell) + ":" : "") + std::to_string(at.line) + ":" +
          std::to_string(at.column) + ": " + sanitized(fact.name) + ": " +
          sanitized(fact.value.short_text()) + "\n";
    }
  }
  return shapes;
}

}  // namespace

int run_shapes(const ShapesOptions& options) {
  ConfigurationFiles configuration;
  const Inputs inputs = find_inputs(options.paths, options.stdin_filename, configuration);
  const Checker checker(inputs, configuration, {});
  int status = say_unreadable(inputs);
  auto all = with_progress("reading shapes", inputs.files.size(),
      [&](std::size_t i) { return shapes_of(checker, inputs, inputs.files[i], options.format); });
  Json files = Json::array();
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = inputs.names.displayed(inputs.files[i]);
    if (!all[i].unreadable.empty()) {
      say(name + ": " + all[i].unreadable);
      status = exit_status::trouble;
      continue;
    }
    text += all[i].text;
    files.push_back({{"path", name}, {"shapes", std::move(all[i].json)}});
  }
  if (options.format == Format::json) text = written({{"version", 1}, {"files", std::move(files)}});
  return write_out(text) == Written::failed ? exit_status::trouble : status;
}

}  // namespace stepzero::server
