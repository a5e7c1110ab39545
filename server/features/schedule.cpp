#include "server/features/schedule.hpp"

#include "footprint/text.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace stepzero::server {

using snapshot::Communication;
using snapshot::Schedule;
using snapshot::ScheduleNode;
using snapshot::SchedulePart;
using snapshot::Spot;
using Kind = ScheduleNode::Kind;

namespace {

constexpr std::size_t widest_cell = 64;
constexpr std::int64_t fewest_bytes = 1024;  // that are worth telling

// At most so many bytes, cut between code points.
std::string shortened(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  std::size_t end = width - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}
std::string padded(const std::string& text, std::size_t to) {
  return text + std::string(to - std::min(to, width(text)), ' ');
}

std::string spot_text(const Spot& spot, const std::string& path, const PathName& name) {
  return (spot.path == path ? "" : name(spot.path) + ":") + std::to_string(spot.line);
}

std::string list(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

}  // namespace

std::string call_text(const Communication& call) {
  std::string text = call.name;
  if (call.what == Communication::What::wait) return text;
  if (!call.made.empty()) text += " " + list(call.made);
  if (call.tensor.shape || !call.tensor.dtype.empty()) text += " " + call.tensor.short_text();
  if (call.bytes >= fewest_bytes)
    text += (text.back() == ']' ? ", " : " ") + footprint::bytes_text(call.bytes);
  if (call.what == Communication::What::send) text += " -> rank " + std::to_string(call.peer.value_or(-1));
  if (call.what == Communication::What::receive) text += " <- rank " + std::to_string(call.peer.value_or(-1));
  if (call.tag != 0) text += ", tag " + std::to_string(call.tag);
  if (call.root) text += (call.root_sends ? " from rank " : " to rank ") + std::to_string(*call.root);
  if (!call.whole_group) text += " among " + list(call.members);
  if (call.starts && call.what == Communication::What::collective) text += " (async)";
  return shortened(text, widest_cell);
}

std::string part_title(const SchedulePart& part) {
  if (part.function.empty()) return "as it runs";
  return part.function + " (line " + std::to_string(part.where.line) + "), which nobody here calls";
}

std::string block_text(const ScheduleNode& node) {
  switch (node.kind) {
  case Kind::loop: {
    const bool told = !node.body.empty() && node.body.front().kind == Kind::iteration;
    return node.text + ":  (" +
        (!node.times ? "each round"
                     : (node.fewer ? "up to " : "") + std::to_string(*node.times) +
                    (*node.times == 1 ? " round" : " rounds") + (told ? "" : " alike")) +
        ")";
  }
  case Kind::iteration:
    return (node.last > *node.times
                   ? "rounds " + std::to_string(*node.times) + "-" + std::to_string(node.last)
                   : "round " + std::to_string(*node.times)) +
        ":";
  case Kind::choice:
    return (node.holds ? "if " : "unless ") + node.text + ":" +
        (node.local ? "  (each rank decides for itself)" : "");
  case Kind::handler: return "where this try fails:";
  case Kind::unreached: return "never reached:";
  default: return {};
  }
}

std::string standing_text(const ScheduleNode& node, const std::string& path, const PathName& name) {
  std::vector<std::pair<std::string, std::vector<int>>> places;
  for (const Communication& call : node.calls) {
    const std::string where = call.name + " (line " + spot_text(call.where, path, name) + ")";
    if (const auto same = std::find_if(
            places.begin(), places.end(), [&](const auto& each) { return each.first == where; });
        same != places.end())
      same->second.push_back(call.rank);
    else
      places.push_back({where, {call.rank}});
  }
  std::string text;
  for (const auto& [where, ranks] : places)
    text += (text.empty() ? "" : "; ") + ranks_text(ranks) +
        (ranks.size() == 1 ? " waits in " : " wait in ") + where;
  if (!node.ended.empty())
    text += "; " + ranks_text(node.ended) + (node.ended.size() == 1 ? " has" : " have") +
        " ended or gone on without it";
  return text;
}

namespace {

class Table {
public:
  Table(int world, const std::string& path, const PathName& name) : world_(world), path_(path), name_(name) {}

  void add(const std::vector<ScheduleNode>& nodes, std::size_t depth) {
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

  std::string take(std::size_t most_lines) {
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
          text += (i ? " | " : "") +
              padded((i ? "" : indent) + displayed(line, columns[i].front()), widths[i]);
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

  // Each line with what stands deeper below it. `line`: where the head of the table stands.
  void folds(std::size_t line, std::vector<Fold>& into) const {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      std::size_t end = i + 1;
      while (end < lines_.size() && lines_[end].depth > lines_[i].depth) ++end;
      if (end > i + 1) into.push_back({line + 1 + i, line + end});
    }
  }

private:
  struct Line {
    std::size_t depth = 0;
    bool note = false;  // not a step
    bool same = false;  // all ranks do `text`
    std::string place, function, text;
    std::map<int, std::string> cells;  // by rank
  };

  static std::string displayed(const Line& line, int rank) {
    const auto found = line.cells.find(rank);
    return found == line.cells.end() ? "-" : found->second;
  }
  std::string place(const Spot& spot) const { return spot_text(spot, path_, name_); }

  void note(std::size_t depth, std::string text, const Spot& where = {}) {
    Line line;
    line.depth = depth;
    line.note = true;
    line.text = std::move(text);
    if (where.line) line.place = place(where);
    lines_.push_back(std::move(line));
  }
  void block(const ScheduleNode& node, std::size_t depth, std::string text) {
    note(depth, shortened(std::move(text), 2 * widest_cell),
        node.kind == Kind::iteration ? Spot{} : node.where);
    add(node.body, depth + 1);
  }
  void row(const ScheduleNode& node, std::size_t depth) {
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

  // Ranks that do the same in all lines share a column.
  std::vector<std::vector<int>> groups() const {
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

  int world_;
  const std::string& path_;
  const PathName& name_;
  std::vector<Line> lines_;
  std::set<std::string> told_;  // what is wrong: once is enough
};

constexpr std::size_t no_limit = static_cast<std::size_t>(-1) / 2;

std::string table(const Schedule& schedule, const std::string& path, const PathName& name,
    const std::vector<ScheduleNode>& nodes, std::size_t lines) {
  Table made(schedule.world, path, name);
  made.add(nodes, 0);
  return made.take(lines);
}

constexpr std::string_view not_followed = "  there are more ways through it than are followed\n";

std::string part_text(const Schedule& schedule, const SchedulePart& part, const std::string& path,
    const PathName& name, std::size_t lines) {
  std::string text = part_title(part) + "\n";
  if (!part.nodes.empty()) text += table(schedule, path, name, part.nodes, lines);
  if (!part.complete) text += not_followed;
  return text;
}

// The calls under one call of a function, in what is around them.
class Selection {
public:
  Selection(const std::string& path, std::uint32_t offset) : path_(path), offset_(offset) {}

  std::vector<ScheduleNode> of(const std::vector<ScheduleNode>& nodes) {
    std::vector<ScheduleNode> made;
    for (const ScheduleNode& node : nodes) {
      ScheduleNode copy = node;
      copy.body = of(node.body);
      if (node.calls.empty() ? !copy.body.empty()
                             : std::any_of(node.calls.begin(), node.calls.end(),
                                   [&](const Communication& call) { return within(call); }))
        made.push_back(std::move(copy));
    }
    return made;
  }

private:
  // Is it under the function, by the same calls as the first that was?
  bool within(const Communication& call) {
    for (std::size_t i = 0; i < call.callers.size(); ++i) {
      const Spot& definition = call.callers[i].definition;
      if (definition.path != path_ || offset_ < definition.span.begin || offset_ > definition.span.end)
        continue;
      const std::vector<snapshot::Caller> outer(
          call.callers.begin() + static_cast<std::ptrdiff_t>(i), call.callers.end());
      if (outer_.empty()) outer_ = outer;
      return outer == outer_;
    }
    return false;
  }

  const std::string& path_;
  std::uint32_t offset_;
  std::vector<snapshot::Caller> outer_;
};

}  // namespace

std::string ranks_text(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return "rank " + std::to_string(ranks.front());
  // Three in a row and more as "1-3".
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; begin < ranks.size(); begin = end) {
    for (end = begin + 1; end < ranks.size() && ranks[end] == ranks[end - 1] + 1;) ++end;
    if (end - begin < 3) end = begin + 1;
    parts.push_back(
        std::to_string(ranks[begin]) + (end - begin > 1 ? "-" + std::to_string(ranks[end - 1]) : ""));
  }
  std::string text = "ranks ";
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

std::string schedule_text(
    const Schedule& schedule, const std::string& path, const PathName& name, std::vector<Fold>* folds) {
  const std::string file = name(path) +
      (schedule.launch.empty() ? "" : ", as launched by " + schedule.launch);
  if (schedule.parts.empty()) return file + ": no communication\n";
  const auto lines = [](const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  std::string text;
  for (const SchedulePart& part : schedule.parts) {
    if (!text.empty()) text += "\n";
    const std::size_t title = lines(text);
    text += file + ", " + std::to_string(schedule.world) + (schedule.world == 1 ? " rank" : " ranks") + ", " +
        part_text(schedule, part, path, name, no_limit);
    if (!folds) continue;
    folds->push_back({title, lines(text) - 1});
    Table table(schedule.world, path, name);
    table.add(part.nodes, 0);
    table.folds(title + 1, *folds);
  }
  return text;
}

std::string schedule_of_function(const Schedule& schedule, const std::string& path, std::uint32_t offset,
    const PathName& name, std::size_t lines) {
  for (const SchedulePart& part : schedule.parts) {
    const std::vector<ScheduleNode> nodes = Selection(path, offset).of(part.nodes);
    if (!nodes.empty()) return table(schedule, path, name, nodes, lines);
  }
  return {};
}

std::string schedule_of_job(const Schedule& schedule, const std::string& path, std::uint32_t line,
    const PathName& name, std::size_t lines) {
  const SchedulePart* chosen = nullptr;
  for (const SchedulePart& part : schedule.parts) {
    if (part.function.empty()) return part_text(schedule, part, path, name, lines);
    if (part.where.path == path && part.where.line <= line) chosen = &part;
  }
  return chosen ? part_text(schedule, *chosen, path, name, lines) : std::string();
}

std::string summary(const snapshot::FunctionCommunication& function, int world) {
  const auto count = [](int number, const char* what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  std::string text;
  if (function.collectives > 0) {
    text = count(function.collectives, "collective");
    if (function.partly.empty()) text += ", all ranks";
    for (const auto& partly : function.partly) {
      // In a small world two ranks stand for many: who is not among them is what is known.
      const bool without_first = std::find(partly.ranks.begin(), partly.ranks.end(), 0) == partly.ranks.end();
      text += ", " + std::to_string(partly.count) +
          (without_first && static_cast<int>(partly.ranks.size()) == world - 1
                  ? " not on rank 0"
                  : " only on " + ranks_text(partly.ranks));
    }
  }
  if (function.sends > 0) text += (text.empty() ? "" : "; ") + count(function.sends, "send");
  if (function.receives > 0)
    text += (text.empty() ? "" : function.sends > 0 ? ", " : "; ") + count(function.receives, "receive");
  return text;
}

}  // namespace stepzero::server
