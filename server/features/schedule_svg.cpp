#include "server/features/schedule_picture.hpp"

#include <algorithm>
#include <cstdlib>

namespace stepzero::server {
namespace {

using snapshot::Communication;
using snapshot::ScheduleNode;
using Kind = ScheduleNode::Kind;
using What = Communication::What;

constexpr int gutter = 300, row_height = 34, head_height = 58, margin = 16;

constexpr const char* style = R"(
  svg { --page: #ffffff; --ink: #1d232b; --soft: #586271; --line: #d9dde3; --bar: #2f6fb5; --bad: #b3161b; --bad-back: #fde8e8; --send: #6b3fa0; --wait: #6a7484; background: var(--page); }
  @media (prefers-color-scheme: dark) { svg { --page: #14171b; --ink: #e4e7ec; --soft: #a0a9b6; --line: #343b45; --bar: #3d7fc9; --bad: #c94347; --bad-back: #3d1d1f; --send: #b995ee; --wait: #7a8494; } }
  text { font: 12px system-ui, sans-serif; fill: var(--ink); }
  .title { font-size: 14px; font-weight: 600; } .soft { fill: var(--soft); } .on { fill: #fff; font-weight: 600; text-anchor: middle; } .mid { text-anchor: middle; }
  .lane { stroke: var(--line); stroke-width: 2; } .bar { fill: var(--bar); } .link { stroke: var(--bar); stroke-width: 3; } .bar.bad { fill: var(--bad); } .link.bad { stroke: var(--bad); } .bar.wait { fill: var(--wait); }
  .back { fill: var(--bad-back); } .alarm { fill: var(--bad); font-weight: 600; } .send { stroke: var(--send); stroke-width: 2; } .tip { fill: var(--send); } .gone { opacity: .5; }
)";

std::string escaped(const std::string& text) {
  std::string made;
  for (const char c : text) {
    switch (c) {
    case '<': made += "&lt;"; break;
    case '>': made += "&gt;"; break;
    case '&': made += "&amp;"; break;
    case '"': made += "&quot;"; break;
    default:
      // XML has no control characters.
      if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') made += c;
    }
  }
  return made;
}

// At most so many characters.
std::string fitting(const std::string& text, int room) {
  if (room <= 1) return {};
  int seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (++seen == room && text.size() - i > 1) return text.substr(0, i) + "…";
  }
  return text;
}

class Lanes {
public:
  Lanes(const Drawn& drawn, const PathName& name, int lane) : drawn_(drawn), name_(name), lane_(lane) {}

  std::string part(const snapshot::SchedulePart& part, int top) {
    top_ = top;
    y_ = top + head_height;
    add(part.nodes, 0);
    std::string head = text(margin, top + 18, "title",
        name_(drawn_.path) + ", " + std::to_string(drawn_.schedule->world) +
            (drawn_.schedule->world == 1 ? " rank, " : " ranks, ") + part_title(part));
    for (int rank = 0; rank < drawn_.schedule->world; ++rank) {
      head += text(center(rank), top + head_height - 12, "mid", "rank " + std::to_string(rank));
      head += "<line class=\"lane\" x1=\"" + n(center(rank)) + "\" x2=\"" + n(center(rank)) + "\" y1=\"" +
          n(top + head_height) + "\" y2=\"" + n(y_) + "\"/>\n";
    }
    if (!part.complete) {
      out_ += text(margin, y_ + 20, "soft", "there are more ways through it than are followed");
      y_ += row_height;
    }
    return head + out_;
  }
  int bottom() const { return y_; }

private:
  static std::string n(int number) { return std::to_string(number); }
  int center(int rank) const { return gutter + rank * lane_ + lane_ / 2; }
  static std::string text(int x, int y, const char* kind, const std::string& content) {
    return "<text class=\"" + std::string(kind) + "\" x=\"" + n(x) + "\" y=\"" + n(y) + "\">" +
        escaped(content) + "</text>\n";
  }
  std::string spot(const snapshot::Spot& where) const {
    return (where.path == drawn_.path ? "line " : name_(where.path) + ":") + std::to_string(where.line);
  }

  void begin(const std::string& title) {
    out_ += "<g" + std::string(gone_ > 0 ? " class=\"gone\"" : "") + "><title>" + escaped(title) +
        "</title>\n";
  }
  void end() {
    out_ += "</g>\n";
    y_ += row_height;
  }
  void label(int depth, const char* kind, const std::string& content, const snapshot::Spot& where,
      bool across = false) {
    const int x = 64 + depth * 14;
    if (where.line != 0)
      out_ += "<text class=\"soft\" text-anchor=\"end\" x=\"52\" y=\"" + n(y_ + 21) + "\">" +
          std::to_string(where.line) + "</text>\n";
    out_ += text(x, y_ + 21, kind, fitting(content, across ? 200 : (gutter - x - 6) / 7));
  }

  // Over the lanes of those ranks; thin over others in between.
  void bar(const std::vector<int>& ranks, const std::string& kind, const std::string& content) {
    if (ranks.size() > 1)
      out_ += "<line class=\"link " + kind + "\" x1=\"" + n(center(ranks.front())) + "\" x2=\"" +
          n(center(ranks.back())) + "\" y1=\"" + n(y_ + row_height / 2) + "\" y2=\"" +
          n(y_ + row_height / 2) + "\"/>\n";
    int widest = 0, at = 0;
    std::size_t from = 0;
    for (std::size_t i = 1; i <= ranks.size(); ++i) {
      if (i < ranks.size() && ranks[i] == ranks[i - 1] + 1) continue;
      const int width = lane_ * static_cast<int>(i - from) - 14, x = gutter + lane_ * ranks[from] + 7;
      out_ += "<rect class=\"bar " + kind + "\" x=\"" + n(x) + "\" y=\"" + n(y_ + 5) + "\" width=\"" +
          n(width) + "\" height=\"" + n(row_height - 10) + "\" rx=\"5\"/>\n";
      if (width > widest) {
        widest = width;
        at = x;
      }
      from = i;
    }
    out_ += text(at + widest / 2, y_ + 21, "on", fitting(content, (widest - 8) / 7));
  }

  void arrow(int from, int to, const Communication& call, bool answered) {
    const int a = center(from), b = center(to), side = b > a ? 1 : -1, y = y_ + 22;
    out_ += "<line class=\"send\" x1=\"" + n(a) + "\" x2=\"" + n(b - side * 8) + "\" y1=\"" + n(y) +
        "\" y2=\"" + n(y) + "\"" + (answered ? "" : " stroke-dasharray=\"5 4\"") + "/>\n";
    out_ += "<path class=\"tip\" d=\"M" + n(b) + " " + n(y) + "l" + n(-side * 10) +
        " -5v10z\"/>\n<circle class=\"tip\" cx=\"" + n(a) + "\" cy=\"" + n(y) + "\" r=\"3.5\"/>\n";
    out_ += text((a + b) / 2, y_ + 14, "mid",
        fitting(call.tensor.kind.empty() ? call.name : call.tensor.short_text(), std::abs(b - a) / 7));
  }

  struct Together {
    std::string text;
    const Communication* first = nullptr;
    std::vector<int> ranks;
  };
  std::vector<Together> together(const std::vector<Communication>& calls) const {
    std::vector<Together> made;
    for (const Communication& call : calls) {
      const std::string content = call_text(call) + spot(call.where);
      if (const auto same = std::find_if(
              made.begin(), made.end(), [&](const Together& each) { return each.text == content; });
          same != made.end())
        same->ranks.push_back(call.rank);
      else
        made.push_back({content, &call, {call.rank}});
    }
    return made;
  }

  void step(const ScheduleNode& node, int depth) {
    std::string title, names;
    const std::vector<Together> all = together(node.calls);
    for (const Together& each : all) {
      title += (title.empty() ? "" : "; ") + ranks_text(each.ranks) + ": " + call_text(*each.first) + ", " +
          spot(each.first->where);
      for (const snapshot::Caller& caller : each.first->callers)
        title += ", in " + caller.function + (caller.call.line != 0 ? " called at " + spot(caller.call) : "");
      if (names.find(each.first->name) == std::string::npos)
        names += (names.empty() ? "" : " | ") + each.first->name;
    }
    begin(title);
    label(depth, node.text.empty() ? "" : "alarm", node.text.empty() ? names : node.text,
        node.calls.front().where);
    for (const Together& each : all)
      if (each.first->what == What::collective)
        bar(each.ranks, node.text.empty() ? "" : "bad", call_text(*each.first));
      else if (each.first->what == What::wait)
        bar(each.ranks, "wait", each.first->name);
    const auto meets = [&](const Communication& call, What other) {
      return std::any_of(node.calls.begin(), node.calls.end(), [&](const Communication& each) {
        return each.what == other && call.peer == each.rank && each.peer == call.rank;
      });
    };
    for (const Communication& call : node.calls) {
      if (!call.peer || *call.peer < 0 || *call.peer >= drawn_.schedule->world) continue;
      if (call.what == What::send) arrow(call.rank, *call.peer, call, meets(call, What::receive));
      if (call.what == What::receive && !meets(call, What::send)) arrow(*call.peer, call.rank, call, false);
    }
    end();
  }

  void stuck(const ScheduleNode& node, int depth) {
    const std::string standing = standing_text(node, drawn_.path, name_);
    begin(standing);
    out_ += "<rect class=\"back\" x=\"" + n(margin) + "\" y=\"" + n(y_) + "\" width=\"" +
        n(gutter - margin + lane_ * drawn_.schedule->world) + "\" height=\"" + n(2 * row_height) +
        "\" rx=\"4\"/>\n";
    label(depth, "alarm",
        node.kind == Kind::hang ? (node.holds ? "hangs here" : "hangs unless messages are buffered")
                                : "not answered here",
        node.calls.empty() ? snapshot::Spot{} : node.calls.front().where);
    for (const Together& each : together(node.calls)) bar(each.ranks, "bad", "waits in " + each.first->name);
    for (const int rank : node.ended) out_ += text(center(rank), y_ + 21, "mid", "ended");
    y_ += row_height;
    out_ += text(64 + depth * 14, y_ + 18, "alarm", standing);
    end();
  }

  void add(const std::vector<ScheduleNode>& nodes, int depth) {
    for (const ScheduleNode& node : nodes) {
      if (node.kind == Kind::step) {
        step(node, depth);
      } else if (node.kind == Kind::hang || node.kind == Kind::unmatched) {
        stuck(node, depth);
      } else {
        gone_ += node.kind == Kind::unreached ? 1 : 0;
        begin(block_text(node));
        label(depth, "soft", block_text(node),
            node.kind == Kind::iteration || node.kind == Kind::unreached ? snapshot::Spot{} : node.where,
            true);
        end();
        const int first = y_;
        add(node.body, depth + 1);
        out_ += "<line class=\"lane\" x1=\"" + n(58 + depth * 14) + "\" x2=\"" + n(58 + depth * 14) +
            "\" y1=\"" + n(first) + "\" y2=\"" + n(y_ - 4) + "\"/>\n";
        gone_ -= node.kind == Kind::unreached ? 1 : 0;
      }
    }
  }

  const Drawn& drawn_;
  const PathName& name_;
  const int lane_;
  int top_ = 0, y_ = 0, gone_ = 0;
  std::string out_;
};

}  // namespace

std::string schedule_svg(const std::vector<Drawn>& drawn, const PathName& name) {
  int world = 1;
  for (const Drawn& each : drawn) world = std::max(world, each.schedule->world);
  const int lane = world <= 4 ? 190 : world <= 8 ? 130 : 100;
  std::string body;
  int y = margin;
  for (const Drawn& each : drawn)
    for (const snapshot::SchedulePart& part : each.schedule->parts) {
      Lanes lanes(each, name, lane);
      body += lanes.part(part, y);
      y = lanes.bottom() + 2 * margin;
    }
  if (body.empty()) {
    body = "<text x=\"16\" y=\"36\">no communication</text>\n";
    y = 64;
  }
  const std::string size = " width=\"" + std::to_string(gutter + world * lane + margin) + "\" height=\"" +
      std::to_string(y) + "\"";
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + size +
      " role=\"img\" aria-label=\"Communication schedule\">\n<style>" + style + "</style>\n" + body +
      "</svg>\n";
}

}  // namespace stepzero::server
