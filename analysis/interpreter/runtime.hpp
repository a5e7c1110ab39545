// The run as the functions of library rows see it: values, calls, attributes, problems, and what the program
// has set for all that follows. The interpreter implements it; nothing here says how. Changes within the
// interpreter leave this as it is, and what includes it need not be compiled again.
#pragma once

#include "interpreter/arguments.hpp"
#include "interpreter/events.hpp"
#include "interpreter/policy.hpp"
#include "program/data.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepzero::interpreter {

class Record;
struct Launch;
struct OneRank;

class Runtime {
public:
  Runtime(Record& record, values::Heap& heap, symbolic::Context& symbols, const Library& library,
      const Policy& policy)
      : record_(record), library_(library), policy_(policy), heap_(heap), symbols_(symbols) {}
  virtual ~Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  values::Heap& heap() { return heap_; }
  symbolic::Context& symbols() { return symbols_; }
  Record& record() { return record_; }
  const Library& library() const { return library_; }
  const Policy& policy() const { return policy_; }

  // What a name in the text of a scope means, outside of the order in which the program runs: in an
  // annotation. Absent if nothing does.
  virtual Value named_in(const values::Scope* scope, syntax::Name name) = 0;
  // What a part of the run asks of the text of the program beyond what it runs: whether an attribute of that
  // name is set anywhere, and what the bodies of functions say.
  virtual void note_asked_attribute(std::string_view name) = 0;
  virtual void note_body_read(const syntax::FunctionStmt& function) = 0;

  virtual Value call(
      Value function, Arguments arguments, Place place, const syntax::CallExpr* expr = nullptr) = 0;
  virtual Value attribute(Value object, syntax::Name name, Place place) = 0;
  // What the file of the workspace holds that the text names; absent if it names none, or more than one.
  virtual Value data_of_file(std::string_view path, program::DataFormat format) = 0;
  // Of an object: the attribute, or the method as found on it; absent if there is none.
  virtual Value attribute_or_none(Value object, syntax::Name name, Place place) = 0;
  virtual symbolic::Answer has_attribute(Value value, syntax::Name name) = 0;
  virtual void set_attribute(Value object, syntax::Name name, Value value, Place where = {}) = 0;
  // The class's attribute or method, as found on an object of it; absent if there is none.
  virtual Value find_method(values::Instance* object, syntax::Name name) = 0;
  virtual Value library_symbol(std::string_view path) = 0;
  // What `import a.b as c` would bind; unseen where nothing of the name is found.
  virtual Value import_named(std::string_view dotted) = 0;
  // A new object of a library class; its constructor is not run.
  virtual values::Instance* make_native(std::string_view class_path, Place place) = 0;
  virtual bool is_a(Value object, std::string_view class_path) const = 0;
  virtual const Row* method_row(std::string_view class_path, std::string_view method) const = 0;
  virtual const Row* method_row(std::string_view class_path, syntax::Name method) const = 0;
  virtual const Row* constructor_row(std::string_view class_path) const = 0;

  virtual Cond truth(Value value) = 0;
  virtual Int to_int(Value value) = 0;  // null if it is no integer; unknowns become symbols
  virtual std::optional<std::int64_t> to_constant(Value value) = 0;
  virtual Value binary(syntax::BinaryOp op, Value left, Value right, const syntax::Expr& node) = 0;
  virtual Value compare(syntax::CompareOp op, Value left, Value right) = 0;
  // The elements, if all are known (generators are run).
  virtual std::optional<std::vector<Value>> elements(Value iterable, Place place) = 0;
  // One that stands for itself alone, of an element that stands for many.
  virtual Value one_of_many(Value element) = 0;
  virtual Value any_element(
      Value iterable, Place where) = 0;  // for a list of them: each has numbers of its own
  // The same, and an iterator is empty from then on. With `any_order` the elements of a set, too, in some
  // order.
  virtual std::optional<std::vector<Value>> take(Value iterable, Place place, bool any_order = false) = 0;
  // Any one element.
  virtual Value element(Value iterable, Place place) = 0;
  virtual Value subscript(Value object, Value index, const syntax::Expr& node) = 0;
  virtual Value length_of(Value value, Place place) = 0;
  // What next() gives; `otherwise` if nothing is left.
  virtual Value next_of(Value iterator, Value otherwise, Place place) = 0;
  virtual Value zip_of(const std::vector<Value>& iterables, bool longest, Value fill, Place place) = 0;
  virtual Value make_set(std::vector<Value> items) = 0;
  // Sorts as Python does; false, and nothing is changed, if an order is not known.
  virtual bool sort_values(std::vector<Value>& items, Value key, bool descending, Place place) = 0;
  // Two keys of which both are known are equal or different for sure.
  virtual bool known_key(Value key) const = 0;
  virtual bool same_key(Value a, Value b) const = 0;
  virtual std::optional<int> order(Value a, Value b) const = 0;
  virtual Value dict_get(Value dict, Value key, Value otherwise) = 0;
  virtual void dict_set(Value dict, Value key, Value value) = 0;
  virtual bool dict_update(Value dict, Value other, Place place) = 0;  // false: `other` is not wholly known
  virtual void count_items(Value counter, Value iterable, Place place) = 0;
  // The value as Python's str() or repr() writes it, if it is known.
  virtual std::optional<std::string> text_of(Value value, bool as_repr, int depth = 0) = 0;
  virtual symbolic::Answer is_instance(Value value, Value type) = 0;
  virtual symbolic::Answer is_subclass(Value cls, Value of) = 0;
  virtual Value type_of(Value value, Place place) = 0;
  virtual void make_dataclass(values::Class& cls, bool keyword_only, bool with_init) = 0;
  virtual void fill_dataclass(values::Instance& object, Arguments arguments, Place place) = 0;
  virtual std::vector<std::pair<syntax::Name, Value>> field_values(const values::Instance& object) = 0;
  virtual Value named_tuple_class(
      std::string_view name, std::vector<values::ClassField> fields, Place place) = 0;
  virtual void hold(values::Instance& object, const Arguments& arguments,
      Place place) = 0;  // of a class that derives from dict or list
  virtual Value find_in_order(
      const std::vector<values::Class*>& order, syntax::Name name, std::size_t from = 0) const = 0;
  // What a call answers that fails with one of Python's exceptions. Where somebody may catch it, the path
  // ends.
  virtual Value raise_builtin(std::string_view exception, Place place) = 0;
  virtual bool of_any_use() const = 0;  // the run of a class that nobody constructs
  virtual Value refined(
      Value value) = 0;  // resolved; an unknown that was found to be a tensor is that tensor
  // A choice whose condition is decided becomes its side.
  Value resolve(Value value) { return value.is(values::Kind::choice) ? decided(value) : value; }
  virtual Value decided(Value choice) = 0;
  // Applies `each` to both sides of choices.
  virtual Value over_choices(Value value, const std::function<Value(Value)>& each, Place place = {}) = 0;

  virtual const OneRank* as_rank() const = 0;  // the process that the run is of; null: any
  // Keeps how many messages of each channel the process has received so far; null where it is not known what
  // was sent.
  virtual values::Instance* heard() const = 0;
  virtual Int role(symbolic::Role role) = 0;  // the rank, the world size…: the same atom each time
  virtual Cond named_condition(std::string_view name, Sharing sharing) = 0;  // the same condition each time
  // A value for a name of a program: a parameter, an attribute of an unknown object.
  virtual Value symbol(std::string_view name, Sharing sharing, Place born) = 0;

  virtual void record_operation(const Call& call, Value result, Value extra_self = {}) = 0;
  // Under the assumption of the path and, if there is one, `when`. It is this built-in exception, or what
  // Library::raises says.
  virtual ProblemEvent* problem(
      values::ProblemKind kind, const Call& call, Cond when = nullptr, std::string_view raises = {}) = 0;
  // The same of what no row of the library is called for.
  virtual ProblemEvent* problem_at(values::ProblemKind kind, Place place, const syntax::Expr* node) = 0;
  // The call is proven to fail: what follows from that is not told again. See values::TensorState::poisoned.
  virtual void poison(const Call& call) = 0;
  // What both sides of the choices around have in common with the present operation: see
  // ProblemEvent::assumption.
  virtual Cond assumption() = 0;
  virtual void exit_process() = 0;           // the call that is evaluated does not return
  virtual const CallSite* site() const = 0;  // the calls around
  virtual bool guarded() const = 0;
  virtual const Launch* launch() const = 0;
  virtual bool with_defaults() const = 0;  // what may be given or left out is left out
  // Its text decides what the program does: of a word that the command line may give the default does. Most
  // of them only name a file.
  virtual void note_choice_by_text(Value word) = 0;
  // Are tensors made on the CPU where nothing else is said? What nobody calls may be called under any
  // default.
  virtual bool knows_default_device() const = 0;
  virtual void set_default_device() = 0;
  // What floats are where nothing else is said.
  virtual values::Dtype default_dtype() const = 0;
  virtual bool default_dtype_set() const = 0;  // whatever it is now
  virtual void set_default_dtype(Value dtype) = 0;
  virtual const Around* around() const = 0;
  // Are gradients recorded here? Of what nobody calls this is said as if it were called where they are.
  virtual values::Known records_gradients() const = 0;
  // A manager that switches gradients was made; unless it is entered, it has done so for good.
  virtual void note_gradient_switch(const values::Instance* manager) = 0;
  virtual bool in_roots() const = 0;
  // A size that has no name of the program's own yet. Of two with the same name the later one gets a number.
  virtual Int stand_in(std::string_view name) = 0;
  // The program writes the gradient of the value, or takes it away; in place `by` this operator, if that is
  // known.
  virtual void note_gradient_written(Value of, Place place, const Row* by = nullptr) = 0;
  // It writes these numbers into a parameter or a buffer, in place.
  virtual void note_weights_written(Value weights, Value numbers, Place place) = 0;
  // Python, NumPy and PyTorch draw their random numbers from streams of their own.
  enum class Stream : std::uint8_t { python, numpy, torch };
  // Random numbers are drawn from here on as this seed has it, of all streams or of one; `partly`: of some
  // devices only.
  virtual void note_seed(Value seed, std::optional<Stream> stream = {}, bool partly = false) = 0;
  // An operator needs the two sizes equal, or one of them to be 1 where it `broadcasts`, and that is not
  // known.
  virtual void note_fit(Int a, Int b, bool broadcasts, Place where) = 0;
  // A backward left gradients: those of this process alone, which relate among the ranks as its loss does, or
  // (null) others. Unseen code that was handed what has them may have them reduced.
  virtual void note_gradients(std::optional<Sharing> own) = 0;
  virtual void lose_gradients() = 0;
  virtual std::optional<Sharing> own_gradients() const = 0;
  // Do all ranks draw the same? Where it is not known it is taken to be so; and one process by itself cannot
  // tell.
  virtual Sharing drawn_sharing(Stream stream) const = 0;
  // Inside a `with` that may have operators choose their results' types?
  virtual bool casting() const = 0;
  virtual Place place(syntax::Span span) const = 0;
  virtual Place place(const syntax::Expr& expr) const = 0;

protected:
  Record& record_;
  const Library& library_;
  const Policy& policy_;

private:
  values::Heap& heap_;
  symbolic::Context& symbols_;
};

}  // namespace stepzero::interpreter
