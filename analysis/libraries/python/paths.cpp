// What is asked of files and folders: whether they are there, what a folder holds. All ranks see the same
// ones, mostly, unless the name is another one on each.
#include "interpreter/record.hpp"
#include "libraries/table/native.hpp"
#include "libraries/table/table.hpp"
#include "values/absent_files.hpp"
#include "values/kept.hpp"

#include <deque>

namespace stepzero::libraries {

namespace {

// Of the path that is asked about: is it another one on each rank?
std::optional<Sharing> of_rank(Call& call) {
  const Value path = call.self.is(Kind::instance) ? call.self : call.run.resolve(call.at(0));
  const Sharing sharing = call.run.heap().sharing(path);
  if (sharing == Sharing::uniform || sharing == Sharing::unseen || call.run.heap().is_unseen(path))
    return std::nullopt;
  return symbolic::mix(sharing, Sharing::local);
}

// Whether there is a file.
Value is_there(Call& call) {
  const Value path = call.self.is(Kind::instance) ? call.self : call.run.resolve(call.at(0));
  const Sharing sharing = call.run.heap().sharing(path);
  auto& conditions = call.run.record().conditions;
  if (conditions.contains(values::RecordCondition::counted)) {
    const std::string_view name = path.is(Kind::string) ? path.text() : std::string_view();
    conditions.emplace(
        std::string(values::AbsentFiles::asked).append(name), call.run.symbols().boolean(true));
    if (conditions.contains(values::AbsentFiles::taken)) return call.run.heap().boolean(false);
  }
  return call.run.heap().unknown(
      "", sharing == Sharing::uniform ? sharing : symbolic::mix(sharing, Sharing::local), call.place);
}

// The files of a folder, or those of a pattern.
Value listed(Call& call) {
  auto own = of_rank(call);
  if (const Value pattern = call.self.is(Kind::instance) ? call.run.resolve(call.at(0)) : Value{}; !own &&
      pattern && !call.run.heap().is_unseen(pattern) &&
      call.run.heap().sharing(pattern) == Sharing::divergent)
    own = Sharing::local;
  if (!own) return call.run.heap().unseen("", call.place);
  const auto length = call.run.symbols().fresh({.name = {}, .lower = 0, .upper = {}, .sharing = *own});
  return call.run.heap().open_list(call.run.heap().unknown("", *own, call.place), length);
}

Value written(Call& call) {
  return call.run.heap().unknown("", of_rank(call).value_or(Sharing::uniform), call.place);
}

}  // namespace

std::vector<Row> path_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("os.path.exists", function, "path", is_there),
      row("os.path.isfile", function, "path", is_there),
      row("os.path.isdir", function, "path", is_there),
      row("os.listdir", function, "path='.'", listed),
      row("os.scandir", function, "path='.'", listed),
      row("glob.glob", function, "pathname, **options", listed),
      row("glob.iglob", function, "pathname, **options", listed),
      row("os.remove", function, "path, **options", nothing, {}, Operation::fallible),
      row("os.unlink", function, "path, **options", nothing, {}, Operation::fallible),
      row("numpy.save", function, "file, arr, **options", nothing, {}, Operation::fallible),
      row("numpy.loadtxt", function, "fname, *more, **options", nullptr, {}, Operation::fallible),
      row("pathlib.Path.write_text", method, "data, *more, **options", written, {}, Operation::fallible),
      row("pathlib.Path.write_bytes", method, "data", written, {}, Operation::fallible),
      row("pathlib.Path.unlink", method, "missing_ok=False", nothing, {}, Operation::fallible),
  };
  static std::deque<std::string> paths;  // texts of rows live as long as the process
  const auto add = [&](std::string_view name, std::string_view signature, Value (*run)(Call&)) {
    rows.push_back(row(paths.emplace_back("pathlib.Path." + std::string(name)), method, signature, run));
  };
  for (const std::string_view name : {"exists", "is_file", "is_dir"}) add(name, "", is_there);
  add("iterdir", "", listed);
  for (const std::string_view name : {"glob", "rglob"}) add(name, "pattern, **options", listed);
  return rows;
}

}  // namespace stepzero::libraries
