// launch/world-size: a launch asks for more processes than GPUs that they may see, or multiplies its
// processes.
#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/placement.hpp"
#include "rules/launch/program_rendezvous.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/launch/slurm.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::rules::launch::world_size {

namespace {

using documents::Setting;
using documents::Word;

// How many devices "0,1,2" names; nothing if it names them in another way.
std::optional<std::int64_t> devices_in(const std::string& text) {
  if (text.empty() ||
      !std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) || c == ','; }))
    return std::nullopt;
  return 1 + std::count(text.begin(), text.end(), ',');
}

// Does nothing that the script runs take a GPU? What trains with a framework takes them all.
bool is_without_gpus(const DocumentInput& input, const LaunchLine& line) {
  const auto script = line.script && line.script->is_known()
      ? script_file(
            input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read)
      : std::nullopt;
  return script &&
      !mentions(input.sources, *script,
          {"cuda", "nccl", "accelerat", "lightning", "Trainer", "deepspeed", "Fabric", "device_mesh"},
          input.read);
}

// The processes on each machine, as the file says that accelerate is launched with, and where it says it.
std::optional<std::pair<std::int64_t, Location>> processes_of_file(
    const DocumentInput& input, const LaunchLine& line) {
  const Word* file = line.launcher == Launcher::accelerate ? line.value("config_file") : nullptr;
  if (!file || !file->is_known() || !line.is_whole || line.value("num_processes") ||
      line.value("num_machines"))
    return std::nullopt;
  const auto path = script_file(
      input.sources, input.path, line.command->folder, file->text, false, input.read);
  const auto document = path ? input.other(*path) : std::nullopt;
  const Field* all = document && !document->is_broken ? document->root.find("num_processes") : nullptr;
  const Node* machines = all ? document->root.at("num_machines") : nullptr;
  // On several machines DeepSpeed's own launcher may start them.
  if (!all || !all->value.is(Node::Kind::integer) ||
      (machines && (!machines->is(Node::Kind::integer) || machines->integer < 1)) ||
      (document->root.at("deepspeed_config") && (!machines || machines->integer > 1)))
    return std::nullopt;
  return std::pair(all->value.integer / (machines ? machines->integer : 1), Location{*path, all->value.span});
}

void check_visible(const DocumentInput& input, const LaunchLine& line, DocumentReport& report) {
  const Setting* visible = set_for(*line.command, "CUDA_VISIBLE_DEVICES");
  auto processes = line.processes_per_node();
  const auto in_file = processes ? std::nullopt : processes_of_file(input, line);
  if (in_file) processes = in_file->first;
  // DeepSpeed's launcher sets the variable on its own.
  if (!visible || !processes || line.launcher == Launcher::deepspeed) return;
  const auto devices = devices_in(visible->value.text);
  if (!devices || *processes <= *devices) return;
  const Word* given = line.value(line.launcher == Launcher::accelerate ? "num_processes"
          : line.launcher == Launcher::fabric                          ? "devices"
                                                                       : "nproc_per_node");
  if (in_file) given = line.value("config_file");
  if (!given || is_without_gpus(input, line)) return;
  const bool sure = !visible->value.by_default && !given->by_default;
  Finding& finding = report.add(Severity::warning, given->written,
      std::to_string(*processes) + " processes on " +
          (*devices == 1 ? "1 visible GPU" : std::to_string(*devices) + " visible GPUs") +
          (sure ? "" : ", where nothing else is set") + ": local ranks from " + std::to_string(*devices) +
          " on have no device of their own, and `torch.cuda.set_device(local_rank)` fails with \"invalid device ordinal\". Start one process for each GPU");
  report.relate(finding, visible->value.written, "the GPUs that are visible");
  if (in_file) report.relate(finding, in_file->second, "the processes of the launch");
}

// DeepSpeed's launcher takes the devices by number or by name, and refuses both.
void check_resources(const LaunchLine& line, DocumentReport& report) {
  if (line.launcher != Launcher::deepspeed) return;
  const auto given = [&](std::string_view name) {
    const auto found = std::find_if(line.options.rbegin(), line.options.rend(), [&](const GivenOption& each) {
      return each.option && each.option->name == "--" + std::string(name);
    });
    return found == line.options.rend() ? nullptr : &*found;
  };
  for (const std::string_view number : {"num_gpus", "num_nodes"})
    for (const std::string_view filter : {"include", "exclude"}) {
      const GivenOption *counted = given(number), *named = given(filter);
      if (!counted || !named || !named->value || !counted->value) continue;
      const auto count = to_number(counted->value->text);
      if (!count || *count <= 0 || named->value->text.empty() || !named->value->is_known()) continue;
      const bool sure = !counted->value->by_default && !named->value->by_default &&
          !counted->flag.by_default && !named->flag.by_default;
      Finding& finding = report.add(sure ? Severity::error : Severity::warning, counted->flag.written,
          "`--" + std::string(number) + "` and `--" + std::string(filter) +
              "` exclude each other: deepspeed ends with \"Cannot specify num_nodes/gpus with include/exclude\". Leave one of them out");
      report.relate(finding, named->flag.written, "the devices are named here");
      return;
    }
}

void check_nodes(const LaunchLine& line, const Slurm& slurm, DocumentReport& report) {
  if (line.launcher != Launcher::torchrun && line.launcher != Launcher::torch_launch) return;
  const auto nodes = line.nodes(), processes = line.processes_per_node();
  const Word* given_nodes = line.value("nnodes");
  if (nodes && *nodes > 1 && given_nodes && line.has("standalone"))
    report.add(Severity::warning, given_nodes->written,
        "`--standalone` makes a job of one node; with `--nnodes " + given_nodes->text +
            "` it waits for nodes that never come. Remove one of the two");
  const Word* own = line.value("node_rank");
  if (const auto number = line.number("node_rank");
      own && number && nodes && given_nodes && *nodes > 0 && *number >= *nodes) {
    Finding& finding = report.add(Severity::warning, own->written,
        "the nodes are numbered from 0, and this one is " + std::to_string(*number) + " of " +
            std::to_string(*nodes) + ": the job waits for node " + std::to_string(*nodes - 1) +
            " and never begins. Number them from 0 to `--nnodes` - 1");
    report.relate(finding, given_nodes->written, "the nodes of the job");
  }
  if (line.wrapper == "srun" && slurm.tasks_per_node && *slurm.tasks_per_node->value > 1 && processes &&
      *processes > 1 && !line.command->is_conditional) {
    Finding& finding = report.add(Severity::warning, line.command->words[line.first].span,
        "`srun` starts `torchrun` " + std::to_string(*slurm.tasks_per_node->value) +
            " times on each node, and each starts " + std::to_string(*processes) +
            " processes. Start torchrun once per node: pass `--ntasks-per-node=1`");
    report.relate(finding, slurm.tasks_per_node->where, "tasks on each node");
    report.fix(finding, "Start one task on each node", false, slurm.tasks_per_node->digits, "1");
  }
}

// A process that is started by hand: ranks are counted from 0.
void check_rank(const LaunchLine& line, DocumentReport& report) {
  if (line.launcher != Launcher::python || !line.wrapper.empty()) return;
  for (const auto& [own, all] :
      {std::pair{"RANK", "WORLD_SIZE"}, std::pair{"LOCAL_RANK", "LOCAL_WORLD_SIZE"}}) {
    const Setting *rank = set_for(*line.command, own), *world = set_for(*line.command, all);
    const auto number = rank && rank->value.is_known() ? to_number(rank->value.text) : std::nullopt;
    const auto count = world && world->value.is_known() ? to_number(world->value.text) : std::nullopt;
    if (!number || !count || *count <= 0 || (*number >= 0 && *number < *count)) continue;
    Finding& finding = report.add(Severity::warning, rank->value.written,
        "`" + std::string(own) + "` is " + std::to_string(*number) + " of `" + all + "` " +
            std::to_string(*count) +
            ": ranks are counted from 0, so there is none of this number, and the group is never complete. Number them from 0");
    report.relate(finding, world->value.written, "the processes of the job");
    return;
  }
}

// What the batch file asks SLURM for, against what the launch takes for granted.
void check_allocation(const LaunchLine& line, const Slurm& slurm, DocumentReport& report) {
  if ((line.launcher != Launcher::torchrun && line.launcher != Launcher::torch_launch) ||
      line.command->is_conditional)
    return;
  const auto nodes = line.nodes(), processes = line.processes_per_node();
  const Word *given_nodes = line.value("nnodes"), *given_processes = line.value("nproc_per_node");
  if (slurm.gpus_per_node && processes && given_processes && !given_processes->by_default &&
      *processes > *slurm.gpus_per_node->value) {
    Finding& finding = report.add(Severity::warning, given_processes->written,
        "this launch starts " + std::to_string(*processes) + " processes on each node and asks SLURM for " +
            std::to_string(*slurm.gpus_per_node->value) +
            (*slurm.gpus_per_node->value == 1 ? " GPU" : " GPUs") +
            " there: the others have no device of their own, and fail with \"invalid device ordinal\". Start one process for each GPU");
    report.relate(finding, slurm.gpus_per_node->where, "the GPUs of each node");
  }
  if (!slurm.nodes || !nodes || !given_nodes || given_nodes->by_default) return;
  if (line.wrapper == "srun" && *nodes != *slurm.nodes->value &&
      std::none_of(line.command->words.begin(),
          line.command->words.begin() + static_cast<std::ptrdiff_t>(line.first), [](const Word& word) {
            return word.text.starts_with("-N") || word.text.starts_with("--nodes") || !word.is_known();
          })) {
    Finding& finding = report.add(Severity::warning, given_nodes->written,
        "`srun` starts `torchrun` on all " + std::to_string(*slurm.nodes->value) +
            " nodes of the job, but `--nnodes` is " + std::to_string(*nodes) +
            (*nodes < *slurm.nodes->value ? ": the others cannot join"
                                          : ": it waits for nodes that never come") +
            ". Make the two equal");
    report.relate(finding, slurm.nodes->where, "the nodes of the job");
  } else if (line.wrapper.empty() && *nodes > 1 && *slurm.nodes->value > 1) {
    Finding& finding = report.add(Severity::warning, given_nodes->written,
        "a batch file runs on the first node alone: torchrun waits there for " + std::to_string(*nodes) +
            " nodes, and no other node starts it. Launch `srun torchrun …`, one task on each node");
    report.relate(finding, slurm.nodes->where, "the nodes of the job");
  }
}

// Which GPU each process takes, as the program says it.
void check_placement(const DocumentInput& input, const LaunchLine& line, DocumentReport& report) {
  const auto nodes = line.nodes(), processes = line.processes_per_node();
  if ((line.launcher != Launcher::torchrun && line.launcher != Launcher::torch_launch) || !processes ||
      *processes < 2 || !line.script || !line.script->is_known())
    return;
  const auto script = script_file(
      input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read);
  if (!script) return;
  const std::string name = script->substr(script->rfind('/') + 1);
  const Word* given_nodes = line.value("nnodes");
  if (const auto place = nodes && *nodes > 1 && given_nodes
          ? device_by_global_rank(input.sources, *script, input.read)
          : std::nullopt) {
    Finding& finding = report.add(Severity::warning, given_nodes->written,
        "on the second of " + std::to_string(*nodes) + " nodes the ranks begin at " +
            std::to_string(*processes) + ", and `" + name + "` takes the GPU of its rank: a node with " +
            std::to_string(*processes) +
            " GPUs has none of that number, \"invalid device ordinal\". Take `int(os.environ[\"LOCAL_RANK\"])`");
    report.relate(finding, *place, "the rank among all processes chooses the device");
  }
  if (takes_any_gpu(input.sources, *script, input.read))
    report.add(Severity::warning, line.script->written,
        std::to_string(*processes) + " processes on a node, and nothing in `" + name +
            "` says which GPU each of them takes: all use the first, and NCCL refuses: \"Duplicate GPU detected\". Call `torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))` before anything is moved there");
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  const Slurm slurm = read_slurm(input.document);
  for (const LaunchLine& line : launch_lines(input.document.script)) {
    check_visible(input, line, report);
    check_resources(line, report);
    check_nodes(line, slurm, report);
    check_rank(line, report);
    check_allocation(line, slurm, report);
    check_placement(input, line, report);
  }
}

void check(const Record& record, Report& report) { check_spawned(record, report); }

}  // namespace

extern constexpr Rule rule = complete({
    .id = "launch/world-size",
    .severity = Severity::error,
    .summary = "the processes that a launch starts do not fit its GPUs or its nodes",
    .why =
        "Each process takes the GPU of its local rank. Where fewer are visible, \"CUDA error: invalid device ordinal\" ends the job; where two "
        "processes share one, NCCL refuses: \"Duplicate GPU detected\". A launcher that srun starts once per task multiplies the processes, "
        "and their ranks collide.",
    .wrong = "#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=0,1\ntorchrun --nproc_per_node 4 train.py\n",
    .right = "#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=0,1\ntorchrun --nproc_per_node 2 train.py\n",
    .silent =
        "Numbers that the text does not decide; DeepSpeed's launcher, which sets the visible GPUs itself.",
    .fix =
        "Offers one task on each node where srun multiplies the processes; else which of the numbers was meant cannot be seen.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

extern constexpr DocumentCheck document_check = {&rule, Role::script, check_document};

}  // namespace stepzero::rules::launch::world_size
