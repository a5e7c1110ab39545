// launch/deprecated-launcher: a job is started with torch.distributed.launch.
#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/parsers.hpp"
#include "rules/launch/placement.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/rule.hpp"

namespace stepzero::rules::launch::deprecated_launcher {

namespace {

// The word with the blank in front of it.
Span with_blank(const DocumentInput& input, Span word) {
  if (word.begin > 0 && input.document.text->bytes()[word.begin - 1] == ' ') --word.begin;
  return word;
}

// A script that was written for torch.distributed.launch: its local rank comes as an argument, which torchrun
// does not hand over.
void check_local_rank(const DocumentInput& input, const LaunchLine& line, DocumentReport& report) {
  const auto processes = line.processes_per_node();
  if (!line.script || !line.script->is_known() || (processes && *processes < 2) ||
      !line.has("nproc_per_node"))
    return;
  const auto path = script_file(
      input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read);
  if (!path) return;
  const ScriptOptions options = options_of_script(input.sources, *path, input.read);
  const DeclaredOption *underscore = options.find("--local_rank"), *hyphen = options.find("--local-rank"),
                       *declared = underscore ? underscore : hyphen;
  if (!declared || declared->is_required) return;
  for (const documents::Word& word : line.arguments)
    if (word.text.find_first_of("\x01\x02") != std::string::npos || word.text.starts_with("--local")) return;
  if (!needs_local_rank_argument(input.sources, *path, input.read)) return;
  Finding& finding = report.add(Severity::warning, line.script->written,
      "`torchrun` hands no `" + declared->flags.front() +
          "` to the script: in every process it keeps its default, and all of them use the same GPU. Read `int(os.environ[\"LOCAL_RANK\"])` in its place");
  report.relate(finding, declared->where, "declared here");
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  for (const LaunchLine& line : launch_lines(input.document.script)) {
    if (line.launcher == Launcher::torchrun) {
      check_local_rank(input, line, report);
      for (const GivenOption& given : line.options)
        if (!given.option && (given.flag.text == "--use_env" || given.flag.text == "--use-env")) {
          Finding& finding = report.add(Severity::error, given.flag.written,
              "`torchrun` has no `" + given.flag.text +
                  "`: it always hands the rank over in the environment, and refuses the option. Remove it");
          if (given.flag.written == given.flag.span)
            report.fix(finding, "Remove " + given.flag.text, true, with_blank(input, given.flag.span), "");
        }
      continue;
    }
    if (line.launcher != Launcher::torch_launch) continue;
    const auto& words = line.command->words;
    std::size_t module = line.first;
    while (module + 1 < words.size() && words[module].text != "torch.distributed.launch") ++module;
    const Span where{words[line.first].span.begin, words[module].span.end};
    const bool by_environment = line.has("use_env");
    Finding& finding = report.add(Severity::information, where,
        by_environment
            ? "`torch.distributed.launch` is deprecated. Launch with `torchrun`, which does the same with the same options, without `--use_env`"
            : "`torch.distributed.launch` is deprecated. It hands the script `--local-rank`, since PyTorch 2.0 with a hyphen. Launch with `torchrun`, which hands nothing over, and read `LOCAL_RANK` from the environment");
    if (!by_environment || module != line.first + 2 || words[line.first].written != words[line.first].span)
      continue;
    const GivenOption* flag = nullptr;
    for (const GivenOption& given : line.options)
      if (given.flag.text == "--use_env" || given.flag.text == "--use-env") flag = &given;
    if (!flag || flag->flag.written != flag->flag.span) continue;
    finding.fixes.push_back({"Launch with torchrun", true,
        {{{input.path, where}, "torchrun"}, {{input.path, with_blank(input, flag->flag.span)}, ""}}});
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "launch/deprecated-launcher",
    .severity = Severity::error,
    .summary = "a job is started with torch.distributed.launch, or with its options",
    .why =
        "`python -m torch.distributed.launch` is deprecated, and hands each script `--local-rank=N` (before PyTorch 2.0 `--local_rank=N`), which "
        "a parser that declares only the one spelling refuses with the other version. `torchrun` takes the same options and sets "
        "`LOCAL_RANK`, `RANK` and `WORLD_SIZE` in the environment; it has no `--use_env`. A script that takes `args.local_rank` gets its default "
        "there, in every process.",
    .wrong = "#!/bin/bash\npython -m torch.distributed.launch --use_env --nproc_per_node 8 train.py\n",
    .right = "#!/bin/bash\ntorchrun --nproc_per_node 8 train.py\n",
    .silent = "Other launchers.",
    .fix = "With `--use_env` the script reads the environment already: `torchrun` takes its place.",
    .fix_kind = FixKind::always_right,
    .check = check_no_run,
});

extern constexpr DocumentCheck document_check = {&rule, Role::script, check_document};

}  // namespace stepzero::rules::launch::deprecated_launcher
