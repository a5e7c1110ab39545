// Why an operator refuses its call, as types: what it needs, and what it was given. Rules write the words
// (rules/shape/refusal_text.cpp). A text here is a name: of an operator or a parameter of PyTorch, or what
// the program calls an operand. `Op` of libraries/table/op.hpp makes them.
#pragma once

#include "values/value.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stepzero::interpreter {

struct ProblemEvent;

// What dimensions an operator takes: a number of them, and what they stand for where that is a word of its
// own.
struct ShapeNeed {
  enum class Form : std::uint8_t {
    dimensions,  // as many as `least` and `most` say
    element,     // one element
    vector,
    vectors,  // each of several operands is one
    matrix,
    matrices,  // in the last two dimensions, or several operands
    square,    // the same, with as many rows as columns
    vector_or_matrix,
    signal,   // of `fft`: at least one dimension
    signals,  // of `stft`: one, or a batch of them
    pairs,    // the last dimension holds two parts of a complex number
  };
  using enum Form;
  Form form = dimensions;
  int least = 0, most = -1;  // of dimensions; -1: any number

  static ShapeNeed at_least(int ndim) { return {dimensions, ndim, -1}; }
  static ShapeNeed at_most(int ndim) { return {dimensions, 0, ndim}; }
  static ShapeNeed exactly(int ndim) { return {dimensions, ndim, ndim}; }
  static ShapeNeed between(int least, int most) { return {dimensions, least, most}; }
};

enum class DtypeNeed : std::uint8_t {
  floats,
  real,
  complex,
  integers,
  integers_or_bool,
  mask,
  condition,
  int64_index,
  short_index,  // int64 or int32
  int64_class,
  mask_or_floats,
  int32_or_floats,
};

// The operand has another shape than the operator takes.
struct WrongShape {
  std::string taker;  // as code
  ShapeNeed need;
  std::string operand;
  values::Shape shape;
};
struct WrongDtype {
  std::string taker;
  DtypeNeed need{};
  std::string operand;
  values::Dtype dtype{};
};
// Two operands that have to be of one dtype.
struct MixedDtypes {
  std::string taker;
  std::string one, other;
  values::Dtype first{}, second{};
};
// The layer or weight is made for `expected` of `unit` (features, channels, slopes), and the operand brings
// others.
struct WrongSize {
  std::string taker;
  std::string_view unit;
  values::Dim expected;
  std::string operand;
  values::Dim arrives;
  values::Shape shape;
};
// A layer whose weights have another dtype than the operand, or floats (unknown) where it has none.
struct OtherWeights {
  std::string taker;
  values::Dtype weights{};
  std::string operand;
  values::Dtype dtype{};
};
// The operand has another number of dimensions than all layouts, such as "[N, C, L]".
struct WrongLayout {
  std::string taker;
  std::vector<std::string> layouts;
  std::string operand;
  values::Shape shape;
};
struct ShapedOperand {
  std::string name;
  values::Shape shape;
};
// Shapes that do not go together as the operator needs it.
struct ShapesApart {
  enum Need : std::uint8_t {
    dimensions,  // as many in all of them
    one_shape,
    all_but_last,     // the same sizes
    batch_or_none,    // all with a batch, or none
    one_more,         // dimension than the last operand, in all others
    like_target,      // the shape of the input
    class_of_each,    // of the batch
    target_of_each,   // of the batch
    index_of_each,    // element
    variance_of_each  // element or row
  } need{};
  std::string taker;
  std::vector<ShapedOperand> operands;
};
// Two operands that differ in one size, which has to be the same.
struct SizesApart {
  std::string_view what;  // "their length"
  ShapedOperand one, other;
  values::Dim left, right;
  bool length_first = false;  // the batch is where it is without batch_first
};
// Of something that is needed for each of others there are too many or too few.
struct NotOneEach {
  std::string taker;
  std::string_view one;  // "a length"
  values::Dim expected;
  std::string_view each;  // "sequences"
  ShapedOperand of;       // that has those; may be empty
  std::string operand;    // that brings others; empty: they are written out
  values::Dim given;
};
// A number outside of what the parameter takes. A bound that is absent does not matter.
struct OutOfRange {
  std::string taker;
  std::string_view parameter;
  std::optional<double> least, most;
  bool above = false;  // the least itself is refused, too
  values::Dim given;   // unknown: not named
};
// A number asked for that there cannot be so many of: sizes, samples, windows.
struct ImpossibleCount {
  std::string taker;
  std::string_view unit;  // "samples"; empty: it is a size
  values::Dim asked;
  values::Dim among;  // of how many, where that is what is wrong
};
// A text that is none of the options of the parameter.
struct NoSuchOption {
  std::string taker;
  std::string_view parameter;
  std::vector<std::string_view> options;
  std::string given;
};
// As many of `unit` as of `per` were needed.
struct WrongCount {
  std::string taker;
  std::size_t given = 0;
  std::string_view unit;  // in the singular
  std::size_t expected = 0;
  std::string_view per;
};
// One size does not divide the other.
struct NotDivisible {
  std::string_view parameter;  // that says the size; empty: none does
  values::Dim size;
  std::string_view unit;  // "channels", without a parameter
  values::Dim by;
  std::string_view parts;  // "groups"
};
struct NoSuchArgument {
  std::string taker;
  std::string written, meant;  // `meant` may be empty
};
struct MissingArgument {
  std::string taker;
  std::string_view parameter;
};
struct TooManyArguments {
  std::string taker;
  std::size_t most = 0, given = 0;
};
// Something that is no tensor, or no number, where one is needed.
struct WrongKind {
  enum class Need : std::uint8_t { tensor, tensors, number, whole_number, whole_sizes } need{};
  enum class Has : std::uint8_t { none, text, number, real, list, tuple, dict, numbers } has{};
  std::string taker;
  std::string operand;  // what was given, or its parameter; may be empty
  std::string value;    // as written; may be empty
};
struct DimensionOutside {
  std::int64_t dimension = 0;
  std::size_t ndim = 0;
};
struct DimensionTwice {
  std::int64_t dimension = 0;
  std::string list;  // as code; may be empty
};
struct NoDimension {
  std::string operand;
  std::string_view purpose;  // "select from"
};
// Two shapes that do not broadcast, because of two sizes `at` dimensions from the right.
struct NoBroadcast {
  values::Shape one, other;
  std::size_t at = 0;
  values::Dim left, right;
};
// A shape that cannot be made the other one: written, copied or broadcast into it.
struct DoesNotFit {
  enum class Action : std::uint8_t { broadcast, copy, write, write_result } action{};
  std::string operand;
  values::Shape shape;
  std::string into;
  values::Shape other;
};
struct ResultDtype {
  std::string taker;  // empty: written in place
  values::Dtype result{}, target{};
  std::string into;
};
// An index that is written as a number lies outside.
struct NoSuchIndex {
  values::Dim index;
  std::size_t axis = 0;
  std::string indexed;
  values::Dim size;
};
// The operand holds a number that stands for a row or a class, of which there are not so many.
struct NoSuchEntry {
  std::string taker;
  values::Dim count;
  std::string_view units, unit;  // "rows", "index"
  std::string operand;
  values::Dim number;
};
// An element of the indices lies outside of what is indexed.
struct IndexOutside {
  std::string operand;  // the indices
  values::Dim index;
  std::string indexed;
  values::Shape shape;
  std::size_t axis = 0;
  values::Dim size;
};

// Two operands, or an operand and the weights of the layer, that lie on two devices.
struct PlacedOperand {
  enum Is : std::uint8_t { operand, weight, pos_weight, part, numbered } is{};
  std::string name;  // of the operand, or of the layer whose weight it is, or the list that it is a part of
  std::size_t index = 0;  // of a part or a numbered operand
};
struct DevicesApart {
  PlacedOperand one;
  std::string one_device;
  PlacedOperand other;
  std::string other_device;
};
// A dict has no such key.
struct NoSuchKey {
  std::string owner;              // as code, or "This dict"
  std::string key;                // as code
  std::vector<std::string> keys;  // the first that it has
  bool has_more = false;
  std::string meant;  // may be empty
};
struct NoKeyOfFile {
  std::string file, key;
  std::string within;  // the part of the file; may be empty
  std::string meant;   // may be empty
};
// The None that a function without a result gives back is used.
struct NoResult {
  std::string function;
  enum Use : std::uint8_t { attribute, items, arithmetic, iteration, length, unpacking } use{};
  std::string name;  // of the attribute
};
struct FalseAssertion {
  std::string condition;
  std::vector<std::pair<std::string, std::string>> values;  // what its parts are
};

// A refusal that differs from all others in its words alone: rules hold one template for each, in which the
// parts stand in this order (rules/shape/reason_texts.cpp). `why` of interpreter/reasons.hpp makes them.
enum class Reason : std::uint16_t;
struct RefusalBox;
using Part = std::variant<bool, std::int64_t, double, std::string, values::Shape, values::Dim, values::Dtype,
    std::shared_ptr<const RefusalBox>>;
struct Stated {
  Reason reason{};
  std::vector<Part> parts;
};

// It holds unless the object is of a class with another method of that name, or another constructor.
struct UnlessOverridden {
  std::shared_ptr<const RefusalBox> refusal;
  std::string method;  // empty: the constructor
};

using Refusal = std::variant<Stated, WrongShape, WrongDtype, MixedDtypes, OtherWeights, WrongLayout,
    ShapesApart, SizesApart, NotOneEach, NoSuchIndex, NoSuchEntry, WrongSize, OutOfRange, ImpossibleCount,
    NoSuchOption, WrongCount, NotDivisible, NoSuchArgument, MissingArgument, TooManyArguments, WrongKind,
    DimensionOutside, DimensionTwice, NoDimension, NoBroadcast, DoesNotFit, ResultDtype, IndexOutside,
    DevicesApart, NoSuchKey, NoKeyOfFile, NoResult, FalseAssertion, UnlessOverridden>;

// Kept beside an event; a type of its own so that `events.hpp` need not know the cases.
struct RefusalBox {
  Refusal refusal;
};

// What is wrong with what the event is about.
void explain(ProblemEvent& problem, Refusal refusal);

}  // namespace stepzero::interpreter
