// config/monitored-name: a callback of Lightning watches a name that no module logs.
#include "rules/rule.hpp"
#include "rules/training/language_models.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::config::monitored_name {

using values::code;

namespace {

constexpr std::string_view callbacks[] = {"ModelCheckpoint", "EarlyStopping"};

// The names that the program logs, each as it is written; nothing where it makes one up or logs many at once.
std::optional<std::set<std::string_view>> logged_names(const Record& record) {
  std::set<std::string_view> names;
  bool open = false;
  each_expression(record, false, [&](std::uint32_t, const syntax::Expr& expr) {
    if (expr.kind != syntax::ExprKind::call) return;
    const auto& call = syntax::as<syntax::CallExpr>(expr);
    if (call.function->kind != syntax::ExprKind::attribute) return;
    const syntax::Expr& object = *syntax::as<syntax::AttributeExpr>(*call.function).object;
    if (object.kind != syntax::ExprKind::name || syntax::as<syntax::NameExpr>(object).id.text() != "self")
      return;
    const std::string_view method = syntax::last_name(*call.function);
    open = open || method == "log_dict";
    if (method != "log") return;
    const syntax::Expr* name = call.arguments.empty() ? nullptr : call.arguments[0];
    for (const syntax::Keyword& each : call.keywords)
      if (each.name.text() == "name") name = each.value;
    if (name && name->kind == syntax::ExprKind::string)
      names.insert(syntax::as<syntax::StringExpr>(*name).value);
    else
      open = true;
  });
  if (open || names.empty()) return std::nullopt;
  return names;
}

// Lightning adds to the name when both the step and the epoch are logged, and for several loaders.
bool is_logged(const std::set<std::string_view>& names, std::string_view wanted) {
  return std::ranges::any_of(names, [&](std::string_view name) {
    if (!wanted.starts_with(name)) return false;
    const std::string_view rest = wanted.substr(name.size());
    return rest.empty() || rest == "_step" || rest == "_epoch" || rest.starts_with("/dataloader_idx");
  });
}

void check(const Record& record, Report& report) {
  const auto names = logged_names(record);
  if (!names) return;
  Once once;
  each_expression(record, true, [&](std::uint32_t chunk, const syntax::Expr& expr) {
    if (expr.kind != syntax::ExprKind::call) return;
    const auto& call = syntax::as<syntax::CallExpr>(expr);
    if (std::ranges::find(callbacks, syntax::last_name(*call.function)) == std::end(callbacks)) return;
    for (const syntax::Keyword& each : call.keywords) {
      if (each.name.text() != "monitor" || each.value->kind != syntax::ExprKind::string) continue;
      const std::string_view wanted = syntax::as<syntax::StringExpr>(*each.value).value;
      if (is_logged(*names, wanted) || !once({chunk, each.value->span})) continue;
      std::string all;
      constexpr std::size_t most_names = 6;  // that a sentence lists
      std::size_t listed = 0;
      for (const std::string_view name : *names)
        if (listed++ < most_names) all += (all.empty() ? "" : ", ") + code(name);
      report.add(Severity::warning, {chunk, each.value->span}, nullptr,
          "Nothing logs " + code(wanted) + ", so the callback fails when it asks for it: logged are " + all +
              (listed > most_names ? " and others" : "") + ". Watch one of these.");
    }
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/monitored-name",
    .severity = Severity::warning,
    .summary = "a callback of Lightning watches a name that no module logs",
    .why =
        "`ModelCheckpoint(monitor=\"val/loss\")` looks for what `self.log(\"val/loss\", …)` has written. Under another name, `val_loss`, nothing is found: Lightning raises `MisconfigurationException` after the first epoch that should have been saved, and `EarlyStopping` a `RuntimeError`.",
    .wrong = "self.log(\"val_loss\", loss)\n"
             "checkpoint = ModelCheckpoint(monitor=\"val/loss\")\n",
    .right = "self.log(\"val_loss\", loss)\n"
             "checkpoint = ModelCheckpoint(monitor=\"val_loss\")\n",
    .silent =
        "Programs that log a name they put together, or several at once with `log_dict`; the suffixes that Lightning adds; programs that log nothing in what is seen.",
    .fix = "None: which of the names is meant is the program's choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::config::monitored_name
