// loop/causal-labels: labels for a causal language model of transformers that are shifted already, or count
// the padding.
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/language_models.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::loop::causal_labels {

using values::code;

namespace {

constexpr std::string_view tokens_key = "input_ids", labels_key = "labels";

bool is_written(const syntax::Expr* expr, std::string_view text, const Record& record, std::uint32_t chunk) {
  return expr && record.text({chunk, expr->span}) == text;
}

// All but the last, `x[:-1]`, or all but the first, `x[1:]`, of what it is a part of, along its last index.
struct Part {
  std::string_view whole;
  bool first = false, last = false;
};
Part part_of(const Record& record, std::uint32_t chunk, const syntax::Expr& expr) {
  if (expr.kind == syntax::ExprKind::call) {
    // `x[:-1].clone()`: the same tokens.
    const auto& call = syntax::as<syntax::CallExpr>(expr);
    if (call.function->kind == syntax::ExprKind::attribute)
      return part_of(record, chunk, *syntax::as<syntax::AttributeExpr>(*call.function).object);
    return {};
  }
  if (expr.kind != syntax::ExprKind::subscript) return {};
  const auto& access = syntax::as<syntax::SubscriptExpr>(expr);
  const syntax::Expr* index = access.index;
  if (index->kind == syntax::ExprKind::tuple && !syntax::as<syntax::TupleExpr>(*index).elements.empty())
    index = syntax::as<syntax::TupleExpr>(*index).elements.back();
  if (index->kind != syntax::ExprKind::slice) return {};
  const auto& slice = syntax::as<syntax::SliceExpr>(*index);
  Part part;
  part.whole = record.text({chunk, access.object->span});
  part.first = !slice.lower && is_written(slice.upper, "-1", record, chunk);
  part.last = !slice.upper && is_written(slice.lower, "1", record, chunk);
  return part;
}

// What a name of the function around was assigned, if that was once; the expression itself otherwise.
const syntax::Expr& meant(const Record& record, std::uint32_t chunk, const syntax::Expr& expr) {
  if (expr.kind != syntax::ExprKind::name) return expr;
  const syntax::Name name = syntax::as<syntax::NameExpr>(expr).id;
  const syntax::FunctionStmt* around = function_around(record, {chunk, expr.span});
  const syntax::Expr* found = nullptr;
  int times = 0;
  const auto take = [&](const syntax::Expr& target, const syntax::Expr& value) {
    if (target.kind != syntax::ExprKind::name || !(syntax::as<syntax::NameExpr>(target).id == name)) return;
    ++times;
    found = &value;
  };
  if (around)
    syntax::for_each_statement(*around, [&](const syntax::Stmt& stmt) {
      if (stmt.kind != syntax::StmtKind::assign) return;
      const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
      for (const syntax::Expr* target : assign.targets) {
        take(*target, *assign.value);
        if (target->kind != syntax::ExprKind::tuple || assign.value->kind != syntax::ExprKind::tuple)
          continue;
        const auto& names = syntax::as<syntax::TupleExpr>(*target).elements;
        const auto& values = syntax::as<syntax::TupleExpr>(*assign.value).elements;
        for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) take(*names[i], *values[i]);
      }
    });
  return times == 1 ? *found : expr;
}

// The tokens and the labels that one dictionary or one call is given.
struct Given {
  const syntax::Expr *tokens = nullptr, *labels = nullptr;
};
Given given_by(const syntax::Expr& expr) {
  Given given;
  const auto take = [&](std::string_view name, const syntax::Expr* value) {
    if (name == tokens_key) given.tokens = value;
    if (name == labels_key) given.labels = value;
  };
  if (expr.kind == syntax::ExprKind::dict) {
    for (const syntax::DictItem& item : syntax::as<syntax::DictExpr>(expr).items)
      if (item.key && item.key->kind == syntax::ExprKind::string)
        take(syntax::as<syntax::StringExpr>(*item.key).value, item.value);
  } else if (expr.kind == syntax::ExprKind::call) {
    for (const syntax::Keyword& each : syntax::as<syntax::CallExpr>(expr).keywords)
      take(each.name.text(), each.value);
  }
  return given;
}

void look_at_shift(
    const Record& record, Report& report, Once& once, std::uint32_t chunk, const syntax::Expr& expr) {
  const Given given = given_by(expr);
  if (!given.tokens || !given.labels) return;
  const Part tokens = part_of(record, chunk, meant(record, chunk, *given.tokens)),
             labels = part_of(record, chunk, meant(record, chunk, *given.labels));
  if (!tokens.first || !labels.last || tokens.whole != labels.whole || !once({chunk, given.labels->span}))
    return;
  report.add(Severity::warning, {chunk, given.labels->span}, nullptr,
      "These labels are shifted by one, and the model shifts the labels that it is given once more: it learns the token after the next. Give it " +
          code(tokens.whole) + " as both " + code(tokens_key) + " and " + code(labels_key) + ".");
}

// `batch["input_ids"].clone()`, `enc.input_ids`: the tokens themselves.
bool are_tokens(const syntax::Expr& expr) {
  switch (expr.kind) {
  case syntax::ExprKind::call: {
    const auto& call = syntax::as<syntax::CallExpr>(expr);
    if (call.function->kind != syntax::ExprKind::attribute) return false;
    const auto& method = syntax::as<syntax::AttributeExpr>(*call.function);
    const std::string_view name = method.attribute.text();
    return call.arguments.empty() && (name == "clone" || name == "copy" || name == "detach") &&
        are_tokens(*method.object);
  }
  case syntax::ExprKind::subscript: {
    const auto& index = *syntax::as<syntax::SubscriptExpr>(expr).index;
    return index.kind == syntax::ExprKind::string &&
        syntax::as<syntax::StringExpr>(index).value == tokens_key;
  }
  case syntax::ExprKind::attribute:
    return syntax::as<syntax::AttributeExpr>(expr).attribute.text() == tokens_key;
  default: return false;
  }
}

bool is_labels(const syntax::Expr& target) {
  if (target.kind == syntax::ExprKind::name)
    return syntax::as<syntax::NameExpr>(target).id.text() == labels_key;
  if (target.kind != syntax::ExprKind::subscript) return false;
  const auto& index = *syntax::as<syntax::SubscriptExpr>(target).index;
  return index.kind == syntax::ExprKind::string && syntax::as<syntax::StringExpr>(index).value == labels_key;
}

void look_at_padding(const Record& record, Report& report, Once& once) {
  bool padded = false;
  each_expression(record, false, [&](std::uint32_t, const syntax::Expr& expr) {
    padded = padded || (expr.kind == syntax::ExprKind::call && pads(syntax::as<syntax::CallExpr>(expr)));
  });
  // Whoever names the number that a loss leaves out, or what writes it, has thought of it.
  if (!padded || program_says(record, Says::leaving_out_targets)) return;
  const auto tell = [&](Place place) {
    if (!once(place)) return;
    report.add(Severity::warning, place, nullptr,
        "These labels are the tokens with their padding, so the loss counts how well the model predicts padding. Set them to -100 where `attention_mask` is 0.");
  };
  each_statement(record, true, [&](std::uint32_t chunk, const syntax::Stmt& stmt) {
    if (stmt.kind != syntax::StmtKind::assign) return;
    const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
    if (assign.targets.size() == 1 && is_labels(*assign.targets[0]) && are_tokens(*assign.value))
      tell({chunk, assign.value->span});
  });
  each_expression(record, true, [&](std::uint32_t chunk, const syntax::Expr& expr) {
    const Given given = given_by(expr);
    if (given.labels && are_tokens(*given.labels)) tell({chunk, given.labels->span});
  });
}

void check(const Record& record, Report& report) {
  if (!uses_causal_model(record) || !gives_labels(record)) return;
  Once once;
  each_expression(record, true, [&](std::uint32_t chunk, const syntax::Expr& expr) {
    look_at_shift(record, report, once, chunk, expr);
  });
  look_at_padding(record, report, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/causal-labels",
    .severity = Severity::warning,
    .summary = "labels of a causal language model that are shifted already, or count the padding",
    .why =
        "The models of transformers that predict the next token compare position `t` with label `t + 1` themselves. Given `x[:-1]` and `x[1:]`, they learn the token after the next: the loss falls, and generation skips every other word. They leave out labels that are -100 and no others: of tokens that were padded to one length, a copy as labels teaches the model to predict padding, which soon is most of what the loss shows.",
    .wrong = "batch = tokenizer(texts, padding=True, return_tensors=\"pt\")\n"
             "batch[\"labels\"] = batch[\"input_ids\"].clone()\n"
             "loss = model(**batch).loss\n",
    .right = "batch = tokenizer(texts, padding=True, return_tensors=\"pt\")\n"
             "batch[\"labels\"] = batch[\"input_ids\"].masked_fill(batch[\"attention_mask\"] == 0, -100)\n"
             "loss = model(**batch).loss\n",
    .silent =
        "Programs that compute the loss from the logits themselves; texts that nothing pads; programs that write -100 anywhere, or use one of the collators of transformers, which do.",
    .fix = "None: where the padding lies is the program's knowledge.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::causal_labels
