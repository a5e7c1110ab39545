#include "server/features/schedule.hpp"

#include "footprint/text.hpp"
#include "server/features/schedule_table.hpp"

#include <algorithm>

namespace stepzero::server {

using snapshot::Communication;
using snapshot::Schedule;
using snapshot::ScheduleNode;
using snapshot::SchedulePart;
using snapshot::Spot;
using Kind = ScheduleNode::Kind;

namespace {

constexpr std::int64_t fewest_bytes = 1024;  // that are worth telling

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
        (!node.times ? "each iteration"
                     : (node.fewer ? "up to " : "") + std::to_string(*node.times) +
                    (*node.times == 1 ? " iteration" : " iterations") + (told ? "" : " alike")) +
        ")";
  }
  case Kind::iteration:
    return (node.last > *node.times
                   ? "iterations " + std::to_string(*node.times) + "-" + std::to_string(node.last)
                   : "iteration " + std::to_string(*node.times)) +
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

constexpr std::size_t no_limit = static_cast<std::size_t>(-1) / 2;

std::string table(const Schedule& schedule, const std::string& path, const PathName& name,
    const std::vector<ScheduleNode>& nodes, std::size_t lines) {
  ScheduleTable made(schedule.world, path, name);
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
    ScheduleTable table(schedule.world, path, name);
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
