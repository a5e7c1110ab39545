#include "rules/deepspeed/program.hpp"

#include "libraries/table/class_roles.hpp"
#include "rules/deepspeed/sections.hpp"
#include "rules/source.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/training.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules::deepspeed {

using libraries::FrameworkCall;
using values::Kind;
using values::Value;

namespace {

constexpr int deepest = 6;  // tables in tables: DeepSpeed's settings nest less

// A dict as it is written out; null if it is made in another way.
const syntax::DictExpr* display_of(const Record& record, Place place) {
  if (!place || place.chunk >= record.chunks.size()) return nullptr;
  const auto& chunk = record.chunk(place);
  if (!chunk.chunk || !chunk.chunk->stmt) return nullptr;
  const syntax::DictExpr* found = nullptr;
  for_each_expression(*chunk.chunk->stmt, [&](const syntax::Expr& expr) {
    if (expr.kind == syntax::ExprKind::dict && expr.span == place.span)
      found = &syntax::as<syntax::DictExpr>(expr);
  });
  return found;
}

// The values of a dict as those of a document. What stands in no display has the span of what holds it.
class Reading {
public:
  Reading(const Record& record, std::string path) : record_(record), path_(std::move(path)) {}
  bool is_whole = true;

  Node node(Value value, Span otherwise, int depth = 0) {
    Node made;
    made.span = otherwise;
    switch (value.kind) {
    case Kind::none: made.kind = Node::Kind::null; break;
    case Kind::boolean:
      if (const auto known = record_.symbols.decide(value.condition()); known != symbolic::Answer::unknown)
        made.kind = Node::Kind::boolean, made.truth = known == symbolic::Answer::yes;
      break;
    case Kind::integer:
      if (const auto number = record_.number(value)) made.kind = Node::Kind::integer, made.integer = *number;
      break;
    case Kind::real: made.kind = Node::Kind::real, made.real = value.real(); break;
    case Kind::string: made.kind = Node::Kind::text, made.text = value.text(); break;
    case Kind::dict:
      if (depth < deepest) table(value, made, depth);
      break;
    default: break;
    }
    return made;
  }

private:
  void table(Value dict, Node& into, int depth) {
    into.kind = Node::Kind::table;
    const values::DictState& state = *values::Heap::dict_state(dict);
    if (state.open) is_whole = false, into.has_other_keys = true;
    const Place born = dict.object()->born;
    const syntax::DictExpr* display = born && record_.chunk(born).path == path_ ? display_of(record_, born)
                                                                                : nullptr;
    if (display) into.span = record_.span(born);
    for (const auto& [key, value] : state.items) {
      if (!key.is(Kind::string)) {
        into.has_other_keys = true, is_whole = false;
        continue;
      }
      Field& field = into.fields.emplace_back();
      field.key = key.text();
      field.is_quoted = true;
      field.key_span = into.span;
      Span of_value = into.span;
      for (std::size_t i = 0; display && i < display->items.size(); ++i) {
        const syntax::DictItem& item = display->items[i];
        if (!item.key || item.key->kind != syntax::ExprKind::string ||
            syntax::as<syntax::StringExpr>(*item.key).value != key.text())
          continue;
        field.key_span = record_.span({born.chunk, item.key->span});
        of_value = record_.span({born.chunk, item.value->span});
      }
      field.value = node(value, of_value, depth + 1);
    }
  }

  const Record& record_;
  const std::string path_;
};

// The place of a span of a file; nothing where the run has not been there.
Place place_of(const Record& record, const std::string& path, Span span) {
  for (std::uint32_t i = 0; i < record.chunks.size(); ++i) {
    const auto& chunk = record.chunks[i];
    if (chunk.path == path && chunk.statement() &&
        chunk.offset + chunk.chunk->stmt->span.begin <= span.begin &&
        span.end <= chunk.offset + chunk.chunk->stmt->span.end)
      return {i, {span.begin - chunk.offset, span.end - chunk.offset}};
  }
  return {};
}

// "false" of a file is "False" of a program.
void as_python(Finding& finding) {
  for (Fix& fix : finding.fixes)
    for (auto& edit : fix.edits) {
      if (edit.new_text == "false")
        edit.new_text = "False";
      else if (edit.new_text == "true")
        edit.new_text = "True";
    }
}

struct Configured {
  const OperationEvent* event = nullptr;
  Value engine, config;
};
void each_configured(const Record& record, const std::function<void(const Configured&)>& each) {
  Once once;
  visit_operations(
      record, libraries::is_call(FrameworkCall::makes_engine), [&](const OperationEvent& operation) {
        if (!operation.result.is(Kind::tuple)) return;
        const auto& items = operation.result.as<values::Tuple>()->items;
        if (items.empty() || !items[0].is(Kind::instance)) return;
        const Value config = attribute(items[0], values::EngineState::config);
        if (config.is(Kind::dict) && once(operation.place)) each({&operation, items[0], config});
      });
}

}  // namespace

void check_program(const Record& record, Report& report, const Rule& rule,
    void (*judge)(const Document& document, DocumentReport& report)) {
  each_configured(record, [&](const Configured& one) {
    if (!attribute(one.engine, values::EngineState::by_program)) return;
    const Place born = one.config.object()->born;
    const bool written_out = display_of(record, born) != nullptr;
    const Place base = written_out ? born : one.event->place;
    Document document;
    const std::string path = record.chunk(base).path;
    Reading reading(record, path);
    document.root = reading.node(one.config, record.span(base));
    document.is_broken = !reading.is_whole;
    std::vector<Finding> found;
    DocumentReport own(path, rule, found);
    judge(document, own);
    for (Finding& finding : found) {
      const Place where = place_of(record, path, finding.where.span);
      Finding* told =
          where ? report.add(finding.severity, where, one.event->calls, std::move(finding.message)) : nullptr;
      if (!told) continue;
      const bool is_there = told->where.path == path && told->where.span == finding.where.span;
      as_python(finding);
      told->related.insert(told->related.end(), finding.related.begin(), finding.related.end());
      if (is_there && written_out && finding.where.span != document.root.span)
        told->fixes = std::move(finding.fixes);
      report.relate(*told, one.event->place, "the engine is configured here");
    }
  });
}

std::optional<Node> configuration_of(const Record& record, Value engine) {
  if (!engine.is(Kind::instance)) return std::nullopt;
  const Value config = attribute(engine, values::EngineState::config);
  if (!config.is(Kind::dict)) return std::nullopt;
  Reading reading(record, record.path);
  Node root = reading.node(config, {});
  return reading.is_whole ? std::optional(std::move(root)) : std::nullopt;
}

bool on_one_way(const TrainingEvent& one, const TrainingEvent& other) {
  return std::ranges::none_of(one.turns, [&](const Turn& turn) {
    return std::ranges::any_of(
        other.turns, [&](const Turn& each) { return each.branch == turn.branch && each.yes != turn.yes; });
  });
}

void check_batch_of_launch(const Record& record, Report& report) {
  each_configured(record, [&](const Configured& one) {
    const auto world = record.number(attribute(one.engine, values::EngineState::processes));
    if (!world) return;
    Reading reading(record, record.chunk(one.event->place).path);
    const Node root = reading.node(one.config, record.span(one.event->place));
    const auto whole = integer(root.at("train_batch_size")),
               micro = integer(root.at("train_micro_batch_size_per_gpu")),
               steps = integer(root.at("gradient_accumulation_steps"));
    if (!reading.is_whole || !whole || (root.find("train_micro_batch_size_per_gpu") && !micro) ||
        (root.find("gradient_accumulation_steps") && !steps))
      return;
    const std::int64_t each = micro.value_or(1) * steps.value_or(1);
    if (*whole <= 0 || micro.value_or(1) <= 0 || steps.value_or(1) <= 0 || micro.value_or(1) > 1'000'000 ||
        steps.value_or(1) > 1'000'000 || *whole % each != 0)
      return;
    const bool fits = micro && steps ? *whole == each * *world : *whole % (each * *world) == 0;
    if (fits) return;
    const std::string parts = std::to_string(*world) + (*world == 1 ? " process" : " processes") +
        (micro ? " × " + std::to_string(*micro) + " samples" : "") +
        (steps ? " × " + std::to_string(*steps) + " accumulation steps" : "");
    Finding* told = report.add(Severity::error, one.event->place, one.event->calls,
        (micro && steps ? parts + " = " + std::to_string(each * *world) +
                    ", but the configuration sets `train_batch_size` to " + std::to_string(*whole) +
                    ": DeepSpeed raises `AssertionError`. Make them equal."
                        : parts + " do not divide the `train_batch_size` of " + std::to_string(*whole) +
                    " that the configuration sets: DeepSpeed raises `AssertionError`. Make it a multiple of them."));
    if (const Place born = one.config.object()->born; told && born && display_of(record, born))
      report.relate(*told, born, "the configuration");
  });
}

}  // namespace stepzero::rules::deepspeed
