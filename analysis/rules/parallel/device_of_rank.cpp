// parallel/device-of-rank: a process chooses its GPU by its number in the whole job, which is no number of a
// GPU of its node where there are several nodes. Knows jobs whose launcher says who is who, and what the
// program says of nodes.
#include "libraries/table/class_roles.hpp"
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::parallel::device_of_rank {

using namespace interpreter;
using namespace syntax;
using values::code;
using values::Kind;

namespace {

constexpr std::string_view by_launcher = "env://";
// Does the job ask its launcher how many processes there are, and which this one is?
bool is_launched(const Record& record) {
  bool made = false, told = false;
  visit_operations(
      record, libraries::is_call(libraries::FrameworkCall::makes_group), [&](const OperationEvent& event) {
        made = true;
        if (!event.expr) return;
        constexpr std::string_view saying[] = {"rank", "world_size", "store", ""};
        told = told || event.expr->arguments.size() > 2 ||
            std::ranges::any_of(event.expr->keywords, [&](const Keyword& each) {
              return std::ranges::find(saying, each.name.text()) != std::end(saying);
            });
        const Value where = argument(event, "init_method");
        told = told ||
            (where && !where.is(Kind::none) && !(where.is(Kind::string) && where.text() == by_launcher));
      });
  return made && !told;
}

bool is_rank(const Record& record, Value value) {
  const symbolic::AtomInfo* atom =
      value.is(Kind::integer) && value.integer() ? record.symbols.atom_info(value.integer()) : nullptr;
  return atom && atom->role == symbolic::Role::rank;
}

// Is the expression a part of a device: of the text `cuda:{rank}`, or an argument of what takes one?
bool names_device(const Record& record, Place place) {
  constexpr std::string_view text_before = "cuda:{";
  const ChunkOf& chunk = record.chunk(place);
  if (!chunk.chunk || !chunk.module) return false;
  if (place.span.begin >= text_before.size() &&
      record.text({place.chunk,
          {static_cast<std::uint32_t>(place.span.begin - text_before.size()), place.span.begin}}) ==
          text_before)
    return true;
  bool found = false;
  for_each_expression(*chunk.chunk->stmt, [&](const Expr& expr) {
    if (expr.kind != ExprKind::call) return;
    const auto& call = as<CallExpr>(expr);
    const std::string_view name = last_name(*call.function);
    if (!says(name, Says::moving)) return;
    for (const Expr* each : call.arguments) found = found || each->span == place.span;
  });
  return found;
}

void check(const Record& record, Report& report) {
  if (!record.roles[static_cast<int>(symbolic::Role::rank)] || !is_launched(record)) return;
  const Fact* first = nullptr;
  for (const Fact& fact : record.facts)
    if (fact.role == Fact::Role::expression && is_rank(record, fact.value) &&
        names_device(record, fact.place) &&
        (!first || record.span(fact.place).begin < record.span(first->place).begin))
      first = &fact;
  if (!first || program_says(record, Says::counting_on_node)) return;
  report.add(Severity::information, first->place, nullptr,
      "This chooses the GPU by the rank in the whole job: on a second node the ranks begin at the number of GPUs of the first, and \"invalid device ordinal\" is raised. Choose it by `int(os.environ[\"LOCAL_RANK\"])`, the number of the process on its node.");
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "parallel/device-of-rank",
    .severity = Severity::information,
    .summary = "the GPU of a process is chosen by its rank in the whole job",
    .why =
        "A launcher numbers the processes of a job from 0 on over all nodes, and each node numbers its GPUs from 0 on. On one node the two are the same; on the second of two nodes with 8 GPUs rank 8 asks for GPU 8: \"CUDA error: invalid device ordinal\".",
    .wrong = "dist.init_process_group(\"nccl\")\n"
             "torch.cuda.set_device(dist.get_rank())\n",
    .right = "dist.init_process_group(\"nccl\")\n"
             "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))\n",
    .silent =
        "Programs that speak of local ranks or count the GPUs of a node, and those that start the processes of one node themselves; jobs that are told their rank.",
    .fix = "None: which variable has the number is the launcher's affair.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::parallel::device_of_rank
