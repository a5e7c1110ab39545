#include "server/features/footprint.hpp"

#include <algorithm>
#include <cstdio>

namespace stepzero::server {

using footprint::Amount;
using footprint::Footprint;

namespace {

constexpr std::size_t most_lines = 8;

std::string rounded(double value, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f %s" : value < 100 ? "%.1f %s" : "%.0f %s", value, unit);
  return text;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}
std::string filled(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

class Writer {
public:
  Writer(const std::string& path, const ShownPath& name) : path_(path), name_(name) {}

  std::string place(const footprint::Where& where) const {
    if (where.line == 0) return "";
    return (where.path == path_ ? "line " : name_(where.path) + ":") + std::to_string(where.line);
  }

  void row(const std::string& what, const Amount& amount, const std::string& more = {}) {
    text += "  " + filled(what, 34) + " " + (amount.formula.empty() ? padded(bytes_text(amount.bytes), 10) : amount.formula + " B");
    text += (amount.at_least ? " at least" : "") + (more.empty() ? "" : "  " + more) + "\n";
  }

  void model(const footprint::Model& model) {
    const footprint::Share& whole = model.shares.front();
    text += (model.name.empty() ? whole.type : model.name + ": " + whole.type) + ", " + place(model.where) + "\n";
    std::string numbers = count_text(whole.numbers) + (whole.dtype.empty() ? "" : " " + whole.dtype);
    if (whole.frozen) numbers += ", " + count_text(whole.frozen) + " of them frozen";
    row("parameters", whole.parameters, numbers);
    for (const footprint::Share& share : model.shares)
      if (share.depth == 1 && share.numbers > 0) row("  " + share.path + ": " + share.type, share.parameters, count_text(share.numbers) + (share.frozen == share.numbers ? ", frozen" : ""));
    if (whole.buffers.bytes) row("buffers", whole.buffers);
    if (model.trained) row("gradients", model.gradients);
  }

  void step(const footprint::Step& step) {
    text += "step, backward in " + place(step.where) + "\n";
    row("saved for the backward", step.saved, std::to_string(step.operations) + " operations");
    std::size_t shown = 0;
    for (const footprint::Line& line : step.lines)
      if (shown++ < most_lines) row("  " + line.what + (line.count > 1 ? " ×" + std::to_string(line.count) : ""), line.amount, place(line.where));
    if (step.lines.size() > most_lines) text += "    and " + std::to_string(step.lines.size() - most_lines) + " other lines\n";
    for (const std::string& unknown : step.unknown) text += "  not known: what " + unknown + " keeps\n";
    if (step.flops) text += "  " + filled("forward", 34) + " " + padded(rounded(static_cast<double>(step.flops) / 1e9, "GFLOP"), 10) + (step.flops_at_least ? " at least" : "") + "\n";
    row("peak, in the " + step.moment, step.peak, place(step.peak_where));
    shown = 0;
    for (const footprint::Line& line : step.at_peak)
      if (shown++ < most_lines) row("  " + line.what + (line.count > 1 ? " ×" + std::to_string(line.count) : ""), line.amount, place(line.where));
  }

  std::string text;

private:
  const std::string& path_;
  const ShownPath& name_;
};

} // namespace

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  for (const char* unit : {"KiB", "MiB", "GiB"}) {
    if (value < 1024) return rounded(value, unit);
    value /= 1024;
  }
  return rounded(value, "TiB");
}

std::string count_text(std::int64_t count) {
  if (count < 1000) return std::to_string(count);
  double value = static_cast<double>(count) / 1000;
  for (const char* unit : {"k", "M"}) {
    if (value < 1000) return rounded(value, unit);
    value /= 1000;
  }
  return rounded(value, "G");
}

std::string amount_text(const Amount& amount) {
  return (amount.at_least ? "at least " : "") + (amount.formula.empty() ? bytes_text(amount.bytes) : amount.formula + " B");
}

std::string footprint_text(const Footprint& footprint, const std::string& path, const ShownPath& name) {
  Writer writer(path, name);
  if (footprint.models.empty() && footprint.steps.empty()) return name(path) + ": no model is made here\n";
  writer.text = name(path) + "\n";
  for (const footprint::Model& model : footprint.models)
    if (!model.shares.empty()) writer.model(model);
  for (const footprint::Stepper& optimizer : footprint.optimizers) {
    writer.text += optimizer.type + ", " + writer.place(optimizer.where) + (optimizer.known ? "" : ": what it keeps is not known") + "\n";
    if (optimizer.known) writer.row("state", optimizer.state);
  }
  for (const footprint::Step& step : footprint.steps) writer.step(step);
  if (!footprint.open.empty()) {
    writer.text += "open:";
    for (const std::string& each : footprint.open) writer.text += " " + each;
    writer.text += " (taken as 1; --set NAME=VALUE)\n";
  }
  return writer.text;
}

} // namespace stepzero::server
