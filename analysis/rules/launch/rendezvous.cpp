// launch/rendezvous: the processes of a launch cannot find each other. The document that is checked is a
// script; of the program that it starts the text is read, not a run: one program is started by many lines,
// and a run for each would cost more than the file that is open.
#include "rules/documents/check.hpp"
#include "rules/launch/declarations.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/program_rendezvous.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/launch/slurm.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::launch::rendezvous {

namespace {

using documents::Setting;
using documents::Word;

constexpr std::int64_t last_port = 65535;

// The port that the processes meet at, where it is written.
const Word* port_of(const LaunchLine& line) {
  if (line.launcher == Launcher::accelerate) return line.value("main_process_port");
  if (line.launcher == Launcher::fabric) return line.value("main_port");
  return line.value("master_port");
}

// The port of "host:29400", where the nodes meet.
void check_endpoint(const LaunchLine& line, DocumentReport& report) {
  const Word* endpoint = line.value("rdzv_endpoint");
  if (!endpoint || !endpoint->is_known() || endpoint->text.rfind(':') == std::string::npos) return;
  const std::string port = endpoint->text.substr(endpoint->text.rfind(':') + 1);
  const auto number = to_number(port);
  if (number && (*number > last_port || *number < 0))
    report.add(endpoint->by_default ? Severity::warning : Severity::error, endpoint->written,
        "there is no port " + port +
            ": the highest is 65535, and the processes never meet. Choose a lower port");
}

// torchrun itself listens at the port of the job: a program that makes a store of its own there cannot.
void check_own_store(const DocumentInput& input, const LaunchLine& line, DocumentReport& report) {
  if (line.launcher != Launcher::torchrun || !line.is_whole || !line.script || !line.script->is_known() ||
      line.has("standalone") || line.has("rdzv_endpoint") || line.has("rdzv_backend"))
    return;
  const Word* given = line.value("master_port");
  if (given && !given->is_known()) return;
  const std::string port = given ? given->text : "29500";
  const auto path = script_file(
      input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read);
  const auto module = path ? input.sources.module(*path) : nullptr;
  if (!module) return;
  for (const syntax::Item& item : module->items) {
    if (!item.chunk->stmt) continue;
    for_each_expression(*item.chunk->stmt, [&](const syntax::Expr& expr) {
      if (expr.kind != syntax::ExprKind::call) return;
      const auto& call = syntax::as<syntax::CallExpr>(expr);
      if (last_name(*call.function) != "init_process_group") return;
      const syntax::Expr* method = keyword(call, "init_method");
      const std::string_view text = literal(method);
      if (text != "tcp://localhost:" + port && text != "tcp://127.0.0.1:" + port) return;
      Finding& finding = report.add(Severity::warning, line.script->written,
          "`torchrun` listens at port " + port + (given ? "" : ", its default,") +
              " for the job, and the program makes a store of its own at the same: \"address already in use\". Leave `init_method` out: `init_process_group` then reads what torchrun sets");
      report.relate(finding,
          Location{*path, {method->span.begin + item.offset, method->span.end + item.offset}},
          "the ranks are told to meet here");
    });
  }
}

void check_port(const LaunchLine& line, DocumentReport& report) {
  const Word* port = port_of(line);
  if (!port || !port->is_known()) return;
  const auto number = to_number(port->text);
  if (!number)
    report.add(port->by_default ? Severity::warning : Severity::error, port->written,
        "the port `" + port->text + "` is no number: the launcher refuses it");
  else if (*number > last_port || *number < 0)
    report.add(port->by_default ? Severity::warning : Severity::error, port->written,
        "there is no port " + port->text +
            ": the highest is 65535, and the processes never meet. Choose a lower port");
}

// How many processes srun is asked for, where the command says it.
std::optional<std::int64_t> tasks_of_srun(const LaunchLine& line, const Slurm& batch) {
  const auto of_batch = [](const std::optional<SlurmNumber>& asked) {
    return asked ? asked->value : std::nullopt;
  };
  const auto value = [&](std::string_view brief, std::string_view name) -> std::optional<std::int64_t> {
    const auto& words = line.command->words;
    for (std::size_t i = 1; i < line.first; ++i) {
      const std::string& word = words[i].text;
      if ((word == brief || word == name) && i + 1 < line.first) return to_number(words[i + 1].text);
      if (word.starts_with(std::string(name) + "="))
        return to_number(std::string_view(word).substr(name.size() + 1));
      if (word.size() > brief.size() && word.starts_with(brief) && !word.starts_with("--"))
        return to_number(std::string_view(word).substr(brief.size()));
    }
    return std::nullopt;
  };
  if (const auto tasks = value("-n", "--ntasks")) return tasks;
  const auto each = value("--ntasks-per-node", "--ntasks-per-node");
  const auto nodes = value("-N", "--nodes");
  if (each) return *each * nodes.value_or(of_batch(batch.nodes).value_or(1));
  if (const auto tasks = of_batch(batch.tasks)) return tasks;
  const auto per_node = of_batch(batch.tasks_per_node);
  return per_node ? std::optional(*per_node * nodes.value_or(of_batch(batch.nodes).value_or(1)))
                  : std::nullopt;
}

bool is_of_this_machine(std::string_view address) {
  return address.empty() || address == "localhost" || address == "127.0.0.1" ||
      address.starts_with("localhost:") || address.starts_with("127.0.0.1:");
}

void check_nodes(const LaunchLine& line, DocumentReport& report) {
  if ((line.launcher != Launcher::torchrun && line.launcher != Launcher::torch_launch) || !line.is_whole ||
      line.has("standalone"))
    return;
  const auto nodes = line.nodes();
  const Word* given = line.value("nnodes");
  if (!nodes || *nodes < 2 || !given || given->by_default) return;
  const Word* backend = line.value("rdzv_backend");
  const Word* endpoint = line.value("rdzv_endpoint");
  const Word* address = line.value("master_addr");
  for (const std::string_view name :
      {"PET_NODE_RANK", "PET_MASTER_ADDR", "PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND"})
    if (set_for(*line.command, name)) return;
  const bool is_static = !backend || backend->text == "static";
  if (is_static && !line.has("node_rank") && !endpoint) {
    report.add(Severity::warning, given->written,
        "a job of " + given->text +
            " nodes needs `--node_rank` on each of them, or `--rdzv_backend c10d` with `--rdzv_endpoint`: every node takes itself for node 0, and waits. Add one of the two");
    return;
  }
  const Word* place = is_static ? address : endpoint;
  if (is_static && !address && endpoint) place = endpoint;
  // Node 0 may call itself so, where the others are launched otherwise.
  const Word* own = line.value("node_rank");
  if (is_static && place && own && own->text == "0" && !own->by_default) return;
  if (place ? place->is_known() && is_of_this_machine(place->text) : is_static)
    report.add(Severity::warning, place ? place->written : given->written,
        std::string("the nodes of a job of ") + given->text + " meet at the address of node 0; " +
            (place ? "`" + place->text + "`"
                   : "127.0.0.1, which stands where `--master_addr` is not given,") +
            " is each node itself. Pass the address of node 0");
}

// What knows SLURM, MPI or files, or hands the processes on to a framework or to others.
constexpr std::string_view knows_others[] = {"SLURM", "submitit", "hostlist", "mpi4py", "OMPI_", "PMI_",
    "rank=", "store=", "environ[\"RANK\"] =", "environ['RANK'] =", "setdefault(\"RANK\"", "environ.update",
    "mp.spawn", "subprocess", "accelerate", "lightning", "deepspeed", "Trainer", "ray.", "composer"};
bool knows_other_ways(const DocumentInput& input, const std::string& path) {
  // `env://` is what stands where nothing is given.
  if (mentions(input.sources, path, {"init_method"}, input.read) &&
      !mentions(input.sources, path, {"init_method=\"env://\"", "init_method='env://'"}, input.read))
    return true;
  return std::ranges::any_of(
      knows_others, [&](std::string_view word) { return mentions(input.sources, path, {word}, input.read); });
}

// Every run of the file comes to the place: only `if __name__ == "__main__"` stands around it, and around the
// calls of the function that it stands in.
bool is_always_reached(
    const syntax::Module& module, const syntax::Stmt& root, syntax::Span span, int depth = 0) {
  using syntax::StmtKind;
  const syntax::FunctionStmt* function = nullptr;
  for (const Enclosing& each : enclosing(root, span)) {
    if (each.stmt->kind == StmtKind::function) {
      if (function) return false;
      function = &syntax::as<syntax::FunctionStmt>(*each.stmt);
    } else if (each.stmt->kind == StmtKind::if_) {
      const syntax::Expr& test = *syntax::as<syntax::IfStmt>(*each.stmt).test;
      const bool is_main = test.kind == syntax::ExprKind::compare && !function &&
          module.text->bytes().find("__main__") != std::string::npos;
      if (!is_main) return false;
    } else if (each.stmt->kind == StmtKind::class_ || each.stmt->kind == StmtKind::try_ ||
        each.stmt->kind == StmtKind::while_ || each.stmt->kind == StmtKind::match) {
      return false;
    }
  }
  if (!function) return true;
  constexpr int deepest_caller = 2;  // `main` calls `run` calls `setup`
  if (depth > deepest_caller || !function->decorators.empty()) return false;
  bool called = false, always = true;
  for (const syntax::Item& item : module.items)
    if (item.chunk->stmt)
      for_each_expression(*item.chunk->stmt, [&](const syntax::Expr& expr) {
        if (expr.kind != syntax::ExprKind::name || syntax::as<syntax::NameExpr>(expr).id != function->name)
          return;
        called = true;
        always = always && is_always_reached(module, *item.chunk->stmt, expr.span, depth + 1);
      });
  return called && always;
}

// Started by Python alone, a program has none of the variables that a launcher sets.
void check_alone(const DocumentInput& input, const LaunchLine& line, DocumentReport& report) {
  const std::string& text = input.document.text->bytes();
  if (line.launcher != Launcher::python || !line.wrapper.empty() || line.command->is_conditional ||
      !line.script || !line.script->is_known() || text.find("RANK") != std::string::npos ||
      text.find("MASTER_") != std::string::npos)
    return;
  const auto path = script_file(
      input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read);
  const auto module = path ? input.sources.module(*path) : nullptr;
  if (!module || module->text->bytes().find("init_process_group(") == std::string::npos ||
      mentions(input.sources, *path, {"environ", "getenv", "spawn("}, input.read) ||
      knows_other_ways(input, *path))
    return;
  std::optional<Location> made;
  for (const syntax::Item& item : module->items) {
    if (!item.chunk->stmt) continue;
    for_each_expression(*item.chunk->stmt, [&](const syntax::Expr& expr) {
      if (expr.kind == syntax::ExprKind::call &&
          last_name(*syntax::as<syntax::CallExpr>(expr).function) == "init_process_group" &&
          is_always_reached(*module, *item.chunk->stmt, expr.span))
        made = Location{*path, {expr.span.begin + item.offset, expr.span.end + item.offset}};
    });
  }
  if (!made) return;
  Finding& finding = report.add(Severity::warning, line.script->written,
      "`python` sets no `RANK`, `WORLD_SIZE` or `MASTER_ADDR`: `init_process_group` raises \"environment variable RANK expected, but not set\". Launch with `torchrun --nproc_per_node`");
  report.relate(finding, *made, "the process group is made here");
}

// srun numbers the processes as SLURM does: SLURM_PROCID, and no RANK. Who makes a group from the environment
// has to be told by the script.
void check_srun(const DocumentInput& input, const LaunchLine& line, DocumentReport& report) {
  if (line.launcher != Launcher::python || line.wrapper != "srun" || !line.script ||
      !line.script->is_known() || set_for(*line.command, "RANK") ||
      input.document.text->bytes().find("RANK=") != std::string::npos)
    return;
  const auto tasks = tasks_of_srun(line, read_slurm(input.document));
  if (!tasks || *tasks < 2) return;
  const auto path = script_file(
      input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read);
  if (!path || !mentions(input.sources, *path, {"init_process_group("}, input.read)) return;
  if (knows_other_ways(input, *path)) return;
  Finding& finding = report.add(Severity::warning, line.script->written,
      "`srun` starts " + std::to_string(*tasks) +
          " processes and sets `SLURM_PROCID`, not `RANK`: `init_process_group` raises \"environment variable RANK expected, but not set\". Launch with torchrun on each node, or set `RANK`, `WORLD_SIZE` and `LOCAL_RANK` from SLURM's variables");
  report.relate(finding, line.command->words.front().span, "srun starts them here");
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  struct Job {
    const LaunchLine* line;
    std::string port;
  };
  const std::vector<LaunchLine> lines = launch_lines(input.document.script);
  std::vector<Job> after;  // those that still run where the next begins
  const documents::ShellCommand* last = nullptr;
  const std::string_view text = input.document.text->bytes();
  for (const LaunchLine& line : lines) {
    check_port(line, report);
    check_endpoint(line, report);
    check_own_store(input, line, report);
    check_nodes(line, report);
    check_srun(input, line, report);
    check_alone(input, line, report);
    if (last && std::any_of(last, line.command, [](const documents::ShellCommand& each) {
          return !each.words.empty() && each.words.front().text == "wait";
        }))
      after.clear();
    last = line.command;
    if (line.launcher != Launcher::torchrun && line.launcher != Launcher::torch_launch) continue;
    if (!line.is_whole || line.command->is_conditional || !line.wrapper.empty() || line.has("standalone") ||
        line.has("rdzv_endpoint") || line.has("rdzv_backend"))
      continue;
    const Word* port = port_of(line);
    if (port && !port->is_known()) continue;
    const std::string own = port ? port->text : "29500";
    for (const Job& other : after)
      if (other.port == own && line.script && other.line->script) {
        Finding& finding = report.add(Severity::warning,
            port ? port->written : line.command->words[line.first].span,
            "two jobs of one machine meet at port " + own +
                (port ? "" : ", which stands where `--master_port` is not given") +
                ": the second fails with \"address already in use\" while the first runs. Give each its own `--master_port`");
        report.relate(finding, other.line->command->words[other.line->first].span,
            "this one still runs: it was started with `&`");
        break;
      }
    std::size_t end = line.command->span.end;
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
    const bool in_background = end < text.size() && text[end] == '&' &&
        (end + 1 == text.size() || text[end + 1] != '&');
    if (in_background) after.push_back({&line, own});
  }
}

void check(const Record& record, Report& report) { check_program_rendezvous(record, report); }

}  // namespace

extern constexpr Rule rule = complete({
    .id = "launch/rendezvous",
    .severity = Severity::error,
    .summary = "the processes of a launch cannot find each other",
    .why =
        "All processes of a job connect to one address and one port on node 0. A port above 65535 does not exist; with 127.0.0.1 each node waits "
        "for itself; a node without a number of its own is node 0 as well; srun alone numbers no rank. Nothing fails at once: the job waits until a time limit ends it, "
        "after 10 or 30 minutes.",
    .wrong = "#!/bin/bash\ntorchrun --nnodes 2 --nproc_per_node 8 train.py\n",
    .right =
        "#!/bin/bash\ntorchrun --nnodes 2 --nproc_per_node 8 --node_rank $NODE_RANK --master_addr $MASTER_ADDR train.py\n",
    .silent = "Launches of which not every word is known; jobs of one node.",
    .fix = "None yet: the address is not in the text.",
    .fix_kind = FixKind::none,
    .check = check,
});

extern constexpr DocumentCheck document_check = {&rule, Role::script, check_document};

}  // namespace stepzero::rules::launch::rendezvous
