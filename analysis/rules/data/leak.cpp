// data/leak: what is evaluated on has been seen in training.
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::rules::data::leak {

using namespace interpreter;
using namespace syntax;
using values::Kind;
using values::Operation;

namespace {

struct Found {
  std::vector<const OperationEvent*> fitted, splits, loaders, windows;
  std::vector<std::pair<const OperationEvent*, std::size_t>> order;
  std::size_t at(const OperationEvent* event) const {
    for (const auto& [each, position] : order)
      if (each == event) return position;
    return 0;
  }
};

bool same(Value a, Value b) { return a && b && a.object() && a.kind == b.kind && a == b; }

// ---------------------------------------------------------------- learned from what is evaluated on

// The part after a border, of samples of which another part is what stands before it, if the program calls
// it one to evaluate on.
const Fact* evaluated_rest(const Record& record, Value samples) {
  if (!samples.is(Kind::unknown)) return nullptr;
  const auto& items = samples.as<values::Unknown>()->items;
  const auto border = [&](const std::pair<Value, Value>& item, bool after) -> Value {
    if (!item.first.is(Kind::slice)) return {};
    const auto& slice = *item.first.as<values::SliceObject>();
    const auto none = [](Value value) { return !value || value.is(Kind::none); };
    if (!none(slice.step) || !none(after ? slice.upper : slice.lower)) return {};
    return none(after ? slice.lower : slice.upper) ? Value{} : after ? slice.lower : slice.upper;
  };
  for (const auto& rest : items) {
    const Value begin = border(rest, true);
    if (!begin || std::none_of(items.begin(), items.end(), [&](const auto& other) {
          return border(other, false) == begin;
        }))
      continue;
    for (const Fact& fact : record.facts)
      if (fact.role == Fact::Role::assignment && same(fact.value, rest.second) &&
          says(record.text(fact.place), Says::evaluation_data))
        return &fact;
  }
  return nullptr;
}

void look_at_fit(
    const Record& record, Report& report, const Found& found, const OperationEvent& fit, Once& once) {
  const Value data = argument(fit, 0);
  for (const OperationEvent* split : found.splits) {
    if (found.at(split) > found.at(&fit)) {
      const bool whole = std::any_of(split->arguments.begin(), split->arguments.end(),
          [&](const Value& part) { return same(part, fit.result) || same(part, data); });
      // fit() gives the estimator itself.
      if (!whole || !once(fit.place)) continue;
      Finding* finding = report.add(Severity::warning, fit.place, fit.calls,
          "This learns from all samples before the split takes the validation data from them: what is measured there has been seen. Split first, fit on the training part and only transform the other.");
      if (finding) report.relate(*finding, split->place, "split here");
      return;
    }
    if (!split->result.is(Kind::list)) continue;
    const auto& parts = values::Heap::list_state(split->result)->items;
    for (std::size_t i = 1; i < parts.size(); i += 2)
      if (same(parts[i], data) && once(fit.place)) {
        Finding* finding = report.add(Severity::warning, fit.place, fit.calls,
            "This learns from the held-out part of the split, so what is measured there has been seen. Fit on the training part and only transform this one.");
        if (finding) report.relate(*finding, split->place, "split here");
        return;
      }
  }
  for (const Value samples : {fit.result, data})
    if (const Fact* rest = evaluated_rest(record, samples); rest && once(fit.place)) {
      Finding* finding = report.add(Severity::warning, fit.place, fit.calls,
          "This learns from all samples, and " + values::code(record.text(rest->place)) +
              " is a part of them: what is measured there has been seen. Split first, fit on the training part and only transform the other.");
      if (finding) report.relate(*finding, rest->place, "taken from the same samples");
      return;
    }
  // Files that are learned from, by their names.
  std::vector<Value> files;
  if (data.is(Kind::list))
    files = values::Heap::list_state(data)->items;
  else if (data.is(Kind::tuple))
    files = data.as<values::Tuple>()->items;
  Value training, evaluation;
  for (const Value& file : files) {
    if (!file.is(Kind::string)) continue;
    const std::string_view path = file.text();
    const std::string_view name = path.substr(path.find_last_of("/\\") + 1);
    if (says(name, Says::training_data))
      training = file;
    else if (says(name, Says::evaluation_data))
      evaluation = file;
  }
  if (!training || !evaluation || !once(fit.place)) return;
  report.add(Severity::warning, fit.place, fit.calls,
      "This is fitted on `\"" + std::string(evaluation.text()) +
          "\"`, too, so the evaluation data has been seen. Fit on `\"" + std::string(training.text()) +
          "\"` alone.");
  (void)record;
}

// ---------------------------------------------------------------- the same files in both sets

// A call whose arguments are all written out: the same words make the same set. The program's settings of a
// transform are no data.
bool is_literal(const Expr& expr) {
  return expr.kind == ExprKind::string || expr.kind == ExprKind::integer || expr.kind == ExprKind::boolean;
}
std::optional<std::string> made_of(const Record& record, Value dataset) {
  const Place born = dataset.object()->born;
  if (!record.in_file(born) || !record.chunk(born).chunk->stmt) return std::nullopt;
  std::optional<std::string> text;
  const auto path = enclosing(*record.chunk(born).chunk->stmt, born.span);
  if (path.empty()) return std::nullopt;
  for_each_expression(*path.back().stmt, [&](const Expr& expr) {
    if (expr.kind != ExprKind::call || !(expr.span == born.span)) return;
    const auto& call = as<CallExpr>(expr);
    bool file = false, literal = true;
    for (const Expr* argument : call.arguments) {
      literal = literal && is_literal(*argument);
      file = file || argument->kind == ExprKind::string;
    }
    for (const Keyword& keyword : call.keywords) {
      literal = literal && keyword.value && is_literal(*keyword.value);
      file = file || (keyword.value && keyword.value->kind == ExprKind::string);
    }
    if (literal && file) text = std::string(record.text(born));
  });
  return text;
}

// What the program calls the loader.
std::string name_of(const Record& record, Value loader) {
  for (const Fact& fact : record.facts)
    if (fact.role == Fact::Role::assignment && fact.value == loader)
      return std::string(record.text(fact.place));
  return {};
}

void look_at_loaders(const Record& record, Report& report, const Found& found, Once& once) {
  struct Set {
    const OperationEvent* loader;
    Value dataset;
    std::string text, name;
  };
  std::vector<Set> sets;
  for (const OperationEvent* made : found.loaders) {
    if (made->row->kind != values::RowKind::class_ || made->arguments.empty() ||
        sets.size() > values::most_compared_events)
      continue;
    const Value dataset = made->arguments[0];
    // A sampler may take a part of it.
    bool sampled = false;
    for (std::size_t i = 0; i < made->row->parameters.size() && i < made->arguments.size(); ++i)
      if (made->row->parameters[i].text().find("sampler") != std::string_view::npos)
        sampled = sampled || !made->arguments[i].is(Kind::none);
    if (sampled || !dataset.is(Kind::instance)) continue;
    const auto text = made_of(record, dataset);
    if (text) sets.push_back({made, dataset, *text, name_of(record, made->self)});
  }
  for (const Set& train : sets) {
    if (!says(train.name, Says::training_data)) continue;
    for (const Set& other : sets) {
      if (other.loader == train.loader || other.text != train.text ||
          !says(other.name, Says::evaluation_data) || says(other.name, Says::training_data) ||
          !once(other.loader->place))
        continue;
      Finding* finding = report.add(Severity::warning, other.loader->place, other.loader->calls,
          values::code(other.name) + " reads what " + values::code(train.name) + " trains on, " +
              values::code(other.text) + ": what it measures has been seen. Give it data of its own.");
      if (finding) report.relate(*finding, train.loader->place, "trained on here");
    }
  }
}

// ---------------------------------------------------------------- windows that overlap

void look_at_windows(Report& report, const Found& found, Once& once) {
  for (const OperationEvent* split : found.splits) {
    const Value dataset = argument(*split, 0);
    if (!dataset.is(Kind::instance) || !dataset.as<Instance>()->cls) continue;
    for (const OperationEvent* window : found.windows) {
      const CallSite* call = window->calls;
      if (!call || !call->function || call->function->name.text() != "__getitem__" ||
          call->function->owner != dataset.as<Instance>()->cls)
        continue;
      if (!once(split->place)) break;
      Finding* finding = report.add(Severity::warning, split->place, split->calls,
          "These samples are windows of one sequence that overlap: split at random, nearly every validation window shares most of its points with a training window. Split the sequence first, or split the indices into two blocks with a gap of one window.");
      if (finding) report.relate(*finding, window->place, "each sample begins one step after the one before");
      break;
    }
  }
}

void check(const Record& record, Report& report) {
  Once once;
  // What a data set does with an index may be seen where nobody reads it.
  std::vector<const OperationEvent*> windows;
  const RowsAsked is_of_sets = with_operation(Operation::fitted, Operation::split, Operation::loader_made);
  if (!any_operation(record, is_of_sets)) return;
  visit_operations(record, with_operation(Operation::window), [&](const OperationEvent& operation) {
    if (windows.size() < values::most_compared_events) windows.push_back(&operation);
  });
  for (const auto& root : record.roots) {
    Found found;
    found.windows = windows;
    std::size_t order = 0;
    visit_operations(record, *root, is_of_sets, [&](const OperationEvent& operation) {
      std::vector<const OperationEvent*>* list = nullptr;
      switch (operation.row->operation) {
      case Operation::fitted: list = &found.fitted; break;
      case Operation::split: list = &found.splits; break;
      case Operation::loader_made: list = &found.loaders; break;
      default: return;
      }
      if (list->size() >= values::most_compared_events) return;
      list->push_back(&operation);
      found.order.push_back({&operation, order++});
    });
    for (const OperationEvent* fit : found.fitted) look_at_fit(record, report, found, *fit, once);
    look_at_loaders(record, report, found, once);
    look_at_windows(report, found, once);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "data/leak",
    .severity = Severity::warning,
    .summary = "validation or test data is seen in training",
    .why =
        "What is measured on data that the training has seen says nothing of new data. It leaks through what is learned before the model (the mean and scale of a "
        "StandardScaler, the words of a vocabulary, the merges of a tokenizer), through a file that is in both sets, and through neighbors: of windows of 20 "
        "points split at random, measured on a series of 220, all 40 validation windows had a training window that shares at least 18 of their points.",
    .wrong = "X = StandardScaler().fit_transform(X)\n"
             "X_train, X_val = train_test_split(X, test_size=0.2)\n",
    .right = "X_train, X_val = train_test_split(X, test_size=0.2)\n"
             "scaler = StandardScaler().fit(X_train)\n"
             "X_train, X_val = scaler.transform(X_train), scaler.transform(X_val)\n",
    .silent =
        "Fitting on the training part; random splits of samples that do not overlap; the same data under samplers or subsets that part it; label encoders.",
    .fix = "None: where to split the data is the program's choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::data::leak
