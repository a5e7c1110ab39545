// Runs a file again after an edit, and lets stand what the edit does not touch: keeps the parts of the run in
// a Replay. See replay.hpp for what a part is, and when it stands.
#pragma once

#include "interpreter/run_part.hpp"

#include "interpreter/incremental/replay.hpp"

#include <functional>
#include <map>

namespace stepzero::interpreter {

class LibraryImport;

class IncrementalRun : private RunPart {
public:
  explicit IncrementalRun(Interpreter& run) : RunPart(run) {}

  // See Interpreter.
  bool run_again(const std::atomic<bool>* cancelled, const std::unordered_set<const syntax::Stmt*>* only);
  std::vector<std::pair<std::string, std::uint64_t>> costly_roots(std::size_t most) const;

  Replay& replay() { return replay_; }
  const Replay& replay() const { return replay_; }

  // The run of the file begins; its statements begin, and end.
  void begin_item(const syntax::Item& item);
  void end_item(const values::Scope& globals);
  Moments moments() const;
  // Runs it, or takes over what it left. True: an equality was left open that the defaults may decide.
  // `cls`: the class, where the unit runs its methods on an object of it.
  bool run_unit(UnitKey key, std::vector<bool> condition, const std::function<void()>& run,
      values::Class* cls = nullptr);
  Unit* unit() const { return unit_; }                      // the unit that runs
  std::uint64_t part_begin() const { return part_begin_; }  // of what runs: the heap's clock
  void begin_root_run(RootRun run);
  // What the root does from here on is the same for any number of steps left, from `least` to `most`.
  void note_steps_left(std::uint64_t least, std::uint64_t most);
  std::uint64_t steps_of_root(std::uint64_t begin) const;  // that a root which begins after so many may take
  // Runs what shows the edit of one function, tells it, and takes it back: the run then goes on as if this
  // had not been.
  void run_focus();
  // Forgets what was told, defined and made a class of after the first ones.
  void shrink_lists(std::size_t facts, std::size_t functions, std::size_t classes);
  // It is taken for an integer, and was not before.
  void note_number(values::Unknown& unknown);
  void note_reached(const syntax::FunctionStmt* stmt);
  void note_model(const values::Object* object);
  void note_import(const ModuleRun& run_of, values::Mark before, bool meddled);
  void note_library_import(const ModuleRun& run_of, const LibraryImport& import, bool apart);
  bool meddles(const Moments& before) const;
  // It may have attributes that were not seen: for good, whatever path is taken back.
  void open_up(values::Instance& object);

private:
  struct RootsAgain;

  bool differs(const Used& used) const;  // does it use what changed?
  bool differs(const Unit& unit) const;  // the same, or did it run what changed?
  void note_change(const ItemRun& item);
  void rewind_to(const Moments& before);
  // Runs the statements [first, last) of the file in place of [first, old_last), where everything that was
  // run after them is as if they had always been these. False: that is not so, or not known.
  bool run_in_place(ModuleRun& run_of, const std::shared_ptr<const syntax::Module>& module, std::size_t first,
      std::size_t last, std::size_t old_last);
  bool fits_in_place(const ModuleRun& run_of, const std::deque<ItemRun>& made, std::size_t first,
      std::size_t old_last) const;
  void put_in_place(std::deque<ItemRun>& made, std::size_t first, std::size_t old_last, const Moments& all);
  // The same, and those after them that use what changed.
  bool run_what_changed(ModuleRun& run_of, const std::shared_ptr<const syntax::Module>& module,
      std::size_t first, std::size_t last, std::size_t old_last);
  // Runs all statements once more; the modules that they import have run. False: see above.
  bool run_statements_again(
      ModuleRun& run_of, const std::shared_ptr<const syntax::Module>& module, const Moments& before);
  void forget_roles();
  bool is_left_by_import(const values::Slot& slot) const;  // its value
  void forget_facts(const std::unordered_set<std::uint32_t>& of_chunks);
  // Lets all stand that was run of the statement but the one body that an edit changed. False: that cannot be
  // done, and nothing was.
  bool keep_standing(const std::shared_ptr<const syntax::Module>& module, std::size_t at);
  void put_body(const syntax::FunctionStmt& was, const syntax::FunctionStmt& is, std::uint32_t chunk);
  void drop_unneeded(StandingStatement& standing, std::uint32_t newest);
  void put_method(StandingStatement& standing, const syntax::FunctionStmt& was,
      const syntax::FunctionStmt& is, std::size_t member, std::uint32_t chunk);
  // The method of a class of the file's text, as the run has it.
  const syntax::FunctionStmt* as_run(const syntax::Chunk& chunk, const syntax::FunctionStmt* method) const;
  void drop_chunk(std::uint32_t index);
  // What of the statement's chunks is of an older text; no longer needed where the statement itself is run
  // again.
  std::unordered_set<std::uint32_t> drop_standing(const syntax::Chunk* chunk);
  void move_chunks(
      const std::shared_ptr<const syntax::Module>& module, std::unordered_set<std::uint32_t>& gone);
  bool begins_equally(
      const Unit& unit, const std::vector<bool>& condition) const;  // as it did when it was run
  bool stands(const Unit& unit, const std::vector<bool>& condition) const;
  void note_steps_taken(RootRun& run) const;  // it has ended
  bool allows(
      const RootRun& run, std::uint64_t begin) const;  // are as many steps left there as it is good for?
  bool allows(const Unit& unit) const;
  // Of a class: runs the methods again that ran a changed body, in their places, and takes over the others.
  // False: what they do to each other is not as it was, or not known, and nothing was done.
  bool run_methods_again(Unit& unit, values::Class& cls);
  std::optional<RootsAgain> run_method_again(Unit& unit, std::size_t nth, values::Class& cls);
  // The functions and methods of the file that ran in these, by their statements as they are now.
  std::unordered_set<const syntax::FunctionStmt*> runs_of_file(
      const RootRun* first, const RootRun* after) const;
  // Can methods be run on the object that the constructor left, and is that as it was?
  bool is_kept_for_methods(const Unit& unit) const;
  void on_kept_object(const Unit& unit, values::Class& cls, const std::function<void()>& run);
  // Of the class, the method whose run shows first what an edit did. False: it has to be run with the
  // constructor before it.
  bool run_focus_again(values::Class& cls, const values::Function& method);
  void put_roots(Unit& unit, std::map<std::size_t, RootsAgain>& again, std::uint64_t begin);
  void take_over(Unit& unit);
  void end_root_run();
  Switched switched() const;
  void switch_back(const Switched& before);
  void forget_reached(std::size_t after);

  // focus.cpp
  const RootRun* root_of_focus() const;
  std::optional<FocusRoot> choose_focus() const;
  bool is_worthwhile(const RootRun* root) const;
  std::uint64_t steps_to_run(const Unit& unit) const;
  void run_focus_root(const FocusRoot& root, bool with_defaults);
  values::Function* focus_function(const FocusRoot& root) const;
  values::Class* focus_class(syntax::Name name) const;

  Replay replay_;
  Unit* unit_ = nullptr;  // the unit that runs
  std::size_t doubts_before_root_ = 0;
  std::uint64_t root_begin_ = 0;  // of the root that runs: the heap's clock
  std::uint64_t part_begin_ = 0;  // of the part that runs: the heap's clock
};

}  // namespace stepzero::interpreter
