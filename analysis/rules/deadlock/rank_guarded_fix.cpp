// The fix of deadlock/rank-guarded-collective: the collective leaves the guard, the guard keeps the rank's
// own work, and the ranks that had nothing get a buffer to receive into.
#include "rules/deadlock/fixes.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace syntax;
using interpreter::Fact;

namespace {

bool assigns(const Stmt& stmt, Name name) {
  if (stmt.kind == StmtKind::assign)
    for (const Expr* target : as<AssignStmt>(stmt).targets)
      if (target->kind == ExprKind::name && as<NameExpr>(*target).id == name) return true;
  if (stmt.kind == StmtKind::ann_assign && as<AnnAssignStmt>(stmt).target->kind == ExprKind::name)
    return as<NameExpr>(*as<AnnAssignStmt>(stmt).target).id == name;
  if (stmt.kind == StmtKind::aug_assign && as<AugAssignStmt>(stmt).target->kind == ExprKind::name)
    return as<NameExpr>(*as<AugAssignStmt>(stmt).target).id == name;
  return false;
}
bool assigned_within(Block block, std::size_t until, Name name) {
  for (std::size_t i = 0; i < until; ++i) {
    bool found = assigns(*block[i], name);
    if (!found && block[i]->kind != StmtKind::assign) {
      // Nested blocks may bind it too.
      std::vector<const Stmt*> pending = {block[i]};
      while (!pending.empty() && !found) {
        const Stmt* stmt = pending.back();
        pending.pop_back();
        found = assigns(*stmt, name);
        const auto push = [&](Block inner) { pending.insert(pending.end(), inner.begin(), inner.end()); };
        if (stmt->kind == StmtKind::if_) {
          push(as<IfStmt>(*stmt).body);
          push(as<IfStmt>(*stmt).orelse);
        } else if (stmt->kind == StmtKind::for_)
          push(as<ForStmt>(*stmt).body);
        else if (stmt->kind == StmtKind::while_)
          push(as<WhileStmt>(*stmt).body);
        else if (stmt->kind == StmtKind::with)
          push(as<WithStmt>(*stmt).body);
        else if (stmt->kind == StmtKind::try_)
          push(as<TryStmt>(*stmt).body);
      }
    }
    if (found) return true;
  }
  return false;
}
bool reads_local_of(const Expr& expr, Block block, std::size_t until) {
  bool found = false;
  for_each_expression(expr, [&](const Expr& part) {
    if (part.kind == ExprKind::name) found = found || assigned_within(block, until, as<NameExpr>(part).id);
  });
  return found;
}

class Hoist {
public:
  Hoist(const Record& record, const Guarded& guarded)
      : record_(record), guarded_(guarded), source_(record, guarded.guard->place.chunk) {}

  std::vector<Fix> fixes() {
    const OperationEvent& event = *guarded_.event;
    if (!guarded_.guard->stmt || guarded_.guard->stmt->kind != StmtKind::if_ || !event.expr) return {};
    // Only where the collective stands in the guard itself.
    if (event.calls != guarded_.guard->calls || event.place.chunk != guarded_.guard->place.chunk) return {};
    guard_ = &as<IfStmt>(*guarded_.guard->stmt);
    if (guard_->is_elif) return {};
    if (!guard_->orelse.empty() && guard_->orelse.size() == 1 && guard_->orelse[0]->kind == StmtKind::if_ &&
        as<IfStmt>(*guard_->orelse[0]).is_elif)
      return {};
    body_ = guarded_.on_yes ? guard_->body : guard_->orelse;
    other_ = guarded_.on_yes ? guard_->orelse : guard_->body;
    const Span call = event.place.span;
    at_ = body_.size();
    for (std::size_t i = 0; i < body_.size(); ++i)
      if (body_[i]->span.begin <= call.begin && call.end <= body_[i]->span.end) at_ = i;
    if (at_ == body_.size() || !source_.own_line(*body_[at_]) || !source_.own_line(*body_[0])) return {};
    for (const Stmt* stmt : body_)
      if (!source_.own_line(*stmt)) return {};
    if (!split_test()) return {};
    // A rank that leaves before the collective would still not enter it; a name bound by the test would be
    // lost; a handle that is waited for in the guard would stay open on the others.
    for (std::size_t i = 0; i < at_; ++i)
      if (leaves(*body_[i])) return {};
    bool binds = false;
    for_each_expression(
        *guard_->test, [&](const Expr& part) { binds = binds || part.kind == ExprKind::named; });
    for (const Keyword& keyword : event.expr->keywords) binds = binds || keyword.name.text() == "async_op";
    if (binds) return {};
    const Stmt& stmt = *body_[at_];
    const bool is_statement =
        (stmt.kind == StmtKind::expression && as<ExpressionStmt>(stmt).value == event.expr) ||
        (stmt.kind == StmtKind::assign && as<AssignStmt>(stmt).value == event.expr);
    Fix fix;
    fix.title = "Run " + std::string(event.row->collective ? event.row->collective->name : "it") +
        " on all ranks";
    fix.preferred = true;
    const bool done = is_statement ? hoist_statement(fix) : hoist_value(fix);
    if (!done) return {};
    return {fix};
  }

private:
  // `rank == 0 and epoch % 10 == 0`: the part about ranks, and the part that is the same for all.
  bool split_test() {
    const Expr& test = *guard_->test;
    if (test.kind != ExprKind::boolean_op || as<BooleanOpExpr>(test).op != BoolOp::logical_and) {
      rank_test_ = std::string(source_.text(test));
      return true;
    }
    if (!guarded_.on_yes) return false;
    // Which operand is about ranks is read from the operands of the recorded condition, by their texts.
    for (const Expr* operand : as<BooleanOpExpr>(test).operands) {
      const std::string text(source_.text(*operand));
      if (!about_ranks(*operand) && of_own_data(*operand)) return false;  // who is left would part by that
      std::string& part = about_ranks(*operand) ? rank_test_ : uniform_test_;
      part += (part.empty() ? "" : " and ") + text;
    }
    return !rank_test_.empty();
  }
  bool about_ranks(const Expr& operand) const {
    const Span place = operand.span;
    // The interpreter noted the value of the operand's parts: it is about ranks if one of them is.
    bool divergent = false;
    for (const Fact& fact : record_.facts)
      if (fact.place.chunk == guarded_.guard->place.chunk && place.begin <= fact.place.span.begin &&
          fact.place.span.end <= place.end)
        divergent = divergent || record_.heap.sharing(fact.value) == symbolic::Sharing::divergent;
    return divergent;
  }

  // Does each rank answer it by what only it has: its clock, what its tensors hold?
  bool of_own_data(const Expr& operand) const {
    return std::any_of(record_.facts.begin(), record_.facts.end(), [&](const Fact& fact) {
      if (fact.place.chunk != guarded_.guard->place.chunk || !operand.span.holds(fact.place.span))
        return false;
      return (fact.tensor ? fact.tensor->sharing : record_.heap.sharing(fact.value)) ==
          symbolic::Sharing::local;
    });
  }

  std::string block_text(Block block, std::size_t from, std::size_t to) const {
    if (from >= to) return {};
    Span span = source_.lines(*block[from], *block[to - 1]);
    // Comments between the previous statement (or the header) and the first one belong to it.
    std::uint32_t begin = from > 0 ? source_.lines(*block[from - 1], *block[from - 1]).end : span.begin;
    if (from == 0) {
      std::uint32_t header_end =
          source_.absolute(block.data() == guard_->orelse.data() ? guard_->else_span : guard_->header).end;
      const std::string_view rest = source_.slice({header_end, span.begin});
      const auto newline = rest.find('\n');
      begin = newline == std::string_view::npos ? span.begin
                                                : header_end + static_cast<std::uint32_t>(newline) + 1;
    }
    std::string text(source_.slice({begin, span.end}));
    if (!text.empty() && text.back() != '\n') text += source_.line_ending();
    return text;
  }

  // Where the guard's part about ranks does not hold.
  std::string negated() const {
    const Expr& test = *guard_->test;
    if (uniform_test_.empty() && test.kind == ExprKind::compare && as<CompareExpr>(test).ops.size() == 1 &&
        as<CompareExpr>(test).ops[0] <= CompareOp::ge) {
      constexpr std::string_view opposite[] = {" != ", " == ", " >= ", " > ", " <= ", " < "};  // by CompareOp
      const auto& compared = as<CompareExpr>(test);
      return std::string(source_.text(*compared.left)) +
          std::string(opposite[static_cast<std::size_t>(compared.ops[0])]) +
          std::string(source_.text(*compared.rights[0]));
    }
    if (uniform_test_.empty() &&
        (test.kind == ExprKind::name || test.kind == ExprKind::attribute || test.kind == ExprKind::call))
      return "not " + rank_test_;
    return "not (" + rank_test_ + ")";
  }

  bool hoist_statement(Fix& fix) {
    const OperationEvent& event = *guarded_.event;
    const values::CollectiveInfo* info = event.row->collective;
    const Stmt& stmt = *body_[at_];
    const std::string outer = source_.indentation(*guard_);
    const std::string inner = source_.indentation(*body_[0]);
    const std::string step = source_.step(*guard_, *body_[0]);
    const std::string end = source_.line_ending();
    const std::string own = source_.indentation(stmt);

    std::string before = block_text(body_, 0, at_);
    std::string call = reindent(block_text(body_, at_, at_ + 1), own, outer);
    const std::string after = block_text(body_, at_ + 1, body_.size());
    std::string make_buffer, take_back;

    if (info && info->sends_from_root) {
      if (info->tensor < 0) return false;  // what the other ranks need is no one argument
      const std::size_t tensor = static_cast<std::size_t>(info->tensor);
      const Expr* argument = argument_expression(*event.expr, event.row->parameters[tensor], tensor);
      if (!argument) return false;
      const auto buffer = [&](const Expr& made) {
        return buffer_like(record_, source_, event.argument_state(tensor), made);
      };
      if (argument->kind == ExprKind::name) {
        const Name name = as<NameExpr>(*argument).id;
        if (assigned_within(body_, at_, name)) {
          const Expr* made = maker_of(name);
          const std::string text = made ? buffer(*made) : std::string();
          if (text.empty()) return false;
          if (!assigned_within(other_, other_.size(), name))
            make_buffer = inner + std::string(name.text()) + " = " + text + end;
        }
      } else if (reads_local_of(*argument, body_, at_)) {
        const std::string text = buffer(*argument);
        if (text.empty()) return false;
        const Name source_name = single_name(*argument);
        const std::string name = fresh_name(
            source_name.empty() ? "buffer" : std::string(source_name.text()) + "_tensor");
        before += inner + name + " = " + std::string(source_.text(*argument)) + end;
        make_buffer = inner + name + " = " + text + end;
        const std::string old(source_.text(*argument));
        const auto found = call.find(old);
        if (found == std::string::npos) return false;
        call.replace(found, old.size(), name);
        if (!source_name.empty() && read_after(source_name))
          take_back = outer + std::string(source_name.text()) + " = " + name + ".item()" + end;
      }
    } else if (info && reads_local_of(*event.expr, body_, at_)) {
      return false;  // each rank would need a value of its own
    }

    std::string text;
    std::string others = block_text(other_, 0, other_.size());
    const bool needs_else = !make_buffer.empty() || !others.empty();
    const std::string guard_line = first_line();
    // The collective comes first, and what the others do instead has nothing to do with it: the guard stays
    // as it is.
    if (guarded_.on_yes && before.empty() && make_buffer.empty() && uniform_test_.empty() &&
        !others.empty() && !reads_local_of(*event.expr, other_, other_.size())) {
      text = call + take_back;
      if (!after.empty())
        text += guard_line + after + outer + "else:" + end + others;
      else
        text += outer + "if " + negated() + ":" + end + others;
      return finish(fix, text, outer, step);
    }
    if (guarded_.on_yes) {
      if (before.empty() && needs_else) text += outer + "if " + negated() + ":" + end + others + make_buffer;
      if (!before.empty()) {
        text += guard_line + before;
        if (needs_else) text += outer + "else:" + end + others + make_buffer;
      }
    } else {
      text += guard_line + others + make_buffer;
      if (!before.empty()) text += outer + "else:" + end + before;
    }
    text += call + take_back;
    if (!after.empty())
      text += (guarded_.on_yes ? outer + "if " + rank_test_ + ":" : outer + "if not (" + rank_test_ + "):") +
          end + after;
    return finish(fix, text, outer, step);
  }

  // The collective is part of an expression: `torch.save(model.state_dict(), path)`. Its value is made on all
  // ranks.
  bool hoist_value(Fix& fix) {
    const OperationEvent& event = *guarded_.event;
    if (!event.row->collective || event.row->collective->sends_from_root) return false;
    const StmtKind kind = body_[at_]->kind;
    if (kind != StmtKind::expression && kind != StmtKind::assign && kind != StmtKind::aug_assign &&
        kind != StmtKind::return_)
      return false;
    if (reads_local_of(*event.expr, body_, at_)) return false;
    const std::string outer = source_.indentation(*guard_);
    const std::string step = source_.step(*guard_, *body_[0]);
    const std::string end = source_.line_ending();
    std::string base = "result";
    if (event.expr->function->kind == ExprKind::attribute)
      base = std::string(as<AttributeExpr>(*event.expr->function).attribute.text());
    const std::string name = fresh_name(base);
    Span whole = source_.lines(*guard_, *last_stmt());
    std::string text(source_.slice(whole));
    if (!text.empty() && text.back() != '\n') text += end;
    const std::string old(source_.text(event.expr->span));
    const std::uint32_t at = source_.absolute(event.expr->span).begin - whole.begin;
    if (text.compare(at, old.size(), old) != 0) return false;
    text.replace(at, old.size(), name);
    if (!uniform_test_.empty()) {
      const auto header = source_.absolute(guard_->test->span);
      text.replace(header.begin - whole.begin, header.end - header.begin, rank_test_);
    }
    text = outer + name + " = " + old + end + text;
    return finish(fix, text, outer, step);
  }

  bool finish(Fix& fix, std::string text, const std::string& outer, const std::string& step) const {
    if (!uniform_test_.empty())
      text = outer + "if " + uniform_test_ + ":" + source_.line_ending() +
          reindent(text, outer, outer + step);
    const Span whole = source_.lines(*guard_, *last_stmt());
    const std::string_view old = source_.slice(whole);
    if (!old.empty() && old.back() != '\n' && !text.empty() && text.back() == '\n') text.pop_back();
    fix.edits.push_back({{source_.path(), whole}, text});
    return true;
  }

  const Stmt* last_stmt() const {
    return guard_->orelse.empty() ? guard_->body.back() : guard_->orelse.back();
  }

  std::string first_line() const {
    const std::string outer = source_.indentation(*guard_);
    const Span header = source_.absolute(guard_->header);
    std::string text(source_.slice(header));
    if (!uniform_test_.empty()) {
      const Span test = source_.absolute(guard_->test->span);
      text.replace(test.begin - header.begin, test.end - test.begin, rank_test_);
    }
    // A comment after the colon stays with it.
    const Span lines = source_.lines(*guard_, *guard_);
    std::string_view rest = source_.slice({header.end, lines.end});
    rest = rest.substr(0, rest.find_first_of("\r\n"));
    return outer + text + std::string(rest) + source_.line_ending();
  }

  static const Expr* argument_expression(const CallExpr& call, Name name, std::size_t index) {
    for (const Keyword& keyword : call.keywords)
      if (keyword.name == name) return keyword.value;
    if (index < call.arguments.size() && call.arguments[index]->kind != ExprKind::starred)
      return call.arguments[index];
    return nullptr;
  }
  const Expr* maker_of(Name name) const {
    const Expr* made = nullptr;
    for (std::size_t i = 0; i < at_; ++i)
      if (body_[i]->kind == StmtKind::assign && assigns(*body_[i], name))
        made = as<AssignStmt>(*body_[i]).value;
    return made;
  }
  // The one name in `torch.tensor([name])…`.
  static Name single_name(const Expr& expr) {
    Name found;
    for_each_expression(expr, [&](const Expr& part) {
      if (part.kind == ExprKind::list && as<ListExpr>(part).elements.size() == 1 &&
          as<ListExpr>(part).elements[0]->kind == ExprKind::name)
        found = as<NameExpr>(*as<ListExpr>(part).elements[0]).id;
    });
    return found;
  }
  std::vector<Enclosing> around() const {
    return enclosing(*record_.chunks[guarded_.guard->place.chunk].chunk->stmt, guard_->span);
  }
  bool read_after(Name name) const {
    for (std::size_t i = at_ + 1; i < body_.size(); ++i)
      if (reads_name(*body_[i], name)) return true;
    for (const Enclosing& level : around())
      for (std::size_t i = level.index + 1; i < level.block.size(); ++i)
        if (reads_name(*level.block[i], name)) return true;
    return false;
  }
  std::string fresh_name(std::string base) const {
    const std::string_view all = source_.slice({source_.absolute({0, 0}).begin,
        source_.absolute(record_.chunks[guarded_.guard->place.chunk].chunk->stmt->span).end});
    std::string name = base;
    for (int i = 2; all.find(name + " =") != std::string_view::npos; ++i)
      name = base + "_" + std::to_string(i);
    return name;
  }

  const Record& record_;
  const Guarded& guarded_;
  SourceLines source_;
  const IfStmt* guard_ = nullptr;
  Block body_, other_;
  std::size_t at_ = SIZE_MAX;
  std::string rank_test_, uniform_test_;
};

}  // namespace

std::vector<Fix> fixes_for(const Record& record, const Guarded& guarded) {
  return Hoist(record, guarded).fixes();
}

}  // namespace stepzero::rules
