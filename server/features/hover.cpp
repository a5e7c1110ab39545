#include "server/features/hover.hpp"

#include "documents/document.hpp"
#include "server/features/footprint.hpp"
#include "server/features/schedule.hpp"
#include "server/workspace/paths.hpp"
#include "snapshot/documents.hpp"
#include "syntax/text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::server {
namespace {

class HoverText {
public:
  explicit HoverText(Markup markup) : markup_(markup) {}

  void paragraph() {
    if (!text_.empty()) text_ += "\n\n";
  }
  void line() { text_ += '\n'; }
  // Text of ours that may hold Markdown (a rule's page).
  void raw(std::string_view text) {
    for (const char c : text)
      if (markup_ == Markup::markdown || c != '`') text_ += c;
  }
  // Text that means itself.
  void literal(std::string_view text) {
    for (const char c : text) {
      if (markup_ == Markup::markdown && std::string_view("\\`*_{}[]<>#|~").find(c) != std::string_view::npos)
        text_ += '\\';
      text_ += c;
    }
  }
  void code(std::string_view text) {
    if (markup_ == Markup::plain) {
      text_ += text;
      return;
    }
    const bool ticks = text.find('`') != std::string_view::npos;
    text_ += ticks ? "`` " : "`";
    text_ += text;
    text_ += ticks ? " ``" : "`";
  }
  void bold(std::string_view text) {
    if (markup_ == Markup::markdown) text_ += "**";
    literal(text);
    if (markup_ == Markup::markdown) text_ += "**";
  }
  void link(std::string_view text, const std::string& target) {
    if (markup_ == Markup::plain || target.empty()) {
      literal(text);
      return;
    }
    text_ += '[';
    literal(text);
    text_ += "](" + target + ")";
  }

  void block(std::string_view text) {
    if (markup_ == Markup::markdown) text_ += "```text\n";
    text_ += text;
    if (!text_.ends_with('\n')) text_ += '\n';
    if (markup_ == Markup::markdown) text_ += "```";
  }

  std::string take() { return std::move(text_); }

private:
  Markup markup_;
  std::string text_;
};

bool contains(syntax::Span span, std::uint32_t offset) { return span.begin <= offset && offset <= span.end; }

// The smallest fact around the offset; of equal ones that with a name.
const snapshot::Fact* innermost(const std::vector<snapshot::Fact>& facts, std::uint32_t offset) {
  const snapshot::Fact* best = nullptr;
  for (const snapshot::Fact& fact : facts) {
    if (fact.span.begin > offset) break;
    if (!contains(fact.span, offset)) continue;
    const auto size = fact.span.end - fact.span.begin;
    const auto best_size = best ? best->span.end - best->span.begin : 0;
    if (!best || size < best_size || (size == best_size && best->name.empty() && !fact.name.empty()))
      best = &fact;
  }
  return best;
}

// Of a rule without a fix: what its page advises beside the reason why there is none.
std::string_view advice_of(const rules::Rule& rule) {
  const std::string_view text = rule.fix;
  const std::size_t end = rule.fix_kind == rules::FixKind::none ? text.find(". ") : std::string_view::npos;
  return end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
}

void write_rule(HoverText& out, const rules::Finding& finding, bool pages) {
  const rules::Rule* rule = rules::find_rule(finding.rule);
  if (!rule) return;
  out.paragraph();
  out.bold(finding.rule);
  out.literal(": ");
  out.raw(rule->summary);
  if (const std::string_view advice = advice_of(*rule); !advice.empty()) {
    out.paragraph();
    out.raw(advice);
  }
  if (pages) return;
  out.paragraph();
  out.raw(rule->why);
}

void write_fact(HoverText& out, const Analysis& analysis, const snapshot::Fact& fact, const Link& link) {
  out.paragraph();
  out.code((fact.name.empty() ? "" : fact.name + ": ") + fact.value.short_text());
  if (!fact.value.device.empty()) {
    out.literal(" on ");
    out.code(fact.value.device);
  }
  static const std::vector<rules::Related> none;
  for (const rules::Related& origin : fact.origins ? *fact.origins : none) {
    out.line();
    out.raw("- ");
    out.literal(origin.message);
    const syntax::Text* text = analysis.text_of(origin.where.path);
    if (!text) continue;
    const std::uint32_t line = text->position(origin.where.span.begin, syntax::Encoding::utf8).line + 1;
    out.literal(" (");
    const Cells::Cell* cell =
        analysis.cells && origin.where.path == analysis.path ? analysis.cells->at_line(line - 1) : nullptr;
    if (cell)
      out.literal(
          "cell " + std::to_string(cell->number) + ", line " + std::to_string(line - cell->first_line));
    else
      out.link(
          std::string(file_name(origin.where.path)) + ":" + std::to_string(line), link(origin.where, line));
    out.literal(")");
  }
}

constexpr std::size_t most_schedule_lines = 24;
constexpr std::string_view makes_the_job = "init_process_group";

// The name around the offset.
syntax::Span name_at(const syntax::Text& text, std::uint32_t offset) {
  const std::string& bytes = text.bytes();
  std::uint32_t begin = std::min(offset, text.size()), end = begin;
  while (begin > 0 && syntax::is_name_byte(static_cast<unsigned char>(bytes[begin - 1]))) --begin;
  while (end < bytes.size() && syntax::is_name_byte(static_cast<unsigned char>(bytes[end]))) ++end;
  return {begin, end};
}

// Where the function is defined whose name, or whose call, is at the offset.
const snapshot::Spot* function_at(
    const std::vector<snapshot::ScheduleNode>& nodes, const Analysis& analysis, syntax::Span name) {
  for (const snapshot::ScheduleNode& node : nodes) {
    for (const snapshot::Communication& call : node.calls)
      for (const snapshot::Caller& caller : call.callers) {
        if (caller.definition.path == analysis.path && caller.definition.span == name)
          return &caller.definition;
        if (caller.call.line == 0 || caller.call.path != analysis.path ||
            !contains(caller.call.span, name.begin))
          continue;
        // The last name in front of the arguments.
        const std::string_view text = analysis.module->text->slice(caller.call.span);
        if (caller.call.span.begin + text.find('(') == name.end) return &caller.definition;
      }
    if (const snapshot::Spot* found = function_at(node.body, analysis, name)) return found;
  }
  return nullptr;
}

// What the ranks do in the function at the offset, or in the job that begins there.
std::optional<syntax::Span> write_schedule(HoverText& out, const Analysis& analysis, std::uint32_t offset) {
  if (!analysis.result.schedule || !analysis.module || analysis.result.schedule->parts.empty())
    return std::nullopt;
  const snapshot::Schedule& schedule = *analysis.result.schedule;
  const syntax::Text& text = *analysis.module->text;
  const syntax::Span name = name_at(text, offset);
  if (name.begin == name.end) return std::nullopt;
  const PathName names = [](const std::string& path) { return std::string(file_name(path)); };
  std::string displayed;
  if (text.slice(name) == makes_the_job) {
    const std::uint32_t line = text.position(offset, syntax::Encoding::utf8).line + 1;
    displayed = schedule_of_job(schedule, analysis.path, line, names, most_schedule_lines);
  } else {
    const snapshot::Spot* definition = nullptr;
    for (const snapshot::SchedulePart& part : schedule.parts)
      if (!definition) definition = function_at(part.nodes, analysis, name);
    if (!definition) return std::nullopt;
    for (const snapshot::FunctionCommunication& function : schedule.functions)
      if (function.definition == *definition)
        displayed = summary(function, schedule.world) + " (" + std::to_string(schedule.world) + " ranks)\n";
    displayed += schedule_of_function(
        schedule, definition->path, definition->span.begin, names, most_schedule_lines);
  }
  if (displayed.empty()) return std::nullopt;
  out.paragraph();
  out.block(displayed);
  return name;
}

// Of the name that something is assigned to, `self.head` in `self.head = nn.Linear(…)`: where that begins.
std::optional<std::uint32_t> assigned_to(const syntax::Text& text, syntax::Span name) {
  const std::string& bytes = text.bytes();
  const auto after = [&](std::size_t from) {
    return std::min(bytes.find_first_not_of(" \t", from), bytes.size());
  };
  const std::size_t equals = after(name.end), value = after(equals + 1);
  if (name.begin == name.end || value >= bytes.size() || bytes[equals] != '=' || bytes[equals + 1] == '=')
    return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

// What memory the place stands for.
std::optional<syntax::Span> write_footprint(HoverText& out, const Analysis& analysis, std::uint32_t offset) {
  if (!analysis.result.footprint) return std::nullopt;
  std::optional<syntax::Span> span;
  auto notes = notes_at(*analysis.result.footprint, analysis.path, offset);
  if (notes.empty() && analysis.module) {
    const syntax::Span name = name_at(*analysis.module->text, offset);
    if (const auto value = assigned_to(*analysis.module->text, name)) {
      notes = notes_at(*analysis.result.footprint, analysis.path, *value);
      for (FootprintNote& note : notes) note.span = name;
    }
  }
  for (const FootprintNote& note : notes) {
    out.paragraph();
    out.literal(note.lines.front());
    for (std::size_t i = 1; i < note.lines.size(); ++i) {
      out.line();
      out.raw("- ");
      out.literal(note.lines[i]);
    }
    if (!span) span = note.span;
  }
  return span;
}

}  // namespace

std::string assigned(const Analysis& analysis, std::uint32_t end, Markup markup, const Link& link) {
  HoverText out(markup);
  for (const snapshot::Fact& fact : analysis.result.facts) {
    if (!fact.is_assignment || fact.span.end != end) continue;
    write_fact(out, analysis, fact, link);
    break;
  }
  return out.take();
}

std::optional<Hover> hover(
    const Analysis& analysis, std::uint32_t offset, Markup markup, const Link& link, bool pages) {
  HoverText out(markup);
  std::optional<syntax::Span> span;
  std::set<std::string_view> said;
  for (const rules::Finding& finding : analysis.result.findings) {
    if (!contains(finding.where.span, offset) || !said.insert(finding.rule).second) continue;
    write_rule(out, finding, pages);
    if (!span) span = finding.where.span;
  }
  if (const snapshot::Fact* fact = innermost(analysis.result.facts, offset)) {
    write_fact(out, analysis, *fact, link);
    span = fact->span;
  }
  if (const auto memory = write_footprint(out, analysis, offset); memory && !span) span = memory;
  if (const auto name = write_schedule(out, analysis, offset); name && !span) span = name;
  for (const snapshot::KeyHover& word : analysis.result.words) {
    if (!contains(word.span, offset)) continue;
    out.paragraph();
    out.raw(word.markdown);
    if (!span) span = word.span;
    break;
  }
  if (analysis.module &&
      documents::language_of(analysis.path, analysis.module->text->bytes()) != documents::Language::none)
    if (const auto key = snapshot::hover_key(
            analysis.path, *analysis.module, offset, analysis.result.named_as)) {
      out.paragraph();
      out.raw(key->markdown);
      if (!span) span = key->span;
    }
  std::string text = out.take();
  if (text.empty()) return std::nullopt;
  return Hover{*span, std::move(text)};
}

}  // namespace stepzero::server
