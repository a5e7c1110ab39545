// A function, or a class with one of its methods, goes on with a new body; or a statement with other comments
// in it. See body_edit.hpp, replay.hpp.
#include "interpreter/calls/called_names.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/roots/root_runner.hpp"
#include "interpreter/statements/module_loader.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <utility>

namespace stepzero::interpreter {

using namespace syntax;

namespace {

// The statements in two versions of the same text, pairwise. False: they are not versions of the same text.
bool pair_statements(
    const Stmt& run, const Stmt& written, std::vector<std::pair<const Stmt*, const Stmt*>>& pairs) {
  std::vector<const Stmt*> a, b;
  for_each_statement(run, [&](const Stmt& each) { a.push_back(&each); });
  for_each_statement(written, [&](const Stmt& each) { b.push_back(&each); });
  if (!std::ranges::equal(a, b, {}, &Stmt::kind, &Stmt::kind)) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) pairs.emplace_back(a[i], b[i]);
  return true;
}

// The same of a class, without the member that changed, if one did.
bool pair_members(const ClassStmt& run, const ClassStmt& written, std::size_t changed,
    std::vector<std::pair<const Stmt*, const Stmt*>>& pairs) {
  if (run.body.size() != written.body.size()) return false;
  pairs.emplace_back(&run, &written);
  for (std::size_t i = 0; i < run.body.size(); ++i)
    if (i != changed && !pair_statements(*run.body[i], *written.body[i], pairs)) return false;
  return true;
}

const FunctionStmt& function_at(const Stmt& stmt, const BodyEdit& edit) {
  return as<FunctionStmt>(edit.of == BodyEdit::Of::method ? *as<ClassStmt>(stmt).body[edit.member] : stmt);
}

}  // namespace

bool IncrementalRun::keep_standing(const std::shared_ptr<const Module>& module, std::size_t at) {
  const Item& now = module->items[at];
  const Chunk* const before = replay_.items[at].chunk;
  const auto known = replay_.chunks.find(before);
  if (known == replay_.chunks.end() || !replay_.copies.empty()) return false;
  const ChunkOf was = record_.chunks[known->second], is{run_.main_path_, module, now.chunk, now.offset, {}};
  const auto edit = find_body_edit(*before, was.text(), *now.chunk, is.text());
  if (!edit) return false;
  const auto stood = replay_.standing.find(before);
  StandingStatement standing =
      stood == replay_.standing.end() ? StandingStatement{before->stmt, {known->second}} : stood->second;
  std::vector<std::pair<const Stmt*, const Stmt*>> pairs;
  if (edit->of != BodyEdit::Of::function) {
    constexpr auto none = static_cast<std::size_t>(-1);
    const std::size_t member = edit->of == BodyEdit::Of::method ? edit->member : none;
    const bool paired = standing.stmt->kind == StmtKind::class_
        ? pair_members(as<ClassStmt>(*standing.stmt), as<ClassStmt>(*now.chunk->stmt), member, pairs)
        : pair_statements(*standing.stmt, *now.chunk->stmt, pairs);
    if (!paired) return false;
  }
  const FunctionStmt *body = nullptr, *new_body = nullptr;
  if (edit->of != BodyEdit::Of::comments) {
    body = &function_at(*standing.stmt, *edit);
    new_body = &function_at(*now.chunk->stmt, *edit);
    const auto function = run_.functions_.find(body);
    const bool method = edit->of == BodyEdit::Of::method;
    if (function == run_.functions_.end() || (function->second->owner != nullptr) != method ||
        (method && function->second->owner->stmt != standing.stmt))
      return false;
    // What the statements of the file did with it would have to be done again.
    const auto end = replay_.reached.begin() +
        static_cast<std::ptrdiff_t>(std::min(replay_.end.reached, replay_.reached.size()));
    if (std::find(replay_.reached.begin(), end, body) != end) return false;
    replay_.changed.bodies[body] = new_body;
    replay_.changed.calls = !call_the_same(record_.text({function->second->chunk, body->span}),
        module->text->slice(is.absolute(new_body->span)));
    replay_.changed.before.push_back(was);
    replay_.changed.now.push_back(is);
    if (std::ranges::any_of(replay_.items, [&](const ItemRun& item) { return differs(item.used); })) {
      replay_.changed = {};
      return false;
    }
  }
  for (const std::uint32_t index : standing.chunks) record_.chunks[index].moves.add(edit->where);
  const std::uint32_t index = run_.loader_->add_chunk(run_.main_path_, module, now);
  standing.chunks.push_back(index);
  if (edit->of == BodyEdit::Of::method) put_method(standing, *body, *new_body, edit->member, index);
  if (edit->of == BodyEdit::Of::function) {
    put_body(*body, *new_body, index);
    standing.stmt = new_body;
  }
  if (body) drop_unneeded(standing, index);
  if (!pairs.empty()) pairs.front().first = standing.stmt;
  for (const auto& [run, written] : pairs) record_.written[run] = written;
  record_.parts.erase(known->second);
  std::vector<Place>& parts = record_.parts[index];
  if (standing.stmt->kind == StmtKind::class_)
    for (const Stmt* part : as<ClassStmt>(*standing.stmt).body)
      if (const auto method = part->kind == StmtKind::function
              ? run_.functions_.find(&as<FunctionStmt>(*part))
              : run_.functions_.end();
          method != run_.functions_.end())
        parts.push_back({method->second->chunk, part->span});
  if (edit->of == BodyEdit::Of::function) parts.push_back({index, standing.stmt->span});
  parts.push_back({standing.chunks.front(), standing.stmt->span});
  replay_.standing.erase(before);
  replay_.standing[now.chunk.get()] = std::move(standing);
  replay_.chunks.erase(before);
  replay_.chunks[now.chunk.get()] = index;
  replay_.items[at].chunk = now.chunk.get();
  replay_.only_comments = !body;
  return true;
}

void IncrementalRun::put_method(StandingStatement& standing, const FunctionStmt& was, const FunctionStmt& is,
    std::size_t member, std::uint32_t chunk) {
  values::Class& cls = *run_.functions_.at(&was)->owner;
  const auto mended = std::ranges::find_if(
      replay_.mended, [&](const MergedClass& each) { return &each.stmt == standing.stmt; });
  if (mended == replay_.mended.end()) {
    const auto& first = as<ClassStmt>(*standing.stmt);
    MergedClass& made = replay_.mended.emplace_back(
        MergedClass{first, {first.body.begin(), first.body.end()}});
    made.body[member] = &is;
    made.stmt.body = made.body;
    for (const bool with_defaults : {false, true})
      if (auto unit = replay_.units.extract({standing.stmt, with_defaults}); !unit.empty()) {
        unit.key() = {&made.stmt, with_defaults};
        replay_.units.insert(std::move(unit));
      }
    standing.stmt = &made.stmt;
    cls.stmt = &made.stmt;
  } else {
    mended->body[member] = &is;
  }
  put_body(was, is, chunk);
}

void IncrementalRun::put_body(const FunctionStmt& was, const FunctionStmt& is, std::uint32_t chunk) {
  // What asked for its calls alone may stand, and has asked for those of the new body from now on.
  const auto ask_of_new = [&](Used& used) {
    if (used.calls.contains(&was)) used.calls.insert(&is);
  };
  for (ItemRun& item : replay_.items) ask_of_new(item.used);
  for (auto& [key, unit] : replay_.units) ask_of_new(unit.used);
  for (auto& [cls, numbers] : run_.roots_->default_numbers_) ask_of_new(numbers.used);
  values::Function& function = *run_.functions_.at(&was);
  run_.functions_.erase(&was);
  run_.functions_[&is] = &function;
  const auto put = [&](values::Function& each) {
    each.stmt = &is;
    each.parameters = is.parameters;
    each.chunk = chunk;
  };
  put(function);
  // A property with a setter is a copy of the one without.
  if (function.owner)
    for (const auto& [name, slot] : function.owner->body->names.entries())
      if (slot->value.is(values::Kind::function) && slot->value.as<values::Function>()->stmt == &was)
        put(*slot->value.as<values::Function>());
  run_.unseen_->forget_communication();
  record_.written.erase(&was);
}

// Chunks of older texts in which nothing is left that stands. The first one has what ran with the statement.
void IncrementalRun::drop_unneeded(StandingStatement& standing, std::uint32_t newest) {
  std::unordered_set<std::uint32_t> needed{standing.chunks.front(), newest};
  if (standing.stmt->kind == StmtKind::class_)
    for (const values::Function* each : run_.function_order_)
      if (each->owner && each->owner->stmt == standing.stmt) needed.insert(each->chunk);
  std::erase_if(standing.chunks, [&](std::uint32_t index) {
    if (needed.contains(index)) return false;
    drop_chunk(index);
    return true;
  });
}

}  // namespace stepzero::interpreter
