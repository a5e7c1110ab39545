#include "server/features/schedule_picture.hpp"

#include <algorithm>

namespace stepzero::server {
namespace {

using snapshot::Communication;
using snapshot::ScheduleNode;
using Kind = ScheduleNode::Kind;
using What = Communication::What;

// What Mermaid reads as its own.
std::string plain(const std::string& text) {
  std::string made;
  for (const char c : text) {
    switch (c) {
    case ';': made += "#59;"; break;
    case '#': made += "#35;"; break;
    case '<': made += "#lt;"; break;
    case '>': made += "#gt;"; break;
    case '\n':
    case '\r': made += ' '; break;
    default: made += c;
    }
  }
  while (made.ends_with(':')) made.pop_back();
  return made;
}

class Diagram {
public:
  Diagram(const Drawn& drawn, const PathName& name) : drawn_(drawn), name_(name) {}

  std::string part(const snapshot::SchedulePart& part) {
    text_ = "sequenceDiagram\n";
    line("%% " + plain(name_(drawn_.path)) + ", " + plain(part_title(part)));
    for (int rank = 0; rank < drawn_.schedule->world; ++rank)
      line("participant r" + std::to_string(rank) + " as rank " + std::to_string(rank));
    add(part.nodes);
    if (!part.complete)
      over(0, drawn_.schedule->world - 1, "there are more ways through it than are followed");
    return std::move(text_);
  }

private:
  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }
  void over(int from, int to, const std::string& text) {
    line("Note over r" + std::to_string(from) + (to > from ? ",r" + std::to_string(to) : "") + ": " +
        plain(text));
  }
  void framed(const std::string& head, const std::vector<ScheduleNode>& body) {
    line(head);
    ++depth_;
    add(body);
    --depth_;
    line("end");
  }
  std::string place(const snapshot::Spot& spot) const {
    if (spot.line == 0) return {};
    return " (" + (spot.path == drawn_.path ? "line " : name_(spot.path) + ":") + std::to_string(spot.line) +
        ")";
  }

  // Ranks that do the same are told together.
  void notes(const std::vector<Communication>& calls, const std::string& before) {
    std::vector<std::pair<std::string, std::vector<int>>> told;
    for (const Communication& call : calls) {
      const std::string text = before + call_text(call) + place(call.where);
      if (const auto same = std::find_if(
              told.begin(), told.end(), [&](const auto& each) { return each.first == text; });
          same != told.end())
        same->second.push_back(call.rank);
      else
        told.push_back({text, {call.rank}});
    }
    for (const auto& [text, ranks] : told) {
      const bool row = ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size());
      over(ranks.front(), ranks.back(), (row ? "" : ranks_text(ranks) + ": ") + text);
    }
  }

  void step(const ScheduleNode& node) {
    std::vector<Communication> others;
    for (const Communication& call : node.calls) {
      if (call.what == What::send && call.peer) {
        const bool answered = std::any_of(
            node.calls.begin(), node.calls.end(), [&](const Communication& other) {
              return other.what == What::receive && other.rank == *call.peer && other.peer == call.rank;
            });
        line("r" + std::to_string(call.rank) + (answered ? "->>" : "-x") + "r" + std::to_string(*call.peer) +
            ": " +
            plain(call.name + (call.tensor.kind.empty() ? "" : " " + call.tensor.short_text()) +
                place(call.where)));
      } else if (call.what != What::receive ||
          std::none_of(node.calls.begin(), node.calls.end(), [&](const Communication& other) {
            return other.what == What::send && other.peer == call.rank && call.peer == other.rank;
          })) {
        others.push_back(call);
      }
    }
    notes(others, "");
    if (!node.text.empty()) over(node.calls.front().rank, node.calls.back().rank, "wrong: " + node.text);
  }

  void add(const std::vector<ScheduleNode>& nodes) {
    for (const ScheduleNode& node : nodes) {
      switch (node.kind) {
      case Kind::step: step(node); break;
      case Kind::loop:
      case Kind::iteration: framed("loop " + plain(block_text(node)), node.body); break;
      case Kind::choice:
      case Kind::handler: framed("opt " + plain(block_text(node)), node.body); break;
      case Kind::unreached:
        line("rect rgba(128, 128, 128, 0.15)");
        ++depth_;
        over(0, drawn_.schedule->world - 1, "never reached");
        add(node.body);
        --depth_;
        line("end");
        break;
      case Kind::hang:
      case Kind::unmatched:
        line("rect rgba(220, 40, 40, 0.25)");
        ++depth_;
        notes(node.calls, "waits in ");
        over(0, drawn_.schedule->world - 1,
            (node.kind == Kind::hang ? "HANGS: " : "not answered here: ") +
                standing_text(node, drawn_.path, name_));
        --depth_;
        line("end");
        break;
      }
    }
  }

  const Drawn& drawn_;
  const PathName& name_;
  std::size_t depth_ = 1;
  std::string text_;
};

}  // namespace

std::string schedule_mermaid(const Drawn& drawn, const PathName& name) {
  std::string all;
  for (const snapshot::SchedulePart& part : drawn.schedule->parts) {
    if (!all.empty()) all += "\n";
    all += Diagram(drawn, name).part(part);
  }
  return all;
}

}  // namespace stepzero::server
