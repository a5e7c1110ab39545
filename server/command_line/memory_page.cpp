#include "server/command_line/memory_page.hpp"

#include "footprint/text.hpp"
#include "server/command_line/page.hpp"
#include "server/features/footprint.hpp"
#include "server/version.hpp"

#include <algorithm>

namespace stepzero::server {
namespace {

using footprint::bytes_text;
using footprint::count_text;

constexpr std::size_t most_rows = 24;

std::string escaped(std::string_view text) {
  std::string made;
  for (const char c : text) switch (c) {
    case '&': made += "&amp;"; break;
    case '<': made += "&lt;"; break;
    case '>': made += "&gt;"; break;
    case '"': made += "&quot;"; break;
    default: made += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  return made;
}

constexpr std::string_view own_style = R"css(
table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line); border-radius: 8px; font-size: 13.5px; }
th, td { text-align: left; padding: 4px 12px; border-bottom: 1px solid var(--line); vertical-align: middle; }
th { color: var(--soft); font-weight: 600; }
td.amount { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.share { width: 38%; }
.meter { display: block; height: 12px; border-radius: 3px; background: var(--bar); min-width: 1px; }
.over { background: var(--error); }
tr.over td { color: var(--error); }
)css";

// The colors of the dark theme where the system has one: the report's page chooses them by its script.
std::string style() {
  const std::string_view page = page_style;
  constexpr std::string_view dark = ":root[data-theme=\"dark\"] {";
  std::string made(page);
  if (const auto begin = page.find(dark); begin != std::string_view::npos)
    made += "@media (prefers-color-scheme: dark) { :root {" +
        std::string(page.substr(begin + dark.size(), page.find('}', begin) - begin - dark.size())) + "} }\n";
  return made + std::string(own_style);
}

class Page {
public:
  Page(const MemoryPart& part, std::int64_t limit) : part_(part), limit_(limit) {}

  std::string write() {
    text_ = "<section><h2>" + escaped(part_.path) + "</h2>\n";
    for (const footprint::Model& model : part_.footprint->models)
      if (!model.shares.empty()) write_model(model);
    for (const footprint::Stepper& optimizer : part_.footprint->optimizers)
      text_ += "<p><strong>" + escaped(optimizer.type) + "</strong>" + place(optimizer.where) + ": " +
          (optimizer.known ? escaped(amount_text(optimizer.state)) + " of state"
                           : "what it keeps is not known") +
          "</p>\n";
    for (const footprint::Step& step : part_.footprint->steps) write_step(step);
    if (!part_.batches.rows.empty()) write_batches();
    for (const footprint::Line& cache : part_.footprint->caches)
      text_ += "<p>Cache <code>" + escaped(cache.what) + "</code>" + place(cache.where) +
          ", appended to: " + escaped(amount_text(cache.amount)) + ".</p>\n";
    for (const footprint::Unseen& each : part_.footprint->unseen)
      text_ += "<p class=\"hint\">Not counted: " +
          escaped(unseen_text(each, each.where.line ? "line " + std::to_string(each.where.line) : "")) +
          ".</p>\n";
    if (!part_.footprint->open.empty()) {
      text_ += "<p class=\"hint\">Open, taken as 1:";
      for (const std::string& open : part_.footprint->open) text_ += " <code>" + escaped(open) + "</code>";
      text_ += "</p>\n";
    }
    return text_ + "</section>\n";
  }

private:
  static std::string place(const footprint::Where& where) {
    return where.line ? " <span class=\"place\">line " + std::to_string(where.line) + "</span>" : "";
  }

  void row(const std::string& what, const std::string& amount, std::int64_t bytes, std::int64_t of,
      bool over = false) {
    const std::int64_t percent = of > 0 ? std::clamp<std::int64_t>(bytes * 100 / of, 0, 100) : 0;
    text_ += std::string("<tr") + (over ? " class=\"over\"" : "") + "><td>" + what +
        "</td><td class=\"amount\">" + escaped(amount) + "</td><td class=\"share\"><span class=\"meter" +
        (over ? " over" : "") + "\" style=\"width: " + std::to_string(percent) + "%\"></span></td></tr>\n";
  }

  void write_model(const footprint::Model& model) {
    const footprint::Share& whole = model.shares.front();
    text_ += "<h3>" + escaped(model.name.empty() ? whole.type : model.name + ": " + whole.type) +
        place(model.where) + "</h3>\n<p>" + escaped(model_line(*part_.footprint, model)) + "</p>\n";
    if (!model.how.empty())
      text_ += "<p>" + escaped(model.how) +
          (model.gathered.bytes ? ": " + std::to_string(model.units) +
                      (model.gathered.at_least ? " units, at least " : " units, at most ") +
                      bytes_text(model.gathered.bytes) + " gathered at once"
                                : "") +
          (model.in_buckets.bytes ? ": " + std::to_string(model.buckets) + " buckets of gradients, " +
                      bytes_text(model.in_buckets.bytes)
                                  : "") +
          "</p>\n";
    text_ += "<table><thead><tr><th>part</th><th>parameters</th><th>share</th></tr></thead><tbody>\n";
    std::size_t rows = 0;
    for (const footprint::Share& share : model.shares)
      if (share.depth == 1 && share.numbers > 0 && rows++ < most_rows)
        row(escaped(share.path + ": " + share.type) + " <span class=\"place\">" + count_text(share.numbers) +
                (share.frozen == share.numbers ? ", frozen" : "") + "</span>",
            amount_text(share.parameters), share.parameters.bytes, whole.parameters.bytes);
    if (whole.buffers.bytes) row("buffers", amount_text(whole.buffers), 0, 0);
    if (model.trained) row("gradients", amount_text(model.gradients), 0, 0);
    text_ += "</tbody></table>\n";
  }

  void write_lines(const std::vector<footprint::Line>& lines, std::int64_t of) {
    text_ += "<table><thead><tr><th>what</th><th>bytes</th><th>share</th></tr></thead><tbody>\n";
    std::size_t rows = 0;
    for (const footprint::Line& line : lines)
      if (rows++ < most_rows)
        row(escaped(line.what) + (line.count > 1 ? " ×" + std::to_string(line.count) : "") +
                place(line.where),
            amount_text(line.amount), line.amount.bytes, of);
    text_ += "</tbody></table>\n";
  }

  void write_step(const footprint::Step& step) {
    const bool over = limit_ && step.peak.bytes > limit_;
    text_ += "<h3>A step, backward" + place(step.where) + "</h3>\n<p>Peak <strong>" +
        escaped(amount_text(step.peak)) + "</strong>" +
        (step.moment.empty() ? "" : " in the " + escaped(step.moment)) + place(step.peak_where) +
        (limit_ ? over ? ": more than the " + bytes_text(limit_) + " of the GPU" : " of " + bytes_text(limit_)
                : "") +
        ".</p>\n";
    if (!step.advice.empty()) text_ += "<p>" + escaped(step.advice) + "</p>\n";
    write_lines(step.at_peak, step.peak.bytes);
    text_ += "<h3>Saved for the backward: " + escaped(amount_text(step.saved)) + "</h3>\n";
    write_lines(step.lines, step.saved.bytes);
    if (is_some(step.moved))
      text_ += "<p>Communicated by each rank: " + escaped(amount_text(step.moved)) + ".</p>\n";
    if (step.workers)
      text_ += "<p>Batches in flight, in the memory of the host: " + escaped(amount_text(step.in_flight)) +
          ", " + escaped(in_flight_text(step)) + ".</p>\n";
    for (const std::string& unknown : step.unknown)
      text_ += "<p class=\"hint\">Not known: what " + escaped(unknown) + " keeps.</p>\n";
    for (const footprint::Line& gap : step.gaps)
      text_ += "<p class=\"hint\">Not known: " + escaped(gap.what) +
          (gap.where.line ? ", line " + std::to_string(gap.where.line) : "") + ".</p>\n";
  }

  std::string fits_text() const {
    if (*part_.batches.fits == 0) return "Not even 1 fits " + bytes_text(limit_) + ".";
    std::string text = std::to_string(*part_.batches.fits) + " fits " + bytes_text(limit_) + ".";
    if (part_.batches.estimate)
      text += " Of larger batches less is known; by this growth about " +
          std::to_string(*part_.batches.estimate) + " fits.";
    return text;
  }

  void write_batches() {
    std::int64_t most = limit_;
    for (const BatchRow& each : part_.batches.rows) most = std::max(most, each.peak.bytes);
    text_ += "<h3>Peak by <code>" + escaped(part_.batch_name) + "</code></h3>\n";
    if (part_.batches.fits) text_ += "<p>" + fits_text() + "</p>\n";
    text_ += "<table><thead><tr><th>batch</th><th>peak</th><th>share</th></tr></thead><tbody>\n";
    for (const BatchRow& each : part_.batches.rows)
      row(std::to_string(each.batch), amount_text(each.peak), each.peak.bytes, most,
          limit_ && each.peak.bytes > limit_);
    text_ += "</tbody></table>\n";
  }

  const MemoryPart& part_;
  const std::int64_t limit_;
  std::string text_;
};

}  // namespace

std::string memory_page(const std::vector<MemoryPart>& parts, std::int64_t limit, int world) {
  std::string made =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
      "<title>stepzero memory</title>\n<style>\n" +
      style() + "</style>\n</head>\n<body>\n<header><h1>Memory of a training step</h1><p>stepzero " +
      escaped(version());
  if (world > 1) made += ", one of " + std::to_string(world) + " processes";
  made += "</p></header>\n<main>\n";
  for (const MemoryPart& part : parts) made += Page(part, limit).write();
  return made + "</main>\n</body>\n</html>\n";
}

}  // namespace stepzero::server
