#include "server/command_line/report_page.hpp"

#include "server/command_line/json.hpp"
#include "server/command_line/page.hpp"
#include "server/features/schedule_json.hpp"
#include "server/version.hpp"

#include <algorithm>

namespace stepzero::server {
namespace {

constexpr std::uint32_t most_lines = 8;  // of one piece of code
constexpr std::size_t longest_line = 400;

std::string cut(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() <= longest_line) return std::string(line);
  std::size_t end = longest_line;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  return std::string(line.substr(0, end)) + "…";
}

// The lines that a location speaks of, and `context` around them. Numbers as `report` counts them.
Json code(const Report& report, const rules::Location& where, std::uint32_t context) {
  const auto found = report.texts.find(where.path);
  if (found == report.texts.end() || !found->second) return {};
  const syntax::Text& text = *found->second;
  const auto [begin, end] = report.places(where);
  const std::uint32_t first_real = text.position(where.span.begin, syntax::Encoding::utf8).line;
  const std::uint32_t shift = first_real + 1 - begin.line;  // of a cell
  const auto cells = report.cells.find(where.path);
  const Cells::Cell* cell = cells == report.cells.end() ? nullptr : cells->second->at_line(first_real);
  const auto line_of = [&](std::uint32_t line) {
    const std::uint32_t real = line - 1 + shift;
    const std::uint32_t until = real + 1 < text.line_count() ? text.line_start(real + 1) - 1 : text.size();
    return cut(text.slice({text.line_start(real), until}));
  };
  std::uint32_t first = begin.line > context ? begin.line - context : 1;
  std::uint32_t last = std::min(
      {end.line + context, begin.line + most_lines, cell ? cell->line_count : text.line_count() - shift});
  while (first < begin.line && line_of(first).empty()) ++first;
  while (last > end.line && line_of(last).empty()) --last;
  Json lines = Json::array();
  for (std::uint32_t line = first; line <= last; ++line) lines.push_back(line_of(line));
  const auto position = [](const Place& at) { return Json{{"line", at.line}, {"column", at.column}}; };
  return {{"first", first}, {"lines", std::move(lines)}, {"begin", position(begin)}, {"end", position(end)}};
}

Json finding_json(const Report& report, const rules::Finding& finding) {
  Json made = diagnostic_json(report, finding);
  made["file"] = finding.where.path;
  made["code"] = code(report, finding.where, 2);
  for (std::size_t i = 0; i < finding.related.size(); ++i) {
    made["related"][i]["file"] = finding.related[i].where.path;
    made["related"][i]["code"] = code(report, finding.related[i].where, 0);
  }
  for (Json& fix : made["fixes"]) fix.erase("edits");
  return made;
}

Json layer_json(const ModelLayer& layer) {
  Json made = {
      {"name", layer.name}, {"type", layer.type}, {"arguments", layer.arguments}, {"line", layer.line}};
  if (!layer.repeated.empty()) made["repeated"] = layer.repeated;
  if (layer.parameters) made["parameters"] = *layer.parameters;
  for (const ModelLayer& part : layer.parts) made["parts"].push_back(layer_json(part));
  return made;
}

Json model_json(const Names& names, const std::string& path, const ModelOutline& model) {
  constexpr const char* kinds[] = {"input", "parameter", "layer", "operation", "output"};
  Json layers = Json::array(), flow = Json::array();
  for (const ModelLayer& layer : model.layers) layers.push_back(layer_json(layer));
  for (const FlowNode& node : model.flow)
    flow.push_back({{"kind", kinds[static_cast<int>(node.kind)]}, {"label", node.label}, {"text", node.text},
        {"shape", node.shape}, {"loop", node.loop}, {"line", node.line}, {"from", node.from}});
  Json made = {{"name", model.name}, {"path", names.displayed(path)}, {"file", path}, {"line", model.line},
      {"layers", std::move(layers)}, {"flow", std::move(flow)}};
  if (model.parameters) made["parameters"] = *model.parameters;
  return made;
}

// Inside a script's element only its end would be read as something else.
std::string in_script(const Json& json) {
  std::string made;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<')
      made += "\\u003c";
    else
      made += c;
  }
  return made;
}

void put(std::string& page, std::string_view mark, std::string_view text) {
  page.replace(page.find(mark), mark.size(), text);
}

}  // namespace

std::string report_page(
    const Report& report, const std::vector<std::string>& paths, const std::vector<Picture>& pictures) {
  Json diagnostics = Json::array(), schedules = Json::array(), models = Json::array();
  std::vector<const rules::Finding*> order;
  order.reserve(report.findings.size());
  for (const rules::Finding& finding : report.findings) order.push_back(&finding);
  std::stable_sort(
      order.begin(), order.end(), [](const auto* a, const auto* b) { return a->severity < b->severity; });
  for (const rules::Finding* finding : order) diagnostics.push_back(finding_json(report, *finding));
  const PathName name = [&](const std::string& path) { return report.names.displayed(path); };
  for (const Picture& picture : pictures) {
    if (picture.schedule) {
      schedules.push_back(schedule_json(*picture.schedule, picture.path, name));
      schedules.back()["file"] = picture.path;
    }
    for (const ModelOutline& model : picture.models)
      models.push_back(model_json(report.names, picture.path, model));
  }
  const Json data = {{"version", 1}, {"program", version()}, {"paths", paths}, {"files", report.files},
      {"diagnostics", std::move(diagnostics)}, {"schedules", std::move(schedules)},
      {"models", std::move(models)}};
  std::string page = page_html;
  put(page, "%STYLE%", page_style);
  put(page, "%SCRIPT%", page_script);
  put(page, "%DATA%", in_script(data));
  return page;
}

}  // namespace stepzero::server
