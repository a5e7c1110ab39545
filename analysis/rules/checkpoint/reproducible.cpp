#include "rules/checkpoint/reproducible.hpp"

#include "rules/name_hints.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules {

using interpreter::EventKind;
using values::Kind;
using values::Operation;
using values::Place;

namespace {

bool is_true(const syntax::Expr& expr) {
  return expr.kind == syntax::ExprKind::boolean && syntax::as<syntax::BooleanExpr>(expr).value;
}

// `torch.backends.cudnn.deterministic = True`, `torch.use_deterministic_algorithms(True)`.
bool is_asked_by(const syntax::Stmt& stmt) {
  if (stmt.kind == syntax::StmtKind::assign) {
    const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
    return is_true(*assign.value) && std::ranges::any_of(assign.targets, [](const syntax::Expr* target) {
      return target->kind == syntax::ExprKind::attribute &&
          says(syntax::last_name(*target), Says::asking_determinism);
    });
  }
  if (stmt.kind != syntax::StmtKind::expression) return false;
  const syntax::Expr& expr = *syntax::as<syntax::ExpressionStmt>(stmt).value;
  if (expr.kind != syntax::ExprKind::call) return false;
  const auto& call = syntax::as<syntax::CallExpr>(expr);
  return says(syntax::last_name(*call.function), Says::asking_determinism) && !call.arguments.empty() &&
      is_true(*call.arguments[0]);
}

// What a file's statements, and the functions that were called, do in every run: not what stands under a
// condition.
class Words {
public:
  explicit Words(const Record& record) : record_(record) {
    for (const interpreter::ChunkOf& chunk : record.chunks)
      if (const syntax::Stmt* stmt = chunk.statement())
        syntax::for_each_expression(*stmt, [&](const syntax::Expr& expr) {
          if (expr.kind == syntax::ExprKind::call)
            called_.insert(syntax::last_name(*syntax::as<syntax::CallExpr>(expr).function));
        });
    for (std::uint32_t chunk = 1; chunk < record.chunks.size(); ++chunk)
      if (const syntax::Stmt* stmt = record.chunks[chunk].statement()) look_at(*stmt, chunk, false);
  }
  // Seeds are given once, and no state of a generator is kept.
  bool begins_anew() const { return asked_ && seeds_ && !seeds_again_ && !keeps_; }
  Place asked() const { return asked_; }

private:
  void look_at(const syntax::Stmt& stmt, std::uint32_t chunk, bool in_loop) {
    const bool is_loop = stmt.kind == syntax::StmtKind::for_ || stmt.kind == syntax::StmtKind::while_;
    const bool is_function = stmt.kind == syntax::StmtKind::function;
    const bool runs = !is_function || called_.contains(syntax::as<syntax::FunctionStmt>(stmt).name.text());
    if (!asked_ && runs && is_asked_by(stmt)) asked_ = {chunk, stmt.span};
    bool has_blocks = false;
    syntax::for_each_block(stmt, [&](syntax::Block block) {
      has_blocks = true;
      for (const syntax::Stmt* inner : block) look_at_inner(stmt, *inner, chunk, in_loop || is_loop, runs);
    });
    if (has_blocks) return;
    keeps_ = keeps_ || calls(stmt, Says::keeping_generator);
    if (calls(stmt, Says::giving_seed)) (in_loop ? seeds_again_ : seeds_) = true;
  }
  void look_at_inner(
      const syntax::Stmt& outer, const syntax::Stmt& stmt, std::uint32_t chunk, bool in_loop, bool runs) {
    const Place before = asked_;
    look_at(stmt, chunk, in_loop);
    // What is asked for under a condition, or in a function that nobody calls, is not asked for here.
    const bool always = outer.kind == syntax::StmtKind::function || outer.kind == syntax::StmtKind::class_ ||
        outer.kind == syntax::StmtKind::with || is_main(outer, chunk);
    if (!before && asked_ && (!always || !runs)) asked_ = {};
  }
  bool is_main(const syntax::Stmt& stmt, std::uint32_t chunk) const {
    return stmt.kind == syntax::StmtKind::if_ &&
        record_.text({chunk, syntax::as<syntax::IfStmt>(stmt).test->span}).find("__main__") !=
        std::string_view::npos;
  }

  const Record& record_;
  std::set<std::string_view> called_;  // by their last names
  Place asked_;
  bool seeds_ = false, seeds_again_ = false, keeps_ = false;
};

// A loader that gives its samples in another order each time.
bool draws(const Record& record) {
  return std::ranges::any_of(record.events, [&](const auto& event) {
    if (event->kind != EventKind::operation) return false;
    const auto& operation = static_cast<const OperationEvent&>(*event);
    if (operation.row->operation != Operation::loader_made || operation.row->kind != values::RowKind::class_)
      return false;
    const Value given = argument(operation, "shuffle");
    return given.is(Kind::boolean) && record.symbols.decide(given.condition()) == Answer::yes;
  });
}

}  // namespace

Place asks_for_same_numbers(const Record& record, const CheckpointRoot& checkpoint_root) {
  if (checkpoint_root.handed_over || !draws(record)) return {};
  const Words words(record);
  return words.begins_anew() ? words.asked() : Place{};
}

}  // namespace stepzero::rules
