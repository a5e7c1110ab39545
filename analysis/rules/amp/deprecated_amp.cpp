// amp/deprecated-api: names of torch.cuda.amp and torch.cpu.amp, which moved to torch.amp.
#include "rules/list.hpp"
#include "rules/report.hpp"
#include "rules/source.hpp"

#include <set>

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;

namespace {

constexpr std::string_view moved[] = {"GradScaler", "autocast", "custom_fwd", "custom_bwd"};

std::string_view device_of(std::string_view module) { return module == "torch.cuda.amp" ? "cuda" : module == "torch.cpu.amp" ? "cpu" : ""; }

bool has_moved(std::string_view name) {
  for (const std::string_view each : moved)
    if (each == name) return true;
  return false;
}

class Check {
public:
  Check(const Record& record, Report& report) : record_(record), report_(report) {}

  void run() {
    for (std::uint32_t i = 1; i < record_.chunks.size(); ++i) {
      const ChunkOf& chunk = record_.chunks[i];
      if (!chunk.chunk || !chunk.chunk->stmt || chunk.path != record_.path) continue;
      // A chunk may be read more than once.
      if (seen_.insert(chunk.chunk->stmt).second) look(*chunk.chunk->stmt, i);
    }
    for (const Import& import : imports_) tell_import(import);
  }

private:
  struct Import {
    const ImportFromStmt* stmt;
    std::uint32_t chunk;
    std::string_view device;
  };

  // Behind a condition or a try the program chooses by the version.
  void look(const Stmt& stmt, std::uint32_t chunk) {
    for_each_statement(stmt, [&](const Stmt& inner) {
      if (inner.kind != StmtKind::import_from) return;
      const auto& import = as<ImportFromStmt>(inner);
      std::string module;
      for (const Name& part : import.module) module += (module.empty() ? "" : ".") + std::string(part.text());
      const std::string_view device = device_of(module);
      if (device.empty() || import.star) return;
      for (const Enclosing& around : enclosing(stmt, inner.span))
        if (around.stmt->kind == StmtKind::try_ || around.stmt->kind == StmtKind::if_) return;
      imports_.push_back({&import, chunk, device});
    });
    for_each_expression(stmt, [&](const Expr& expr) {
      const CallExpr* call = expr.kind == ExprKind::call ? &as<CallExpr>(expr) : nullptr;
      if (!call || call->function->kind != ExprKind::attribute) return;
      const auto& name = as<AttributeExpr>(*call->function);
      const std::string_view device = device_of(record_.text({chunk, name.object->span}));
      if (device.empty() || !has_moved(name.attribute.text())) return;
      for (const Enclosing& around : enclosing(stmt, expr.span))
        if (around.stmt->kind == StmtKind::try_ || around.stmt->kind == StmtKind::if_) return;
      tell_call(*call, chunk, std::string(name.attribute.text()), std::string(device));
    });
  }

  static std::string first(const CallExpr& call, const std::string& name, const std::string& device) {
    const bool keyword = name.starts_with("custom");
    return std::string(keyword ? "device_type=" : "") + "\"" + device + "\"" + (call.arguments.empty() && call.keywords.empty() ? "" : ", ");
  }

  void tell_call(const CallExpr& call, std::uint32_t chunk, const std::string& name, const std::string& device) {
    Finding* finding = report_.add(Severity::hint, {chunk, call.span}, nullptr,
                                   "torch." + device + ".amp." + name + " is deprecated since PyTorch 2.4: torch.amp." + name + " takes the device as its first argument.");
    if (!finding || name.starts_with("custom")) return;
    Fix fix;
    fix.title = "Use torch.amp." + name + "(\"" + device + "\")";
    fix.edits.push_back({report_.location({chunk, call.function->span}), "torch.amp." + name});
    const auto open = call.function->span.end + 1;
    fix.edits.push_back({report_.location({chunk, {open, open}}), first(call, name, device)});
    finding->fixes.push_back(std::move(fix));
  }

  void tell_import(const Import& import) {
    bool any = false;
    for (const Alias& alias : import.stmt->names) any = any || has_moved(record_.text({import.chunk, alias.span}).substr(0, record_.text({import.chunk, alias.span}).find(' ')));
    if (!any) return;
    report_.add(Severity::hint, {import.chunk, import.stmt->span}, nullptr,
                "torch." + std::string(import.device) + ".amp is deprecated since PyTorch 2.4: torch.amp has the same names, and they take the device as their first argument.");
  }

  const Record& record_;
  Report& report_;
  std::set<const Stmt*> seen_;
  std::vector<Import> imports_;
};

void check(const Record& record, Report& report) { Check(record, report).run(); }

} // namespace

constexpr Rule deprecated_amp = complete({
    .id = "amp/deprecated-api",
    .severity = Severity::hint,
    .summary = "names of torch.cuda.amp and torch.cpu.amp, which moved to torch.amp",
    .why = "Since PyTorch 2.4 `torch.cuda.amp.autocast(args...)` and its like print a FutureWarning and will go: `torch.amp` has the same names for every "
           "device, which is their first argument.",
    .wrong = "scaler = torch.cuda.amp.GradScaler()\n"
             "with torch.cuda.amp.autocast():\n"
             "    loss = loss_fn(model(x), y)\n",
    .right = "scaler = torch.amp.GradScaler(\"cuda\")\n"
             "with torch.amp.autocast(\"cuda\"):\n"
             "    loss = loss_fn(model(x), y)\n",
    .silent = "Names behind a `try` or an `if`, by which programs choose for older versions.",
    .fix = "Uses the name of torch.amp with the device; offered only, because it needs PyTorch 2.3 (GradScaler) or 1.10.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

} // namespace stepzero::rules
