#include "server/features/footprint.hpp"

#include "footprint/text.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace stepzero::server {

using footprint::Amount;
using footprint::bytes_text;
using footprint::count_text;
using footprint::Footprint;
using footprint::rounded;

namespace {

constexpr std::size_t most_lines = 8;

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}
std::string filled(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

class FootprintText {
public:
  FootprintText(const std::string& path, const DisplayPath& name) : path_(path), name_(name) {}

  std::string place(const footprint::Where& where) const {
    if (where.line == 0) return "";
    return (where.path == path_ ? "line " : name_(where.path) + ":") + std::to_string(where.line);
  }

  void row(const std::string& what, const Amount& amount, const std::string& more = {}) {
    text += "  " + filled(what, 34) + " " +
        (amount.formula.empty() ? padded(bytes_text(amount.bytes), 10) : amount.formula + " B");
    text += (amount.at_least ? " at least" : "") + (more.empty() ? "" : "  " + more) + "\n";
  }

  void model(const footprint::Model& model) {
    const footprint::Share& whole = model.shares.front();
    text += (model.name.empty() ? whole.type : model.name + ": " + whole.type) + ", " + place(model.where) +
        "\n";
    std::string numbers = count_text(whole.numbers) + (whole.dtype.empty() ? "" : " " + whole.dtype);
    if (whole.frozen) numbers += ", " + count_text(whole.frozen) + " of them frozen";
    row("parameters", whole.parameters, numbers);
    for (const footprint::Share& share : model.shares)
      if (share.depth == 1 && share.numbers > 0)
        row("  " + share.path + ": " + share.type, share.parameters,
            count_text(share.numbers) + (share.frozen == share.numbers ? ", frozen" : ""));
      else if (share.depth == 1 && share.tied > 0)
        text += "  " + filled("  " + share.path + ": " + share.type, 34) + "             tied to " +
            share.tied_with + "\n";
    if (whole.buffers.bytes) row("buffers", whole.buffers);
    if (model.trained) row("gradients", model.gradients);
    if (model.in_buckets.bytes)
      row(model.buckets ? "buckets of DDP" : "buckets of " + model.how, model.in_buckets,
          model.buckets ? std::to_string(model.buckets) : "");
    if (model.persistent.bytes) row("stays gathered", model.persistent);
    if (model.gathered.bytes)
      row(model.gathered.at_least ? "gathered at once" : "gathered at once, at most", model.gathered,
          std::to_string(model.units) + " units");
  }

  void step(const footprint::Step& step) {
    text += "step, backward in " + place(step.where) + "\n";
    row("saved for the backward", step.saved, std::to_string(step.operations) + " operations");
    std::size_t displayed = 0;
    for (const footprint::Line& line : step.lines)
      if (displayed++ < most_lines)
        row("  " + line.what + (line.count > 1 ? " ×" + std::to_string(line.count) : ""), line.amount,
            place(line.where));
    if (step.lines.size() > most_lines)
      text += "    and " + std::to_string(step.lines.size() - most_lines) + " other lines\n";
    for (const std::string& unknown : step.unknown) text += "  not known: what " + unknown + " keeps\n";
    displayed = 0;
    for (const footprint::Line& gap : step.gaps)
      if (displayed++ < most_lines)
        text += "  not known: " + gap.what + (gap.where.line ? ", " + place(gap.where) : "") + "\n";
    const auto flops_row = [&](const char* what, std::int64_t flops, bool at_least) {
      if (flops)
        text += "  " + filled(what, 34) + " " +
            padded(rounded(static_cast<double>(flops) / 1e9, "GFLOP"), 10) + (at_least ? " at least" : "") +
            "\n";
    };
    flops_row("forward", step.flops, step.flops_at_least);
    flops_row("backward", step.backward_flops, step.backward_flops_at_least);
    row(step.moment.empty() ? "peak" : "peak, in the " + step.moment, step.peak, place(step.peak_where));
    if (!step.advice.empty()) text += "  " + step.advice + "\n";
    displayed = 0;
    for (const footprint::Line& line : step.at_peak)
      if (displayed++ < most_lines)
        row("  " + line.what + (line.count > 1 ? " ×" + std::to_string(line.count) : ""), line.amount,
            place(line.where));
    if (step.microbatches)
      text += "  " + filled("microbatches in flight, at most", 34) + " " +
          padded(std::to_string(step.microbatches_in_flight), 10) + "  of " +
          std::to_string(step.microbatches) + "\n";
    if (is_some(step.moved)) row("communicated by each rank", step.moved);
    if (step.workers) row("batches in flight, on the host", step.in_flight, in_flight_text(step));
  }

  std::string text;

private:
  const std::string& path_;
  const DisplayPath& name_;
};

}  // namespace

std::string amount_text(const Amount& amount) {
  return (amount.at_least ? "at least " : "") +
      (amount.formula.empty() ? bytes_text(amount.bytes) : amount.formula + " B");
}

bool is_some(const Amount& amount) { return amount.bytes || amount.at_least || !amount.formula.empty(); }

std::string in_flight_text(const footprint::Step& step) {
  return std::to_string(step.workers) + (step.workers == 1 ? " worker × " : " workers × ") +
      std::to_string(step.prefetched) + (step.prefetched == 1 ? " batch of " : " batches of ") +
      amount_text(step.batch) + (step.pinned ? ", pinned" : "");
}

std::string unseen_text(const footprint::Unseen& unseen, const std::string& place) {
  return "the parameters of `" + unseen.name + "` and what it keeps for the backward" +
      (unseen.made_by.empty() ? ": the code that makes it is not seen"
                              : ": `" + unseen.made_by + "`" + (place.empty() ? "" : " (" + place + ")") +
                  " makes it, whose code is not seen");
}

std::string model_line(const Footprint& footprint, const footprint::Model& model) {
  if (model.shares.empty() || model.shares[0].numbers == 0) return "";
  const footprint::Share& whole = model.shares[0];
  std::string text = (whole.parameters.at_least ? "at least " : "") + count_text(whole.numbers) +
      " parameters · " + bytes_text(whole.parameters.bytes) + (whole.dtype.empty() ? "" : " " + whole.dtype);
  if (whole.frozen) text += " · " + count_text(whole.frozen) + " frozen";
  for (const std::size_t i : model.optimizers)
    if (const footprint::Stepper& optimizer = footprint.optimizers[i];
        optimizer.known && optimizer.state.bytes)
      text += " · " + optimizer.type + " " + bytes_text(optimizer.state.bytes);
  return text;
}

namespace {

// The layers that are made at the place, of all models.
std::optional<FootprintNote> note_of_layers(
    const Footprint& footprint, const std::string& path, std::uint32_t offset) {
  std::optional<FootprintNote> note;
  for (const footprint::Model& model : footprint.models) {
    const footprint::Share* first = nullptr;
    std::int64_t numbers = 0, bytes = 0, count = 0, tied = 0, tied_bytes = 0;
    for (std::size_t i = 1; i < model.shares.size(); ++i) {
      const footprint::Share& share = model.shares[i];
      if (!share.where.line || share.where.path != path || share.where.span.begin > offset ||
          share.where.span.end < offset)
        continue;
      // The smallest construction around the place: arguments may be layers, too.
      const auto size = share.where.span.end - share.where.span.begin;
      if (first && size > first->where.span.end - first->where.span.begin) continue;
      if (!first || size < first->where.span.end - first->where.span.begin)
        first = &share, numbers = bytes = count = tied = tied_bytes = 0;
      numbers += share.numbers;
      bytes += share.parameters.bytes;
      tied += share.tied;
      tied_bytes += share.tied_bytes;
      ++count;
    }
    if (!first || numbers + tied == 0) continue;
    const std::int64_t whole = model.shares[0].parameters.bytes;
    char percent[24];
    std::snprintf(percent, sizeof percent, "%.1f %%",
        whole ? 100.0 * static_cast<double>(bytes) / static_cast<double>(whole) : 0.0);
    const std::string name = model.name.empty() ? model.shares[0].type : model.name,
                      of = (count > 1 ? std::to_string(count) + " × " : "") + first->type + ": ";
    note = FootprintNote{first->where.span, {}};
    if (numbers)
      note->lines.push_back(
          of + count_text(numbers) + " parameters, " + bytes_text(bytes) + ", " + percent + " of " + name);
    if (tied)
      note->lines.push_back((numbers ? "" : of) + count_text(tied) + " parameters, " +
          bytes_text(tied_bytes) + ", tied to `" + first->tied_with + "` and counted there");
  }
  return note;
}

std::string line_text(const footprint::Line& line, const std::string& path) {
  return line.what + (line.count > 1 ? " ×" + std::to_string(line.count) : "") + ": " +
      amount_text(line.amount) +
      (line.where.line && line.where.path == path ? ", line " + std::to_string(line.where.line) : "");
}

FootprintNote note_of_step(const footprint::Step& step, const std::string& path, const footprint::Where& at) {
  FootprintNote note{at.span,
      {"peak of a step: " + amount_text(step.peak) + (step.moment.empty() ? "" : ", in the " + step.moment)}};
  for (std::size_t i = 0; i < step.at_peak.size() && i < 3; ++i)
    note.lines.push_back(line_text(step.at_peak[i], path));
  if (!step.advice.empty()) note.lines.push_back(step.advice);
  return note;
}

}  // namespace

std::vector<FootprintNote> notes_at(
    const Footprint& footprint, const std::string& path, std::uint32_t offset) {
  std::vector<FootprintNote> notes;
  const auto holds = [&](const footprint::Where& where) {
    return where.line && where.path == path && where.span.begin <= offset && offset <= where.span.end;
  };
  auto of_layers = note_of_layers(footprint, path, offset);
  // A layer that is no model to anybody who reads the program, but a part of one.
  const auto is_part = [&](const footprint::Model& model) {
    return of_layers && holds(model.where) && of_layers->span.begin == model.where.span.begin &&
        of_layers->span.end == model.where.span.end;
  };
  for (const footprint::Model& model : footprint.models)
    if (!is_part(model) && (holds(model.where) || holds(model.of_class)))
      if (std::string line = model_line(footprint, model); !line.empty())
        notes.push_back({holds(model.where) ? model.where.span : model.of_class.span, {std::move(line)}});
  if (notes.empty() && of_layers) notes.push_back(std::move(*of_layers));
  const auto line_of = [&](const footprint::Where& where) {
    return where.line && where.path == path ? "line " + std::to_string(where.line) : std::string();
  };
  for (const footprint::Stepper& optimizer : footprint.optimizers)
    if (holds(optimizer.where) && optimizer.known) {
      notes.push_back({optimizer.where.span,
          {optimizer.type + " keeps " + amount_text(optimizer.state) +
              (optimizer.temporary.bytes
                      ? ", and takes " + bytes_text(optimizer.temporary.bytes) + " while it steps"
                      : "")}});
      for (const footprint::Unseen& each : footprint.unseen)
        if (each.optimizer.line && each.optimizer.path == path && holds(each.optimizer))
          notes.back().lines.push_back("not counted: " + unseen_text(each, line_of(each.where)));
    }
  for (const footprint::Unseen& each : footprint.unseen)
    if (holds(each.where)) notes.push_back({each.where.span, {"not counted: " + unseen_text(each, "")}});
  for (const footprint::Step& step : footprint.steps) {
    if (holds(step.where)) {
      FootprintNote note{step.where.span,
          {"saved for this backward: " + amount_text(step.saved) + ", of " + std::to_string(step.operations) +
              " operations"}};
      for (std::size_t i = 0; i < step.lines.size() && i < 3; ++i)
        note.lines.push_back(line_text(step.lines[i], path));
      notes.push_back(std::move(note));
    }
    // A body of one line may stand in the header.
    if (holds(step.loop) && !holds(step.where)) notes.push_back(note_of_step(step, path, step.loop));
  }
  return notes;
}

std::string launch_text(const Footprint& footprint) {
  if (footprint.launch.empty()) return "";
  return ", as launched by " + footprint.launch +
      (footprint.world > 1 ? ", one of " + std::to_string(footprint.world) + " processes" : "");
}

std::string footprint_text(const Footprint& footprint, const std::string& path, const DisplayPath& name) {
  FootprintText writer(path, name);
  if (footprint.models.empty() && footprint.steps.empty() && footprint.unseen.empty() &&
      footprint.caches.empty())
    return name(path) + ": no model is made here\n";
  writer.text = name(path) + launch_text(footprint) + "\n";
  for (const footprint::Model& model : footprint.models)
    if (!model.shares.empty()) writer.model(model);
  for (const footprint::Stepper& optimizer : footprint.optimizers) {
    writer.text += optimizer.type + ", " + writer.place(optimizer.where) +
        (optimizer.known ? "" : ": what it keeps is not known") + "\n";
    if (optimizer.known) writer.row("state", optimizer.state);
  }
  for (const footprint::Step& step : footprint.steps) writer.step(step);
  for (const footprint::Line& cache : footprint.caches)
    writer.row("cache " + cache.what + ", appended to", cache.amount, writer.place(cache.where));
  for (const footprint::Unseen& each : footprint.unseen)
    writer.text += "not counted: " + unseen_text(each, writer.place(each.where)) + "\n";
  if (!footprint.open.empty()) {
    writer.text += "open:";
    for (const std::string& each : footprint.open) writer.text += " " + each;
    writer.text += " (taken as 1; --set NAME=VALUE)\n";
  }
  for (std::size_t i = 0; i < footprint.assumed.size(); ++i)
    writer.text += (i == 0 ? "assumed: " : "         ") + footprint.assumed[i] + "\n";
  return writer.text;
}

}  // namespace stepzero::server
