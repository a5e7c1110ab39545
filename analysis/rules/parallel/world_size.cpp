// parallel/world-size: layouts of processes that do not come out: sizes that do not multiply to the world,
// heads that the ranks cannot share, lists of groups that overlap or leave ranks out.
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/source.hpp"
#include "rules/specialized.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_set>

namespace stepzero::rules::parallel::world_size {

using values::Kind;

namespace {

std::string list_text(const std::vector<std::int64_t>& ranks) {
  std::string text = "[";
  for (const std::int64_t rank : ranks) text += (text.size() > 1 ? ", " : "") + std::to_string(rank);
  return text + "]";
}

// Groups that one loop makes from a list that the program writes.
struct Groups {
  const OperationEvent* first = nullptr;
  std::vector<std::vector<std::int64_t>> lists;
  bool known = true;
};

// Is a group kept in one name alone, which the next iteration gives another one? Groups in a list, or in a
// name for each kind, stay what they are.
bool is_lost_in_next_iteration(const Record& record, const OperationEvent& made) {
  const auto& chunk = record.chunk(made.place);
  if (!chunk.chunk || !chunk.chunk->stmt) return false;
  const auto path = enclosing(*chunk.chunk->stmt, made.place.span);
  const auto loop = std::find_if(path.rbegin(), path.rend(),
      [](const Enclosing& around) { return around.stmt->kind == syntax::StmtKind::for_; });
  if (loop == path.rend() || path.back().stmt->kind != syntax::StmtKind::assign) return false;
  const auto& made_here = syntax::as<syntax::AssignStmt>(*path.back().stmt);
  if (made_here.targets.size() != 1 || made_here.targets[0]->kind != syntax::ExprKind::name ||
      made_here.value->span.begin != made.place.span.begin)
    return false;
  const syntax::Name name = syntax::as<syntax::NameExpr>(*made_here.targets[0]).id;
  const auto is_it = [&](const syntax::Expr& expr) {
    return expr.kind == syntax::ExprKind::name && syntax::as<syntax::NameExpr>(expr).id == name;
  };
  std::size_t reads = 0, kept = 0;
  for_each_expression(*loop->stmt, [&](const syntax::Expr& expr) { reads += is_it(expr); });
  std::set<std::string_view> keepers;
  for_each_statement(*loop->stmt, [&](const syntax::Stmt& stmt) {
    if (stmt.kind != syntax::StmtKind::assign) return;
    const auto& assign = syntax::as<syntax::AssignStmt>(stmt);
    if (!is_it(*assign.value)) return;
    ++kept;
    for (const syntax::Expr* target : assign.targets)
      keepers.insert(target->kind == syntax::ExprKind::name || target->kind == syntax::ExprKind::attribute
              ? record.text({made.place.chunk, target->span})
              : std::string_view{});
  });
  return reads == kept && keepers.size() <= 1 && !keepers.contains(std::string_view{});
}

void judge(const Record& record, Report& report, const Groups& groups) {
  if (!groups.known || groups.lists.size() < 2) return;
  const bool is_lost = is_lost_in_next_iteration(record, *groups.first);
  std::map<std::int64_t, std::size_t> group_of;
  for (std::size_t i = 0; i < groups.lists.size(); ++i)
    for (const std::int64_t rank : groups.lists[i]) {
      const auto [found, is_new] = group_of.emplace(rank, i);
      if (is_new || found->second == i || !is_lost) continue;
      report.add(Severity::warning, groups.first->place, groups.first->calls,
          "Rank " + std::to_string(rank) + " is in two of the groups that are made here, " +
              values::code(list_text(groups.lists[found->second])) + " and " +
              values::code(list_text(groups.lists[i])) +
              ": it keeps the later one, and the others of the first wait for it. Make groups that have no rank in common.");
      return;
    }
  const std::int64_t last = group_of.rbegin()->first;
  for (std::int64_t rank = 0; rank < last; ++rank)
    if (!group_of.contains(rank)) {
      report.add(Severity::warning, groups.first->place, groups.first->calls,
          "Rank " + std::to_string(rank) +
              " is in none of the groups that are made here, though ranks up to " + std::to_string(last) +
              " are. Put every rank into one.");
      return;
    }
}

// Meshes and groups in a world whose size the program itself gives.
void meshes(const Record& record, Report& report) {
  struct JobRun {
    const interpreter::Root* root = nullptr;
    const OperationEvent* made = nullptr;
    std::int64_t size = 0;
  } world;
  Once once;
  const auto told = [&](const OperationEvent& event, Severity severity, const std::string& message) {
    if (!once(event.place)) return;
    if (Finding* finding = report.add(severity, event.place, event.calls, message)) {
      report.relate(*finding, world.made->place,
          "the world is made of " + std::to_string(world.size) + " processes here");
      report.relate_calls(*finding, event.calls);
    }
  };
  const auto is_of_groups = [](const values::Row& row) {
    return row.collective || row.operation == values::Operation::group_settings;
  };
  const auto look = [&](const OperationEvent& made, const interpreter::Root& root) {
    if (made.row->operation == values::Operation::group_settings && made.arguments.size() > 3) {
      const auto size = record.number(made.arguments[3]);
      world = size && *size > 0 ? JobRun{&root, &made, *size} : JobRun{};
      return;
    }
    if (world.root != &root || !made.row->collective || made.arguments.size() < 2) return;
    if (made.row->collective->makes_group) {
      const auto* list = made.list_state(0);
      for (std::size_t i = 0; list && !list->open && i < list->items.size(); ++i)
        if (const auto rank = record.number(list->items[i]); rank && *rank >= world.size)
          return told(made, Severity::error,
              "There is no rank " + std::to_string(*rank) + " in a world of " + std::to_string(world.size) +
                  ": `new_group` raises \"the new group's rank should be within "
                  "the world_size set by init_process_group\". Name ranks that there are.");
      return;
    }
    const Value shape = argument(made, "mesh_shape");
    if (!shape.is(Kind::tuple)) return;
    std::int64_t product = 1;
    std::string text;
    for (const Value& item : shape.as<values::Tuple>()->items) {
      const auto size = record.number(item);
      if (!size || *size <= 0 || *size > 1'000'000 || product > 1'000'000'000) return;
      product *= *size;
      text += (text.empty() ? "" : " × ") + std::to_string(*size);
    }
    text += " = " + std::to_string(product);
    if (product > world.size)
      told(made, Severity::error,
          "The mesh has " + text + " ranks, and the world has " + std::to_string(world.size) +
              ": `init_device_mesh` raises \"Mesh should not be bigger than default world size\". Make the two equal.");
    else if (product < world.size)
      told(made, Severity::warning,
          "The mesh has " + text + " ranks, and the world has " + std::to_string(world.size) +
              ": the others are in none of its groups, and a collective that they enter alone hangs. Make the two equal.");
  };
  for (const auto* list : {&record.roots, &record.default_roots})
    for (const auto& root : *list)
      if (root->defaults.empty())
        visit_operations(record, *root, is_of_groups, [&](const OperationEvent& made) { look(made, *root); });
}

// `if tp * pp * dp != world_size: raise …`, where that is so: an assertion in other words.
void checks(const Record& record, Report& report) {
  std::unordered_set<const syntax::Stmt*> open;  // what is decided in one way only at some times
  std::vector<const Event*> raised;
  visit_kind(record, interpreter::EventKind::branch,
      [&](const Event& event) { open.insert(static_cast<const interpreter::BranchEvent&>(event).stmt); });
  visit_kind(record, interpreter::EventKind::exit, [&](const Event& event) {
    if (!record.in_file(event.place)) return;
    if (const auto& exit = static_cast<const interpreter::ExitEvent&>(event);
        exit.exit == interpreter::ExitKind::raise && exit.fails)
      raised.push_back(&event);
  });
  std::set<std::pair<std::uint32_t, std::uint32_t>> told;
  for (const Event* event : raised) {
    const auto& chunk = record.chunk(event->place);
    if (!chunk.chunk || !chunk.chunk->stmt) continue;
    const auto path = enclosing(*chunk.chunk->stmt, event->place.span);
    if (path.size() < 2 || path.back().stmt->kind != syntax::StmtKind::raise ||
        path[path.size() - 2].stmt->kind != syntax::StmtKind::if_)
      continue;
    // Who handles a failure means to end the program.
    const bool handles = std::ranges::any_of(path, [&](const Enclosing& level) {
      return level.stmt->kind == syntax::StmtKind::try_ &&
          std::ranges::any_of(syntax::as<syntax::TryStmt>(*level.stmt).handlers,
              [&](const syntax::ExceptHandler& handler) { return handler.span.holds(event->place.span); });
    });
    if (handles) continue;
    const auto& guard = syntax::as<syntax::IfStmt>(*path[path.size() - 2].stmt);
    if (open.contains(&guard) || guard.body.empty() || guard.body.data() != path.back().block.data() ||
        guard.test->kind != syntax::ExprKind::compare)
      continue;
    const std::string_view test = record.text({event->place.chunk, guard.test->span});
    if (!(says(test, Says::layout) ||
            says(record.text({event->place.chunk, path.back().stmt->span}), Says::processes)) ||
        !told.insert({event->place.chunk, guard.span.begin}).second)
      continue;
    report.add(Severity::error, {event->place.chunk, guard.test->span}, event->calls,
        "This check always fails: " + values::code(test) +
            " holds here, and the program stops. Correct the sizes that it compares.");
  }
}

void check(const Record& record, Report& report) {
  checks(record, report);
  report_specialized(record, report, "parallel/world-size",
      [&](const ProblemEvent& problem) { return text_of(record, problem); });

  meshes(record, report);
  std::map<std::pair<std::uint32_t, std::uint32_t>, Groups> by_place;
  const auto makes_group = [](const values::Row& row) {
    return row.collective && row.collective->makes_group;
  };
  visit_operations(record, makes_group, [&](const OperationEvent& made) {
    if (made.arguments.empty()) return;
    Groups& groups = by_place[{made.place.chunk, made.place.span.begin}];
    if (!groups.first) groups.first = &made;
    groups.known = groups.known && groups.first->calls == made.calls;
    const auto* list = made.list_state(0);
    if (!list || list->open) {
      groups.known = false;
      return;
    }
    std::vector<std::int64_t> ranks;
    for (const Value& item : list->items) {
      const auto rank = record.number(item);
      if (!rank) {
        groups.known = false;
        return;
      }
      ranks.push_back(*rank);
    }
    groups.lists.push_back(std::move(ranks));
  });
  for (const auto& [place, groups] : by_place) judge(record, report, groups);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "parallel/world-size",
    .severity = Severity::error,
    .summary = "a layout of processes that does not fit their number",
    .why =
        "Tensor, pipeline and data parallel sizes multiply to the number of processes; the ranks of a tensor-parallel group share the heads evenly; and each rank is in exactly one group of "
        "each kind. Where the numbers do not come out, the program stops at its own assertion, or ranks wait in groups that others have left.",
    .wrong = "world_size, tp, pp, dp = 16, 4, 2, 4\n"
             "assert tp * pp * dp == world_size                 # 32\n",
    .right = "world_size, tp, pp, dp = 16, 4, 2, 2\n"
             "assert tp * pp * dp == world_size\n",
    .silent =
        "Sizes that are not known, or come from the command line or the environment. Groups from different loops, where each rank is in one of each kind; groups that overlap "
        "and are all kept, in a list or in a name for each kind.",
    .fix = "None: decide which of the sizes is meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::parallel::world_size
