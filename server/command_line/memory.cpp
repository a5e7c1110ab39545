// `stepzero memory`: what a training step takes of a GPU's memory, for which batch sizes, and which of them
// fits.
#include "server/command_line/memory.hpp"

#include "footprint/footprint.hpp"
#include "footprint/text.hpp"
#include "server/command_line/checker.hpp"
#include "server/command_line/commands.hpp"
#include "server/command_line/console.hpp"
#include "server/command_line/display.hpp"
#include "server/command_line/json.hpp"
#include "server/command_line/memory_page.hpp"
#include "server/command_line/substitution.hpp"
#include "server/features/footprint_json.hpp"
#include "snapshot/footprint_run.hpp"
#include "syntax/document.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <map>
#include <set>

namespace stepzero::server {
namespace {

using footprint::bytes_text;
using footprint::Footprint;
using footprint::parse_size;
using footprint::Setting;

// What programs call the number of samples in a batch, as a number of their own and as a size that they leave
// open.
constexpr std::string_view batch_names[] = {"batch_size", "train_batch_size", "per_device_train_batch_size",
    "micro_batch_size", "device_batch_size", "bsz", "bs", "batch", "B", "N"};
constexpr std::int64_t most_in_batch = 1 << 14;
// Steps of all runs that a table may take: some seconds. Of a program whose single run takes long it has
// few rows.
constexpr std::uint64_t most_followed = 6'000'000;

std::optional<Setting> parse_setting(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  Setting made{text.substr(0, equals), 0};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + equals + 1, end, made.value);
  return read.ec == std::errc() && read.ptr == end ? std::optional(made) : std::nullopt;
}

// One program, under different sizes.
class MeasuredProgram {
public:
  MeasuredProgram(const Checker& checker, const Inputs& inputs, std::string path,
      const footprint::Options& options, snapshot::Started started)
      : checker_(checker), inputs_(inputs), path_(std::move(path)), options_(options),
        started_(std::move(started)) {
    const FileSources sources = checker.sources(path_, inputs.overlay);
    if (const auto module = sources.module(path_))
      text_ = module->text->bytes();
    else
      readable = false;
    for (const Setting& setting : options_.settings)
      if (auto other = substituted(text_, setting.name, setting.value)) {
        text_ = std::move(*other);
        unused_.erase(setting.name);
      } else {
        unused_.insert({setting.name, true});
      }
  }

  std::shared_ptr<const Footprint> run() { return run(text_, options_); }

  // With so many samples in a batch; null if the program does not say where its batch size is.
  std::shared_ptr<const Footprint> run(std::int64_t batch) {
    for (const std::string_view name : batch_names)
      if (const auto other = substituted(text_, name, batch)) {
        batch_name = name;
        return run(*other, options_);
      }
    if (open_.empty()) return nullptr;
    footprint::Options with = options_;
    for (const std::string_view name : batch_names)
      if (std::ranges::find(open_, name) != open_.end()) {
        batch_name = name;
        with.settings.push_back({std::string(name), batch});
        return run(text_, with);
      }
    return nullptr;
  }
  void set_open(const std::vector<std::string>& open) { open_ = open; }

  // Those that are no number of the program and no open size.
  std::vector<std::string> unused(const Footprint& made) const {
    std::vector<std::string> names;
    for (const auto& [name, yes] : unused_)
      if (std::ranges::find(made.decided_by_settings, name) == made.decided_by_settings.end())
        names.push_back(name);
    return names;
  }

  bool readable = true;
  std::string batch_name;

private:
  std::shared_ptr<const Footprint> run(const std::string& text, const footprint::Options& options) const {
    auto overlay = std::make_shared<Overlay>();
    if (inputs_.overlay) *overlay = *inputs_.overlay;
    (*overlay)[path_] = syntax::parse(text);
    return snapshot::footprint_of_file(checker_.sources(path_, overlay), path_, options, started_);
  }

  const Checker& checker_;
  const Inputs& inputs_;
  const std::string path_;
  footprint::Options options_;
  const snapshot::Started started_;
  std::string text_;
  std::map<std::string, bool> unused_;
  std::vector<std::string> open_;
};

std::optional<BatchRow> row_of(const Footprint& made, std::int64_t batch) {
  std::optional<BatchRow> row;
  for (const footprint::Step& step : made.steps)
    if (!row || step.peak.bytes > row->peak.bytes) row = BatchRow{batch, step.peak, step.saved.bytes};
  return row;
}

// Sizes 1, 2, 4 … up to the limit in bytes (0: none) or where it is passed, and between the last two the
// largest that fits. What fits if the peak goes on growing as from the last row but one to the last.
std::optional<std::int64_t> estimate_of(const std::vector<BatchRow>& rows, std::int64_t limit) {
  if (rows.size() < 2) return std::nullopt;
  const BatchRow &before = rows[rows.size() - 2], &last = rows.back();
  const std::int64_t grown = last.peak.bytes - before.peak.bytes, each = grown / (last.batch - before.batch);
  if (each <= 0 || last.peak.bytes > limit) return std::nullopt;
  return last.batch + (limit - last.peak.bytes) / each;
}

Batches batches_of(MeasuredProgram& program, std::int64_t limit) {
  Batches made;
  std::uint64_t followed = 0;
  const auto row = [&](std::int64_t batch) -> std::optional<BatchRow> {
    const auto with = program.run(batch);
    if (with) followed += with->followed;
    return with ? row_of(*with, batch) : std::nullopt;
  };
  const std::int64_t last = limit ? most_in_batch : 256;
  for (std::int64_t batch = 1; batch <= last; batch *= 2) {
    const auto then = row(batch);
    if (!then) return made;
    // A size that changes nothing is not what a batch is made of.
    if (made.rows.size() == 1 && then->saved == made.rows[0].saved) return {};
    // A larger batch takes more: where it seems to take less, or is known less well, the program was followed
    // less far.
    if (!made.rows.empty() &&
        (then->peak.bytes < made.rows.back().peak.bytes ||
            (then->peak.at_least && !made.rows.back().peak.at_least))) {
      made.ends_early = true;
      break;
    }
    made.rows.push_back(*then);
    if (limit && then->peak.bytes > limit) break;
    if (made.rows.size() > 1 && followed > most_followed) {
      made.ends_early = true;
      break;
    }
  }
  if (!limit || made.rows.empty()) return made;
  if (made.ends_early) made.estimate = estimate_of(made.rows, limit);
  if (made.rows.front().peak.bytes > limit)
    made.fits = 0;
  else if (made.rows.back().peak.bytes <= limit)
    made.fits = made.rows.back().batch;
  else {
    const BatchRow &below = made.rows[made.rows.size() - 2], &above = made.rows.back();
    std::int64_t fits = below.batch, fails = above.batch;
    while (fails - fits > 1) {
      if (followed > most_followed) {
        made.ends_early = true;
        made.estimate = below.batch +
            (limit - below.peak.bytes) * (above.batch - below.batch) / (above.peak.bytes - below.peak.bytes);
        break;
      }
      const std::int64_t between = fits + (fails - fits) / 2;
      const auto then = row(between);
      (then && then->peak.bytes <= limit ? fits : fails) = between;
    }
    made.fits = fits;
  }
  return made;
}

std::string batches_text(const Batches& batches, const std::string& name, std::int64_t limit) {
  if (batches.rows.empty()) return "";
  std::string text = "peak by " + name + "\n";
  bool at_least = false;
  for (const BatchRow& row : batches.rows) {
    const std::string batch = std::to_string(row.batch);
    text += "  " + std::string(batch.size() < 6 ? 6 - batch.size() : 0, ' ') + batch + "  " +
        amount_text(row.peak) + (limit && row.peak.bytes > limit ? "  does not fit" : "") + "\n";
    at_least = at_least || row.peak.at_least;
  }
  if (!limit || !batches.fits) return text;
  const std::string of = " of " + bytes_text(limit);
  if (*batches.fits == 0) return text + "  not even 1 fits the memory" + of + "\n";
  if (batches.ends_early)
    return text + "  " + std::to_string(*batches.fits) + (at_least ? " may fit" : " fits") + " the memory" +
        of + "; of larger batches less is known" +
        (batches.estimate ? ": by this growth about " + std::to_string(*batches.estimate) + " fits" : "") +
        "\n";
  return text + "  " + std::to_string(*batches.fits) + (at_least ? " may fit" : " fits") + " the memory" +
      of + (at_least ? ": something is not known, and comes on top" : "") + "\n";
}

// What is told of all files, in the format that was asked for.
class MemoryReport {
public:
  MemoryReport(const MemoryOptions& options, const footprint::Options& asked, std::int64_t limit)
      : options_(options), asked_(asked), limit_(limit),
        inputs_(find_inputs(options.paths, options.stdin_filename, configuration_)),
        checker_(inputs_, configuration_, {}), status_(say_unreadable(inputs_)) {}

  int run() {
    for (const std::string& path : inputs_.files) {
      try {
        add_file(path);
      } catch (const std::exception& error) {
        say(name(path) + ": internal error: " + error.what());
        status_ = exit_status::trouble;
      }
    }
    if (options_.format == Format::page)
      return write_out(memory_page(parts_, limit_, asked_.world)) == Written::failed ? exit_status::trouble
                                                                                     : status_;
    const std::string text = options_.format == Format::json
        ? written({{"version", 1}, {"files", std::move(files_)}})
        : sanitized_lines(text_);
    return write_out(text) == Written::failed ? exit_status::trouble : status_;
  }

private:
  std::string name(const std::string& path) const { return inputs_.names.displayed(path); }

  // By its defaults, and as scripts launch it where that is another program.
  void add_file(const std::string& path) {
    std::set<std::string> told;
    const snapshot::LaunchesOfOne launches = checker_.launches(path, inputs_.overlay);
    for (std::size_t number = 0; number <= snapshot::number_of_runs(launches); ++number)
      add_run(path, {launches, number}, told);
  }

  void add_run(const std::string& path, const snapshot::Started& started, std::set<std::string>& told) {
    const DisplayPath displayed = [&](const std::string& each) { return name(each); };
    MeasuredProgram program(checker_, inputs_, path, asked_, started);
    if (!program.readable) {
      say(name(path) + ": " + read_text(path).reason);
      status_ = exit_status::trouble;
      return;
    }
    auto made = program.run();
    if (!made ||
        (made->models.empty() && made->steps.empty() && made->unseen.empty() &&
            (started.number || inputs_.files.size() > 1)))
      return;
    footprint::Footprint plain = *made;
    plain.launch.clear();
    if (!told.insert(footprint_text(plain, path, displayed)).second) return;
    if (started.number == 0)
      for (const std::string& unused : program.unused(*made))
        say(name(path) + ": --set " + sanitized(unused) +
            ": no number of the program and no open size has this name");
    program.set_open(made->open);
    if (options_.batch > 0) {
      if (auto with = program.run(options_.batch))
        made = std::move(with);
      else
        say(name(path) +
            ": --batch: the program does not say where its batch size is; --set NAME=VALUE names it");
    }
    Batches batches;
    if (!made->steps.empty() && (limit_ || options_.batch == 0)) batches = batches_of(program, limit_);
    add(path, std::move(made), std::move(batches), program.batch_name, displayed);
  }

  void add(const std::string& path, std::shared_ptr<const Footprint> made, Batches batches,
      const std::string& batch_name, const DisplayPath& displayed) {
    if (options_.format == Format::json) {
      Json one = footprint_json(*made, path, displayed);
      if (!batches.rows.empty()) {
        Json& rows = one["batches"] = {{"name", batch_name}, {"peaks", Json::array()}};
        for (const BatchRow& row : batches.rows)
          rows["peaks"].push_back(
              {{"batch", row.batch}, {"bytes", row.peak.bytes}, {"at_least", row.peak.at_least}});
        if (batches.fits) rows["fits"] = *batches.fits;
        if (batches.estimate) rows["estimate"] = *batches.estimate;
      }
      files_.push_back(std::move(one));
    } else if (options_.format == Format::page) {
      parts_.push_back({name(path) + launch_text(*made), made, std::move(batches), batch_name});
    } else {
      text_ += (text_.empty() ? "" : "\n") + footprint_text(*made, path, displayed) +
          batches_text(batches, batch_name, limit_);
    }
  }

  const MemoryOptions& options_;
  const footprint::Options& asked_;
  const std::int64_t limit_;
  ConfigurationFiles configuration_;
  const Inputs inputs_;
  const Checker checker_;
  int status_;
  Json files_ = Json::array();
  std::vector<MemoryPart> parts_;
  std::string text_;
};

}  // namespace

int run_memory(const MemoryOptions& options) {
  footprint::Options asked;
  asked.device = options.device == "cpu" ? footprint::Device::cpu : footprint::Device::cuda;
  asked.world = std::max(options.world, 1);
  asked.rank = options.rank;
  if (asked.rank >= asked.world) {
    say("--rank takes a number below that of --world, not " + std::to_string(asked.rank));
    return exit_status::trouble;
  }
  for (const std::string& text : options.settings) {
    const auto setting = parse_setting(text);
    if (!setting) {
      say("--set takes NAME=VALUE with a whole number, not \"" + sanitized(text) + "\"");
      return exit_status::trouble;
    }
    asked.settings.push_back(*setting);
  }
  const std::int64_t limit = options.gpu.empty() ? 0 : parse_size(options.gpu).value_or(0);
  if (!options.gpu.empty() && limit == 0) {
    say("--gpu takes a size such as 80GB, not \"" + sanitized(options.gpu) + "\"");
    return exit_status::trouble;
  }
  return MemoryReport(options, asked, limit).run();
}

}  // namespace stepzero::server
