#include "server/features/schedule_table.hpp"

#include <algorithm>

namespace stepzero::server {

using snapshot::Communication;
using snapshot::ScheduleNode;
using snapshot::Spot;
using Kind = ScheduleNode::Kind;

namespace {

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}
std::string padded(const std::string& text, std::size_t to) {
  return text + std::string(to - std::min(to, width(text)), ' ');
}

}  // namespace

std::string shortened(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  std::size_t end = width - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}
std::string spot_text(const Spot& spot, const std::string& path, const PathName& name) {
  return (spot.path == path ? "" : name(spot.path) + ":") + std::to_string(spot.line);
}

void ScheduleTable::add(const std::vector<ScheduleNode>& nodes, std::size_t depth) {
  for (const ScheduleNode& node : nodes) {
    switch (node.kind) {
    case Kind::step:
      row(node, depth);
      if (!node.text.empty())
        note(depth, told_.insert(node.text).second ? ">> wrong: " + node.text : ">> wrong, as above");
      break;
    case Kind::loop:
    case Kind::iteration:
    case Kind::choice:
    case Kind::handler: block(node, depth, block_text(node)); break;
    case Kind::unreached:
      note(depth, block_text(node));
      add(node.body, depth + 1);
      break;
    case Kind::hang:
    case Kind::unmatched:
      row(node, depth);
      note(depth,
          (node.kind == Kind::hang ? std::string(">> hangs") +
                      (node.holds ? ": " : " unless the network buffers the messages: ")
                                   : std::string(">> not answered here: ")) +
              standing_text(node, path_, name_));
      break;
    }
  }
}

std::string ScheduleTable::take(std::size_t most_lines) {
  const std::vector<std::vector<int>> columns = groups();
  std::size_t lines_width = 4, functions_width = 0;
  std::set<std::string> functions;
  for (const Line& line : lines_) {
    lines_width = std::max(lines_width, width(line.place));
    if (!line.note) functions.insert(line.function);
  }
  if (functions.size() > 1)
    for (const std::string& function : functions)
      functions_width = std::max(functions_width, width(function));
  std::vector<std::size_t> widths;
  const bool split = columns.size() > 1;
  for (const auto& column : columns) {
    std::size_t widest = split ? width(ranks_text(column)) : 0;
    for (const Line& line : lines_)
      if (!line.note && !line.same)
        widest = std::max(
            widest, width(displayed(line, column.front())) + (widths.empty() ? 2 * line.depth : 0));
    widths.push_back(widest);
  }
  std::vector<std::string> out;
  std::string head = "  " + padded("line", lines_width) + "  " +
      (functions_width ? padded("in", functions_width) + "  " : "");
  for (std::size_t i = 0; i < columns.size(); ++i)
    head += (i ? " | " : "") +
        padded(split          ? ranks_text(columns[i])
                : world_ == 1 ? "the only rank"
                              : "every rank",
            widths[i]);
  out.push_back(std::move(head));
  for (const Line& line : lines_) {
    const std::string indent(2 * line.depth, ' ');
    std::string text = "  " + std::string(lines_width - std::min(lines_width, width(line.place)), ' ') +
        line.place + "  ";
    if (functions_width) text += padded(line.note ? "" : line.function, functions_width) + "  ";
    if (line.note || line.same) {
      text += indent + line.text;
    } else {
      for (std::size_t i = 0; i < columns.size(); ++i)
        text += (i ? " | " : "") + padded((i ? "" : indent) + displayed(line, columns[i].front()), widths[i]);
    }
    out.push_back(std::move(text));
  }
  std::string all;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i == most_lines && out.size() > most_lines + 1) {
      all += "  ... " + std::to_string(out.size() - i) + " more lines\n";
      break;
    }
    while (!out[i].empty() && out[i].back() == ' ') out[i].pop_back();
    all += out[i] + "\n";
  }
  return all;
}

void ScheduleTable::folds(std::size_t line, std::vector<Fold>& into) const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    std::size_t end = i + 1;
    while (end < lines_.size() && lines_[end].depth > lines_[i].depth) ++end;
    if (end > i + 1) into.push_back({line + 1 + i, line + end});
  }
}

std::string ScheduleTable::displayed(const Line& line, int rank) {
  const auto found = line.cells.find(rank);
  return found == line.cells.end() ? "-" : found->second;
}

void ScheduleTable::note(std::size_t depth, std::string text, const Spot& where) {
  Line line;
  line.depth = depth;
  line.note = true;
  line.text = std::move(text);
  if (where.line) line.place = place(where);
  lines_.push_back(std::move(line));
}

void ScheduleTable::block(const ScheduleNode& node, std::size_t depth, std::string text) {
  note(
      depth, shortened(std::move(text), 2 * widest_cell), node.kind == Kind::iteration ? Spot{} : node.where);
  add(node.body, depth + 1);
}

void ScheduleTable::row(const ScheduleNode& node, std::size_t depth) {
  Line line;
  line.depth = depth;
  const Communication& first = node.calls.front();
  line.place = place(first.where);
  line.function = first.callers.empty() ? "" : shortened(first.callers.front().function, widest_cell / 2);
  line.same = node.kind == Kind::step && static_cast<int>(node.calls.size()) == world_;
  for (const Communication& call : node.calls) {
    line.cells[call.rank] = call_text(call) +
        (call.where == first.where ? "" : " (line " + place(call.where) + ")");
    line.same = line.same && line.cells[call.rank] == line.cells.begin()->second;
  }
  for (const int rank : node.open) line.cells[rank] = "?";
  if (line.same) line.text = line.cells.begin()->second;
  lines_.push_back(std::move(line));
}

std::vector<std::vector<int>> ScheduleTable::groups() const {
  std::vector<std::vector<int>> made;
  if (std::all_of(lines_.begin(), lines_.end(), [](const Line& line) { return line.note || line.same; })) {
    made.emplace_back();
    for (int rank = 0; rank < world_; ++rank) made.back().push_back(rank);
    return made;
  }
  for (int rank = 0; rank < world_; ++rank) {
    const auto like = std::find_if(made.begin(), made.end(), [&](const std::vector<int>& group) {
      return std::all_of(lines_.begin(), lines_.end(), [&](const Line& line) {
        return line.note || line.same || displayed(line, rank) == displayed(line, group.front());
      });
    });
    if (like != made.end())
      like->push_back(rank);
    else
      made.push_back({rank});
  }
  return made;
}

}  // namespace stepzero::server
