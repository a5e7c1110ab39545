// perf/file-per-sample: a data set reads one and the same file again for each sample. Reads the text of the
// methods that ran: a run reads the file of one sample, and only the words of the path say that it is the
// same for all; most of the readers belong to libraries that the run does not look into.
#include "rules/classes.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::perf::file_per_sample {

using namespace syntax;
using values::code;

namespace {

// Functions that read a whole file.
constexpr std::string_view readers[] = {"read_csv", "read_table", "read_parquet", "read_json", "read_pickle",
    "read_excel", "read_feather", "loadtxt", "genfromtxt", "load"};
constexpr std::string_view sample = "__getitem__", data_set = "torch.utils.data.Dataset";

// Is it an attribute of the object: `self.path`, `self.config.path`?
bool is_own(const Expr& expr, Name self) {
  if (expr.kind != ExprKind::attribute) return false;
  const Expr& object = *as<AttributeExpr>(expr).object;
  return (object.kind == ExprKind::name && as<NameExpr>(object).id == self) || is_own(object, self);
}

void check(const Record& record, Report& report) {
  Once once;
  for (const values::Function* function : functions_that_ran(record)) {
    if (!function->owner || function->name.text() != sample || !derives(*function->owner, data_set) ||
        function->parameters->list.empty())
      continue;
    const Name self = function->parameters->list[0].name;
    for (const Stmt* stmt : function->stmt->body) {
      // What is kept for the next sample is kept on the object.
      if (stmt->kind != StmtKind::assign || as<AssignStmt>(*stmt).targets[0]->kind == ExprKind::attribute)
        continue;
      for_each_expression(*stmt, [&](const Expr& expr) {
        if (expr.kind != ExprKind::call || as<CallExpr>(expr).function->kind != ExprKind::attribute) return;
        const auto& call = as<CallExpr>(expr);
        const std::string_view name = as<AttributeExpr>(*call.function).attribute.text();
        if (std::ranges::find(readers, name) == std::end(readers) || call.arguments.empty() ||
            !is_own(*call.arguments[0], self) || !once({function->chunk, expr.span}))
          return;
        report.add(Severity::information, {function->chunk, expr.span}, nullptr,
            "Every sample reads the whole file " +
                code(std::string(record.text({function->chunk, call.arguments[0]->span}))) +
                " again, and takes one part of it. Read it once in `__init__`, and keep it.");
      });
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "perf/file-per-sample",
    .severity = Severity::information,
    .summary = "a data set reads one and the same file again for each sample",
    .why =
        "`__getitem__` runs for each sample. Where it reads a table or an archive that holds all samples, an epoch reads the file as often as it has samples, and the GPU waits for the parsing.",
    .wrong = "def __getitem__(self, index):\n"
             "    table = pandas.read_csv(self.path)\n"
             "    return torch.tensor(table.iloc[index].values)\n",
    .right = "def __init__(self, path):\n"
             "    self.table = pandas.read_csv(path)\n"
             "\n"
             "def __getitem__(self, index):\n"
             "    return torch.tensor(self.table.iloc[index].values)\n",
    .silent =
        "Files whose names depend on the index; files that are opened and not read as a whole; what is read under a condition, or kept on the object.",
    .fix = "None: a file that does not fit into memory needs another format.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::perf::file_per_sample
