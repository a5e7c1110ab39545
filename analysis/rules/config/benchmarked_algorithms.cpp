// config/benchmarked-algorithms: a program asks for deterministic algorithms, and lets cuDNN choose among
// them by their time. Knows the settings that stand in one block, one after the other; what a branch or an
// option decides is the program's own affair.
#include "rules/imports.hpp"
#include "rules/report.hpp"
#include "rules/rule.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::rules::config::benchmarked_algorithms {

using namespace interpreter;
using namespace syntax;

namespace {

constexpr std::string_view deterministic = "deterministic", benchmark = "benchmark";

// What a file calls the module of cuDNN's settings, and the function that asks for deterministic algorithms.
class Names {
public:
  explicit Names(const Module& module) : module_(name_of_module(module, {"torch", "backends", "cudnn"})) {
    const std::string torch = name_of_module(module, {"torch"});
    if (torch.empty()) return;
    below_torch_ = torch + ".backends.cudnn";
    asker_ = torch + ".use_deterministic_algorithms";
  }
  bool any() const { return !module_.empty() || !below_torch_.empty(); }
  bool is_settings(std::string_view text) const {
    return !text.empty() && (text == module_ || text == below_torch_);
  }
  bool is_asker(std::string_view text) const { return !text.empty() && text == asker_; }

private:
  std::string module_, below_torch_, asker_;
};

bool is_true(const Expr& expr) { return expr.kind == ExprKind::boolean && as<BooleanExpr>(expr).value; }

// The last word of a block on each of the two. The statements of a file lie in chunks of their own.
struct Said {
  Place asked, measured;  // where it is switched on
  Place value;            // what `benchmark` is set to
};

class Judge {
public:
  Judge(const Record& record, Report& report, const Names& names, std::uint32_t chunk)
      : record_(record), report_(report), names_(names), chunk_(chunk) {}

  void statement(const Stmt& stmt, Said& said) const {
    look_at(stmt, said);
    for_each_block(stmt, [&](syntax::Block inner) {
      Said within;
      for (const Stmt* each : inner) statement(*each, within);
      tell(report_, within);
    });
  }
  static void tell(Report& report, const Said& said) {
    if (!said.asked || !said.measured) return;
    Finding* finding = report.add(Severity::information, said.measured, nullptr,
        "Deterministic algorithms are asked for, but `benchmark` lets cuDNN measure in each run which algorithm is the fastest: another choice rounds otherwise, and two runs with one seed differ. Set `benchmark` to `False` where runs have to repeat.");
    if (!finding) return;
    report.relate(*finding, said.asked, "deterministic algorithms are asked for here");
    Fix fix;
    fix.title = "Set benchmark to False";
    fix.edits.push_back({report.location(said.value), "False"});
    finding->fixes.push_back(std::move(fix));
  }

private:
  void look_at(const Stmt& stmt, Said& said) const {
    const Place here{chunk_, stmt.span};
    if (stmt.kind == StmtKind::assign) {
      const auto& assign = as<AssignStmt>(stmt);
      for (const Expr* target : assign.targets) {
        if (target->kind != ExprKind::attribute) continue;
        const auto& set = as<AttributeExpr>(*target);
        if (!names_.is_settings(text(*set.object))) continue;
        const Place on = is_true(*assign.value) ? here : Place{};
        if (set.attribute.text() == deterministic) said.asked = on;
        if (set.attribute.text() == benchmark) said.measured = on, said.value = {chunk_, assign.value->span};
      }
    } else if (stmt.kind == StmtKind::expression) {
      const Expr& value = *as<ExpressionStmt>(stmt).value;
      if (value.kind != ExprKind::call) return;
      const auto& call = as<CallExpr>(value);
      if (names_.is_asker(text(*call.function)) && call.arguments.size() == 1)
        said.asked = is_true(*call.arguments[0]) ? here : Place{};
    }
  }

  std::string_view text(const Expr& expr) const { return record_.text({chunk_, expr.span}); }

  const Record& record_;
  Report& report_;
  const Names& names_;
  const std::uint32_t chunk_;
};

void check(const Record& record, Report& report) {
  struct File {
    const Module* module;
    Names names;
    Said said;
  };
  std::vector<File> files;
  for (std::uint32_t i = 0; i < record.chunks.size(); ++i) {
    const Stmt* stmt = record.chunks[i].statement();
    if (!stmt) continue;
    const Module* module = record.chunks[i].module.get();
    auto file = std::ranges::find(files, module, &File::module);
    if (file == files.end()) file = files.insert(file, {module, Names(*module), {}});
    if (file->names.any()) Judge(record, report, file->names, i).statement(*stmt, file->said);
  }
  for (const File& file : files) Judge::tell(report, file.said);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/benchmarked-algorithms",
    .severity = Severity::information,
    .summary = "deterministic algorithms are asked for, and cuDNN chooses among them by their time",
    .why =
        "`torch.backends.cudnn.deterministic = True` leaves the algorithms out that give other numbers each time. With `benchmark = True` cuDNN still runs several of those that are left "
        "for each new shape and takes the fastest, and which one that is differs from run to run. Each rounds in its own order, so two runs with one seed drift apart.",
    .wrong = "torch.manual_seed(0)\n"
             "torch.backends.cudnn.deterministic = True\n"
             "torch.backends.cudnn.benchmark = True\n",
    .right = "torch.manual_seed(0)\n"
             "torch.backends.cudnn.deterministic = True\n"
             "torch.backends.cudnn.benchmark = False\n",
    .silent =
        "One of the two alone; settings that a branch or an option of the program decides; objects of the program's own with these names.",
    .fix = "Sets `benchmark` to `False`; whether runs have to repeat, or to be fast, is your decision.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::config::benchmarked_algorithms
