// Scores with the classes or the batch in another dimension than a loss takes them in, of batches whose
// lengths nobody knows: part of shape/loss-target. Where the lengths are known, the operator itself refuses
// them.
#include "rules/shape/classes_last.hpp"

#include "rules/losses.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules {

namespace {

using symbolic::Answer;

// A length that comes with each batch: nothing in the program gives it a number or a name.
bool comes_with_batch(const symbolic::Context& symbols, const Dim& dim) {
  if (!dim.size || symbols.value(dim.size)) return false;
  bool named = false;
  symbols.atoms(dim.size, [&](symbolic::Int atom) {
    const auto* info = symbols.atom_info(atom);
    named = named || !info || !info->name.empty();
  });
  return !named || symbols.sharing(dim.size) == symbolic::Sharing::local;
}

// [batch, length, classes] with [batch, length]: as many classes as there are, and a length in the place
// where they are asked for.
bool has_classes_last(
    const symbolic::Context& symbols, const values::Shape& scores, const values::Shape& target) {
  if (!scores.ndim_known || !target.ndim_known || scores.dims.size() < 3 ||
      target.dims.size() + 1 != scores.dims.size() || !scores.dims.back().size ||
      !symbols.value(scores.dims.back().size))
    return false;
  for (std::size_t i = 1; i < target.dims.size(); ++i)
    if (!comes_with_batch(symbols, scores.dims[i]) || !comes_with_batch(symbols, target.dims[i]))
      return false;
  const symbolic::Int a = scores.dims[0].size, b = target.dims[0].size;
  return !a || !b || symbols.compare(symbolic::Compare::eq, a, b) != Answer::no;
}

// Scores [batch, length, classes] of sequences, where [length, batch, classes] is asked for: there are as
// many lengths as the first dimension has.
bool is_batch_first(
    const symbolic::Context& symbols, const values::Shape& scores, const values::Shape& lengths) {
  if (!scores.ndim_known || scores.dims.size() != 3 || !lengths.ndim_known || lengths.dims.size() != 1)
    return false;
  const symbolic::Int batch = scores.dims[0].size, many = lengths.dims[0].size;
  return batch && many && symbols.compare(symbolic::Compare::eq, batch, many) == Answer::yes &&
      scores.dims[1].size != many && comes_with_batch(symbols, scores.dims[1]);
}

}  // namespace

void look_for_batch_first(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).all()) {
    const Value lengths = argument(*each.made, "input_lengths");
    const TensorState* scores = input(*each.made, 0);
    if (!lengths.is(values::Kind::tensor) || !scores || !each.state->mean ||
        !is_batch_first(record.symbols, scores->shape, lengths.as<values::Tensor>()->now()->shape) ||
        !once(each.made->born))
      continue;
    report.add(Severity::warning, each.made->born, each.made->calls,
        "This loss takes scores `[T, N, C]`, and gets " +
            values::code(values::shape_text(record.symbols, scores->shape)) +
            " with a length for each entry of the first dimension: it raises for each batch that is not as long as it is large. Bring the batch second: `.transpose(0, 1)`.");
  }
}

void look_for_classes_last(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).all()) {
    const values::LossInfo* loss = loss_of(*each.made);
    const TensorState *scores = input(*each.made, 0), *target = input(*each.made, 1);
    if (!loss || !loss->of_classes || !scores || !target || values::is_floating(target->dtype) ||
        !has_classes_last(record.symbols, scores->shape, target->shape) || !once(each.made->born))
      continue;
    const std::string classes = values::size_text(record.symbols, scores->shape.dims.back());
    report.add(Severity::warning, each.made->born, each.made->calls,
        values::code(loss->name) + " takes the classes in dimension 1, and the scores " +
            values::code(values::shape_text(record.symbols, scores->shape)) +
            " have them last: it raises \"Expected target size\" for each batch that is not " + classes +
            " long. Move them there: `.transpose(1, 2)`.");
  }
}

}  // namespace stepzero::rules
