#include "server/features/symbols.hpp"

#include "server/features/schedule.hpp"
#include "server/workspace/paths.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>

namespace stepzero::server {
namespace {

using snapshot::Communication;
using snapshot::ScheduleNode;

// The definitions of a file, outer ones before inner ones, with absolute spans.
struct Definition {
  bool is_class = false;
  std::string name;
  syntax::Span whole, place;
  std::vector<syntax::Span> selves;     // class: the first parameters of its methods
  std::optional<syntax::Span> forward;  // … of that which a module is called by
  std::vector<std::string> bases;
};

class Definitions {
public:
  explicit Definitions(const syntax::Module& module) : text_(module.text->bytes()) {
    for (const syntax::Item& item : module.items) {
      if (!item.chunk || !item.chunk->stmt) continue;
      offset_ = item.offset;
      one(*item.chunk->stmt, nullptr);
    }
  }
  std::vector<Definition> take() { return std::move(made_); }

private:
  syntax::Span absolute(syntax::Span span) const { return {span.begin + offset_, span.end + offset_}; }
  std::string name(syntax::Span span) const { return text_.substr(span.begin, span.end - span.begin); }

  void block(syntax::Block body, Definition* owner) {
    for (const syntax::Stmt* each : body) one(*each, owner);
  }

  void one(const syntax::Stmt& stmt, Definition* owner) {
    using syntax::StmtKind;
    switch (stmt.kind) {
    case StmtKind::function: {
      const auto& function = syntax::as<syntax::FunctionStmt>(stmt);
      const syntax::Span place = absolute(function.name_span);
      if (owner && !function.parameters->list.empty()) {
        owner->selves.push_back(absolute(function.parameters->list.front().span));
        if (name(place) == "forward") owner->forward = owner->selves.back();
      }
      made_.push_back({false, name(place), absolute(stmt.span), place, {}, {}, {}});
      return block(function.body, nullptr);
    }
    case StmtKind::class_: {
      const auto& made = syntax::as<syntax::ClassStmt>(stmt);
      const syntax::Span place = absolute(made.name_span);
      const std::size_t at = made_.size();
      made_.push_back({true, name(place), absolute(stmt.span), place, {}, {}, {}});
      Definition inside;
      block(made.body, &inside);
      made_[at].selves = std::move(inside.selves);
      made_[at].forward = inside.forward;
      for (const syntax::Expr* base : made.bases)
        if (base->kind == syntax::ExprKind::name) made_[at].bases.push_back(name(absolute(base->span)));
      return;
    }
    case StmtKind::if_:
      block(syntax::as<syntax::IfStmt>(stmt).body, owner);
      return block(syntax::as<syntax::IfStmt>(stmt).orelse, owner);
    case StmtKind::for_: return block(syntax::as<syntax::ForStmt>(stmt).body, owner);
    case StmtKind::while_: return block(syntax::as<syntax::WhileStmt>(stmt).body, owner);
    case StmtKind::with: return block(syntax::as<syntax::WithStmt>(stmt).body, owner);
    case StmtKind::try_: {
      const auto& tried = syntax::as<syntax::TryStmt>(stmt);
      block(tried.body, owner);
      for (const syntax::ExceptHandler& handler : tried.handlers) block(handler.body, owner);
      return block(tried.orelse, owner);
    }
    case StmtKind::error: return block(syntax::as<syntax::ErrorStmt>(stmt).parts, owner);
    default: return;
    }
  }

  const std::string& text_;
  std::uint32_t offset_ = 0;
  std::vector<Definition> made_;
};

bool is_object(syntax::Span self, const std::vector<snapshot::Fact>& facts) {
  const auto at = std::lower_bound(facts.begin(), facts.end(), self.begin,
      [](const snapshot::Fact& fact, std::uint32_t begin) { return fact.span.begin < begin; });
  return std::any_of(at, facts.end(),
      [&](const snapshot::Fact& fact) { return fact.span == self && fact.value.kind == "module"; });
}

// A class is a model if its objects are called by `forward`, or if it is made from one of this file.
bool is_model(
    const Definition& made, const std::set<std::string>& models, const std::vector<snapshot::Fact>& facts) {
  if (!made.is_class) return false;
  if (made.forward && is_object(*made.forward, facts)) return true;
  return std::any_of(made.bases.begin(), made.bases.end(),
             [&](const std::string& base) { return models.contains(base); }) &&
      std::any_of(
          made.selves.begin(), made.selves.end(), [&](syntax::Span self) { return is_object(self, facts); });
}

// What is assigned to an attribute in the class, each name once.
std::vector<Symbol> layers(const Definition& model, const std::vector<snapshot::Fact>& facts) {
  std::vector<Symbol> made;
  std::set<std::string> said;
  for (const snapshot::Fact& fact : facts) {
    const std::size_t dot = fact.name.rfind('.');
    if (!fact.is_assignment || fact.value.kind != "module" || dot == std::string::npos ||
        !model.whole.holds(fact.span))
      continue;
    std::string name = fact.name.substr(dot + 1);
    if (!said.insert(name).second) continue;
    const syntax::Span place{fact.span.end - static_cast<std::uint32_t>(name.size()), fact.span.end};
    made.push_back({Symbol::Kind::layer, std::move(name), fact.value.short_text(), fact.span, place, {}});
  }
  return made;
}

struct Call {
  const Communication* first = nullptr;
  std::set<int> ranks;
};

// What the file itself sends and receives, by where it stands.
void collect(
    const std::vector<ScheduleNode>& nodes, const std::string& path, std::map<std::uint32_t, Call>& calls) {
  for (const ScheduleNode& node : nodes) {
    for (const Communication& each : node.calls) {
      if (each.where.path != path || each.where.line == 0) continue;
      Call& call = calls[each.where.span.begin];
      if (!call.first) call.first = &each;
      call.ranks.insert(each.rank);
    }
    collect(node.body, path, calls);
  }
}

Symbol symbol_of(const Call& call, int world) {
  std::string detail = call.first->tensor.kind.empty() ? std::string() : call.first->tensor.short_text();
  if (static_cast<int>(call.ranks.size()) < world)
    detail += (detail.empty() ? "only " : ", only ") +
        ranks_text(std::vector<int>(call.ranks.begin(), call.ranks.end()));
  const syntax::Span span = call.first->where.span;
  return {Symbol::Kind::communication, call.first->name, std::move(detail), span, span, {}};
}

// The statement of the file from which the job comes to its first communication; nothing if it is all
// elsewhere.
std::optional<syntax::Span> start_of(const std::vector<ScheduleNode>& nodes, const Analysis& analysis) {
  for (const ScheduleNode& node : nodes) {
    for (const Communication& call : node.calls) {
      std::optional<snapshot::Spot> outermost;
      if (call.where.path == analysis.path && call.where.line > 0) outermost = call.where;
      for (const snapshot::Caller& caller : call.callers)
        if (caller.call.path == analysis.path && caller.call.line > 0) outermost = caller.call;
      if (outermost) return outermost->span;
    }
    if (const auto found = start_of(node.body, analysis)) return found;
  }
  return std::nullopt;
}

// Puts each symbol below the innermost one around it.
std::vector<Symbol> nested(std::vector<Symbol> flat) {
  std::stable_sort(flat.begin(), flat.end(), [](const Symbol& a, const Symbol& b) {
    return a.whole.begin != b.whole.begin ? a.whole.begin < b.whole.begin : a.whole.end > b.whole.end;
  });
  std::vector<Symbol> made;
  std::function<void(std::vector<Symbol>&, Symbol)> put = [&](std::vector<Symbol>& into, Symbol symbol) {
    if (!into.empty() && into.back().whole.holds(symbol.whole) && !(into.back().whole == symbol.whole))
      put(into.back().children, std::move(symbol));
    else
      into.push_back(std::move(symbol));
  };
  for (Symbol& symbol : flat) put(made, std::move(symbol));
  return made;
}

}  // namespace

std::vector<Symbol> symbols(const Analysis& analysis) {
  if (!analysis.module) return {};
  std::vector<Symbol> flat;
  std::map<std::uint32_t, const snapshot::FunctionCommunication*> functions;  // by where their name begins
  std::map<std::uint32_t, Call> calls;
  if (const auto& schedule = analysis.result.schedule) {
    for (const snapshot::FunctionCommunication& function : schedule->functions)
      functions[function.definition.span.begin] = &function;
    for (const snapshot::SchedulePart& part : schedule->parts) {
      collect(part.nodes, analysis.path, calls);
      const auto start = start_of(part.nodes, analysis);
      if (!part.function.empty() || !start) continue;
      flat.push_back({Symbol::Kind::job, std::string(file_name(analysis.path)) + " as it runs",
          std::to_string(schedule->world) + " ranks" + (part.hangs ? ", hangs" : ""), *start, *start, {}});
    }
  }
  std::set<std::string> models;
  for (const Definition& each : Definitions(*analysis.module).take()) {
    if (is_model(each, models, analysis.result.facts) && models.insert(each.name).second)
      flat.push_back({Symbol::Kind::model, each.name, "model", each.whole, each.place,
          layers(each, analysis.result.facts)});
    else if (const auto found = functions.find(each.place.begin); !each.is_class && found != functions.end())
      flat.push_back({Symbol::Kind::function, each.name,
          summary(*found->second, analysis.result.schedule->world), each.whole, each.place, {}});
  }
  for (const auto& [begin, call] : calls) flat.push_back(symbol_of(call, analysis.result.schedule->world));
  return nested(std::move(flat));
}

bool matches(const std::string& name, const std::string& query) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::size_t at = 0;
  for (const char wanted : query) {
    while (at < name.size() && lower(name[at]) != lower(wanted)) ++at;
    if (at++ == name.size()) return false;
  }
  return true;
}

}  // namespace stepzero::server
