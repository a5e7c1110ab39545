#include "rules/report.hpp"

#include "rules/cause.hpp"
#include "rules/root_index.hpp"
#include "rules/sentences.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using interpreter::Block;

namespace {
constexpr std::string_view happens_here = "it happens here";
constexpr std::size_t most_callers = 8;  // that are told of one cause, with its other evidence

// What many rules go through, found once for each record.
struct Problems {
  std::vector<std::pair<const ProblemEvent*, const interpreter::Root*>> all;
};
}  // namespace

const Location* cause_of(const Finding& finding) {
  const auto found = std::ranges::find(finding.related, happens_here, &Related::message);
  return found == finding.related.end() ? nullptr : &found->where;
}

Location Report::location(Place place) const { return {record_.chunk(place).path, record_.span(place)}; }

void Report::relate(Finding& finding, Place place, std::string message) const {
  if (!place) return;
  Related related{location(place), std::move(message)};
  const auto same = [&](const Related& other) {
    return other.where == related.where && other.message == related.message;
  };
  if (std::none_of(finding.related.begin(), finding.related.end(), same))
    finding.related.push_back(std::move(related));
}

void Report::relate_calls(Finding& finding, const CallSite* calls) const {
  int source_excerpt = 0;
  for (; calls && calls->outer && source_excerpt < 3; calls = calls->outer, ++source_excerpt)
    relate(finding, calls->place, std::string(calls->function->qualified) + " is called here");
}

Finding* Report::add(Severity severity, Place where, const CallSite* calls, std::string message) {
  message = as_sentences(std::move(message));
  const Place inner = where;
  const CallSite* root = calls;
  while (root && root->outer) root = root->outer;
  while (where && !record_.in_file(where) && calls) {
    where = calls->place;
    calls = calls->outer;
  }
  if (!record_.in_file(where)) return nullptr;
  // One cause in another file that many calls lead to is one finding, where the first of them stands.
  if (!(inner == where))
    for (Finding& told : findings_) {
      const bool same = told.message == message && told.severity == severity &&
          std::ranges::any_of(told.related, [&](const Related& place) {
            return place.message == happens_here && place.where == location(inner);
          });
      if (!same) continue;
      if (!(told.where == location(where)) && told.related.size() < most_callers)
        relate(told, where, "and by this call");
      return nullptr;
    }
  Finding finding;
  finding.rule = rule_.id;
  finding.severity = severity;
  finding.where = location(where);
  finding.message = std::move(message);
  if (root && root->function) finding.root = root->function->qualified;
  findings_.push_back(std::move(finding));
  if (!(inner == where)) relate(findings_.back(), inner, std::string(happens_here));
  return &findings_.back();
}

values::Value argument(const OperationEvent& event, std::string_view name) {
  for (std::size_t i = 0; i < event.row->parameters.size() && i < event.arguments.size(); ++i)
    if (event.row->parameters[i].text() == name) return event.arguments[i];
  return {};
}

values::Value argument(const OperationEvent& event, std::size_t index) {
  return index < event.arguments.size() ? event.arguments[index] : values::Value{};
}

void visit(const Block& block, const std::function<void(const Event&)>& each) {
  for (const Event* event : block.events) {
    each(*event);
    switch (event->kind) {
    case EventKind::branch:
      visit(static_cast<const BranchEvent*>(event)->yes, each);
      visit(static_cast<const BranchEvent*>(event)->no, each);
      break;
    case EventKind::loop:
      for (const Block& iteration : static_cast<const LoopEvent*>(event)->iterations) visit(iteration, each);
      break;
    case EventKind::call: visit(static_cast<const CallEvent*>(event)->body, each); break;
    case EventKind::attempt: {
      const auto* attempt = static_cast<const AttemptEvent*>(event);
      visit(attempt->body, each);
      for (const Block& handler : attempt->handlers) visit(handler, each);
      visit(attempt->orelse, each);
      visit(attempt->finally, each);
      break;
    }
    case EventKind::operation:
    case EventKind::problem:
    case EventKind::exit: break;
    }
  }
}

void visit_problems(
    const Record& record, const std::function<void(const ProblemEvent&, const interpreter::Root&)>& each) {
  auto& kept = record.derived[std::type_index(typeid(Problems))];
  if (!kept) {
    auto found = std::make_shared<Problems>();
    for (const auto* list : {&record.roots, &record.default_roots})
      for (const auto& root : *list)
        RootIndex::of(record, *root).of_kind(EventKind::problem, [&](const Event& event) {
          found->all.emplace_back(static_cast<const ProblemEvent*>(&event), root.get());
        });
    kept = std::move(found);
  }
  for (const auto& [problem, root] : static_cast<const Problems*>(kept.get())->all) each(*problem, *root);
}

void visit_roots(const Record& record, const std::function<void(const Event&)>& each) {
  for (const auto& root : record.roots)
    for (const Event* event : RootIndex::of(record, *root).all()) each(*event);
}

void visit_kind(const Record& record, EventKind kind, const std::function<void(const Event&)>& each) {
  for (const auto& root : record.roots) RootIndex::of(record, *root).of_kind(kind, each);
}

void visit_operations(const Record& record, const std::function<void(const OperationEvent&)>& each) {
  visit_kind(record, EventKind::operation,
      [&](const Event& event) { each(static_cast<const OperationEvent&>(event)); });
}

void visit_operations(
    const Record& record, const RowsAsked& is, const std::function<void(const OperationEvent&)>& each) {
  for (const auto& root : record.roots) RootIndex::of(record, *root).operations(is, each);
}

void visit_operations(const Record& record, const interpreter::Root& root, const RowsAsked& is,
    const std::function<void(const OperationEvent&)>& each) {
  RootIndex::of(record, root).operations(is, each);
}

bool any_operation(const Record& record, const interpreter::Root& root, const RowsAsked& is) {
  return RootIndex::of(record, root).any_row(is);
}

bool any_operation(const Record& record, const RowsAsked& is) {
  return std::ranges::any_of(
      record.roots, [&](const auto& root) { return any_operation(record, *root, is); });
}

}  // namespace stepzero::rules
