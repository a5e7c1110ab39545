// Arguments as the command line library reads them; the only file that knows it.
#include "server/command_line/program.hpp"

#include "server/command_line/commands.hpp"
#include "server/command_line/console.hpp"
#include "server/command_line/display.hpp"
#include "server/command_line/memory.hpp"
#include "server/configuration/suggestion.hpp"
#include "server/lsp/run.hpp"
#include "server/version.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>

namespace stepzero::server {
namespace {

int usage_error(const std::string& message, const std::string& command = {}) {
  say(message + "; see `stepzero " + (command.empty() ? "" : command + " ") + "--help`");
  return exit_status::trouble;
}

// "a,b" and repeated options alike.
std::vector<std::string> split_list(const std::vector<std::string>& values) {
  std::vector<std::string> result;
  for (const std::string& value : values) {
    std::istringstream parts(value);
    for (std::string part; std::getline(parts, part, ',');) {
      part.erase(0, part.find_first_not_of(" \t"));
      part.erase(part.find_last_not_of(" \t") + 1);
      if (!part.empty()) result.push_back(part);
    }
  }
  return result;
}

std::string joined(
    const std::vector<std::string>& words, std::string_view between, std::string_view last = {}) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) result += i + 1 == words.size() && !last.empty() ? last : between;
    result += words[i];
  }
  return result;
}

// An option that takes one of a few words.
CLI::Validator one_of(const std::vector<std::string>& words) {
  const std::string list = joined(words, ", ", " or ");
  const auto check = [words, list](const std::string& word) {
    if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
    return "takes " + list + ", not \"" + word + "\"" + did_you_mean(word, words);
  };
  return {check, {}};
}

class CommandLine {
public:
  CommandLine() : app_("Finds the bugs of PyTorch training code before step 0.", "stepzero") {
    app_.set_help_flag("-h,--help", "Print this help and exit");
    app_.add_flag("--version", wants_version_, "Print the version and exit");
    app_.require_subcommand(0, 1);
    add_lsp();
    add_check();
    add_report();
    add_shapes();
    add_schedule();
    add_memory();
    add_rules();
    add_explain();
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp& help) {
      std::ostringstream out;
      app_.exit(help, out, out);
      return write_out(out.str()) == Written::failed ? exit_status::trouble : exit_status::success;
    } catch (const CLI::ExtrasError&) {
      return unexpected();
    } catch (const CLI::ParseError& error) {
      std::string message = error.what();
      std::replace(message.begin(), message.end(), '\n', ' ');
      return usage_error(sanitized(message), parsed_name());
    }
    if (wants_version_) {
      const std::string line = "stepzero " + std::string(version()) + "\n";
      return write_out(line) == Written::failed ? exit_status::trouble : exit_status::success;
    }
    const std::string name = parsed_name();
    if (name == "lsp") return lsp();
    if (name == "check") return check();
    if (name == "report") return report();
    if (name == "shapes") return shapes();
    if (name == "schedule") return schedule();
    if (name == "memory") return memory();
    if (name == "rules") return run_rules(format());
    if (name == "explain") return run_explain(rule_);
    return usage_error("say what to do: lsp, check, report, shapes, schedule, memory, rules or explain");
  }

private:
  CLI::Option* add_format(CLI::App& command, const std::vector<std::string>& formats) {
    return command.add_option("--format", format_, "How the output is written")
        ->type_name(joined(formats, "|"))
        ->check(one_of(formats))
        ->default_str("text");
  }

  void add_paths(CLI::App& command) {
    command.add_option(
        "PATH", paths_, "Files, folders (without what .gitignore names), or - for standard input");
    command.add_option("--stdin-filename", stdin_filename_, "What standard input is called in the output")
        ->type_name("NAME");
  }

  void add_lsp() {
    CLI::App* command = app_.add_subcommand("lsp", "Run the language server");
    CLI::Option* stdio = command->add_flag(
        "--stdio", stdio_, "Speak over standard input and output (the default)");
    CLI::Option* socket =
        command->add_option("--socket", port_, "Speak over this TCP port of the loopback interface")
            ->type_name("PORT")
            ->check(CLI::Range(1, 65535));
    CLI::Option* pipe =
        command->add_option("--pipe", pipe_, "Speak over the local socket of this name")->type_name("NAME");
    socket->excludes(stdio)->excludes(pipe);
    pipe->excludes(stdio);
    command
        ->add_option(
            "--clientProcessId", editor_process_, "Exit when the process with this ID, the editor, has ended")
        ->type_name("PID");
  }

  void add_check() {
    CLI::App* command = app_.add_subcommand("check", "Report the bugs of files and folders");
    add_paths(*command);
    add_format(*command, {"text", "json", "sarif", "github", "gitlab"});
    const auto add_list = [command](const char* name, std::vector<std::string>& into, const char* help) {
      command->add_option(name, into, help)->type_name("RULE,...")->allow_extra_args(false);
    };
    add_list("--select", select_, "Only these rules or families");
    add_list(
        "--ignore", ignore_, "Leave out these rules or families, as well as those that the settings ignore");
    const std::vector<std::string> severities = {"error", "warning", "information", "hint"};
    command->add_option("--min-severity", min_severity_, "Leave out what is less severe")
        ->type_name(joined(severities, "|"))
        ->check(one_of(severities));
    command->add_option("--fail-on", fail_on_, "Exit with 1 from this severity on (error)")
        ->type_name(joined(severities, "|"))
        ->check(one_of(severities));
    command->add_flag("--fix", fix_, "Apply the fixes that are always right");
    command->add_flag("--diff", diff_, "Print what --fix would change, and change nothing");
    command->add_flag("--statistics", statistics_, "Say on standard error where the time went");
    command->add_flag("--no-cache", no_cache_, "Check every file, and keep nothing in .stepzero_cache");
    command->add_flag("--watch", watch_, "Check again when a file changes, until Ctrl-C");
    command->add_option("--baseline", baseline_, "Leave out the findings that this file holds")
        ->type_name("FILE");
    command
        ->add_option(
            "--write-baseline", write_baseline_, "Write the present findings to this file, for --baseline")
        ->type_name("FILE");
    command->add_option("--since", since_, "Leave out the findings that this revision of git has")
        ->type_name("REVISION");
    command
        ->add_option(
            "--why-silent", why_, "Tell which runs reach a line, and what keeps the rules from judging it")
        ->type_name("FILE:LINE");
    command->footer("Exit status: 0 nothing found, 1 findings, 2 wrong usage or unreadable input.");
  }

  void add_report() {
    CLI::App* command = app_.add_subcommand(
        "report", "Show findings, schedules and models as a page for a browser");
    add_paths(*command);
    command->add_option("-o,--output", output_, "Where the page is written (standard output)")
        ->type_name("FILE");
    add_world(*command);
  }

  void add_world(CLI::App& command) {
    command
        .add_option(
            "--world", world_, "How many ranks the job has (2, or as many as the program is made for)")
        ->type_name("N")
        ->check(CLI::Range(1, 16));
  }

  void add_shapes() {
    CLI::App* command = app_.add_subcommand("shapes", "Print what is known of shapes and dtypes, by place");
    add_paths(*command);
    add_format(*command, {"text", "json"});
  }

  void add_schedule() {
    CLI::App* command = app_.add_subcommand("schedule", "Print what each rank communicates, and with whom");
    add_paths(*command);
    add_format(*command, {"text", "json", "svg", "mermaid"});
    add_world(*command);
    command->footer(
        "A line without columns is what every rank does. For a folder, only files that communicate are shown.");
  }

  void add_memory() {
    CLI::App* command = app_.add_subcommand("memory", "Print how much GPU memory a training step needs");
    add_paths(*command);
    add_format(*command, {"text", "json", "html"});
    command->add_option("--gpu", gpu_, "The memory of the GPU: also print the largest batch that fits")
        ->type_name("SIZE");
    command
        ->add_option(
            "--world", world_, "Processes that share the work; the amounts are those of one process (1)")
        ->type_name("N")
        ->check(CLI::Range(1, 65536));
    command->add_option("--rank", rank_, "The process whose amounts they are (0)")
        ->type_name("N")
        ->check(CLI::Range(0, 65535));
    command->add_option("--batch", batch_, "The batch size (the program's own)")
        ->type_name("N")
        ->check(CLI::Range(1, 1 << 24));
    command->add_option("--set", settings_, "A value for a size, constant or option of the program")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    command->add_option("--device", device_, "The device whose kernels decide what is kept")
        ->type_name("cuda|cpu")
        ->check(one_of({"cuda", "cpu"}));
    command->footer(
        "Sizes that the program leaves open stay symbols: --set B=8 evaluates \"4*B*T*50257\". A sum that is not wholly known says \"at least\".");
  }

  void add_rules() {
    CLI::App* command = app_.add_subcommand("rules", "List every rule");
    add_format(*command, {"text", "json"});
  }

  void add_explain() {
    CLI::App* command = app_.add_subcommand("explain", "Print a rule's page");
    command->add_option("RULE", rule_, "The rule, such as shape/matmul")->required();
  }

  std::string parsed_name() const {
    const std::vector<CLI::App*> parsed = app_.get_subcommands();
    return parsed.empty() ? "" : parsed.front()->get_name();
  }

  // What the library could not place: an unknown command, option or argument.
  int unexpected() const {
    const std::vector<CLI::App*> parsed = app_.get_subcommands();
    const CLI::App* command = parsed.empty() ? &app_ : parsed.front();
    const std::vector<std::string> rest = app_.remaining(true);
    const std::string word = rest.empty() ? "" : rest.front();
    std::vector<std::string> known;
    if (word.starts_with('-')) {
      for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      }
      const std::string name = word.substr(0, word.find('='));
      return usage_error("unknown option " + sanitized(name) + did_you_mean(name, known), parsed_name());
    }
    if (!parsed.empty()) return usage_error("unexpected argument \"" + sanitized(word) + "\"", parsed_name());
    for (const CLI::App* subcommand : app_.get_subcommands({})) known.push_back(subcommand->get_name());
    return usage_error("unknown command \"" + sanitized(word) + "\"" + did_you_mean(word, known));
  }

  Format format() const {
    if (format_ == "json") return Format::json;
    if (format_ == "sarif") return Format::sarif;
    if (format_ == "gitlab") return Format::gitlab;
    if (format_ == "svg") return Format::svg;
    if (format_ == "html") return Format::page;
    if (format_ == "mermaid") return Format::mermaid;
    return format_ == "github" ? Format::github : Format::text;
  }

  int lsp() const {
    LspOptions options;
    if (port_ != 0) options.transport = LspOptions::Transport::socket;
    if (!pipe_.empty()) options.transport = LspOptions::Transport::pipe;
    options.port = port_;
    options.pipe = pipe_;
    options.editor_process = editor_process_;
    return run_language_server(options);
  }

  // Misspelt rules to ignore do no harm; to select nothing by mistake would pass as "no problems".
  bool select_is_known(const std::vector<std::string>& select, const std::vector<std::string>& ignore) const {
    const std::vector<std::string> names = selectable_names();
    const auto unknown = [&](const std::string& name) {
      return std::find(names.begin(), names.end(), name) == names.end();
    };
    for (const std::string& name : ignore) {
      if (unknown(name))
        say("--ignore: there is no rule \"" + sanitized(name) + "\"" + did_you_mean(name, names));
    }
    const auto wrong = std::find_if(select.begin(), select.end(), unknown);
    if (wrong == select.end()) return true;
    say("--select: there is no rule \"" + sanitized(*wrong) + "\"" + did_you_mean(*wrong, names) +
        "; `stepzero rules` lists them");
    return false;
  }

  int check() const {
    if (!why_.empty())
      return paths_.empty() ? run_why(why_) : usage_error("--why-silent names its file itself", "check");
    if (paths_.empty()) return usage_error("say what to check, such as `stepzero check .`", "check");
    if (diff_ && format() != Format::text) {
      return usage_error("--diff prints a difference and no findings: leave out --format", "check");
    }
    if (!write_baseline_.empty() && (fix_ || diff_ || !baseline_.empty() || !since_.empty()))
      return usage_error(
          "--write-baseline takes all present findings: leave out --baseline, --since, --fix and --diff",
          "check");
    if (diff_ && (!baseline_.empty() || !since_.empty()))
      return usage_error("--diff shows every fix: leave out --baseline and --since", "check");
    CheckOptions options;
    options.baseline = baseline_;
    options.write_baseline = write_baseline_;
    options.since = since_;
    options.paths = paths_;
    options.stdin_filename = stdin_filename_;
    options.format = format();
    options.fix = fix_;
    options.diff = diff_;
    options.use_cache = !no_cache_;
    options.statistics = statistics_;
    const std::vector<std::string> select = split_list(select_);
    options.settings.ignore = split_list(ignore_);
    options.settings.statistics = statistics_;
    if (!select_is_known(select, options.settings.ignore)) return exit_status::trouble;
    if (!select.empty()) options.settings.layer.select = select;
    options.settings.layer.min_severity = parse_severity(min_severity_);
    options.settings.layer.fail_on = parse_severity(fail_on_);
    if (!watch_) return run_check(options);
    if (fix_ || diff_ || !write_baseline_.empty() || format() != Format::text ||
        std::find(paths_.begin(), paths_.end(), "-") != paths_.end())
      return usage_error(
          "--watch shows the state of files as text: leave out --fix, --diff, --write-baseline, --format and -",
          "check");
    return run_watch(options);
  }

  int report() const {
    if (paths_.empty())
      return usage_error("say what to report, such as `stepzero report . -o report.html`", "report");
    CheckOptions options;
    options.paths = paths_;
    options.stdin_filename = stdin_filename_;
    options.format = Format::page;
    options.output = output_;
    options.world = world_;
    return run_check(options);
  }

  int shapes() const {
    if (paths_.empty())
      return usage_error("say what to look at, such as `stepzero shapes model.py`", "shapes");
    return run_shapes({paths_, stdin_filename_, format()});
  }

  int schedule() const {
    if (paths_.empty())
      return usage_error("say what to look at, such as `stepzero schedule train.py`", "schedule");
    return run_schedule({paths_, stdin_filename_, format(), world_});
  }

  int memory() const {
    if (paths_.empty())
      return usage_error("say what to look at, such as `stepzero memory train.py`", "memory");
    MemoryOptions options;
    options.paths = paths_;
    options.stdin_filename = stdin_filename_;
    options.format = format();
    options.gpu = gpu_;
    options.world = world_;
    options.rank = rank_;
    options.device = device_;
    options.settings = settings_;
    options.batch = batch_;
    return run_memory(options);
  }

  CLI::App app_;
  bool wants_version_ = false;
  bool stdio_ = false;
  bool fix_ = false;
  bool diff_ = false;
  bool no_cache_ = false;
  bool statistics_ = false;
  bool watch_ = false;
  std::uint16_t port_ = 0;
  int world_ = 0;
  int rank_ = 0;
  int batch_ = 0;
  std::string gpu_;
  std::string device_ = "cuda";
  std::vector<std::string> settings_;
  std::string pipe_;
  std::optional<int> editor_process_;
  std::string format_ = "text";
  std::string stdin_filename_;
  std::string min_severity_;
  std::string fail_on_;
  std::string rule_;
  std::string output_;
  std::string baseline_;
  std::string write_baseline_;
  std::string since_;
  std::string why_;
  std::vector<std::string> paths_;
  std::vector<std::string> select_;
  std::vector<std::string> ignore_;
};

}  // namespace

int run_program(int argc, char** argv) {
  prepare_streams();
  return CommandLine().run(argc, argv);
}

}  // namespace stepzero::server
