// What is kept of decompositions of matrices, of chains of products, and of frames of a signal.
#include "footprint/saving_kinds.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::footprint {

using values::Kind;

namespace {

Int known_size(const Keeper& keeper, const TensorState* state, std::size_t from_right) {
  if (!state || !state->shape.ndim_known || state->shape.dims.size() <= from_right) return nullptr;
  const Int size = state->shape.dims[state->shape.dims.size() - 1 - from_right].size;
  return size && keeper.s.value(size) ? size : nullptr;
}
// How many matrices there are; null: not known.
Int matrices_in(const Keeper& keeper, const TensorState& state) {
  if (!state.shape.ndim_known || state.shape.dims.size() < 2) return nullptr;
  Shape batch = state.shape;
  batch.dims.resize(batch.dims.size() - 2);
  return elements(keeper.s, batch);
}

// A result of several, whether the program takes it or not.
void keep_part(Keeper& keeper, int part, Int count, std::string_view what) {
  for (const TensorState* result : keeper.node.results)
    if (result->made->part == part) return keeper.keep_result(*result);
  if (const TensorState* taken = keeper.graph.other_result(keeper.made, part))
    return keeper.keep_result(*taken);
  keeper.extra(count, keeper.first() ? keeper.dtype(*keeper.first()) : Dtype::unknown, what);
}

// The operator's setting of that name is off; otherwise where it is not given.
bool turns_off(const Keeper& keeper, std::string_view name, bool otherwise) {
  const Value given = keeper.option(name);
  return given.is(Kind::boolean) ? keeper.s.decide(given.condition()) == symbolic::Answer::no : otherwise;
}

}  // namespace

// The factors of a matrix, and which rows were exchanged.
void keep_factors(Keeper& keeper) {
  const TensorState* input = keeper.first();
  const Int rows = known_size(keeper, input, 1);
  if (!input || !rows) return keeper.unknown();
  keeper.extra(elements(keeper.s, input->shape), keeper.dtype(*input), "factors");
  keeper.extra(product(keeper.s, {matrices_in(keeper, *input), rows}), Dtype::int32, "exchanged rows");
}
// One for each matrix.
void keep_sign(Keeper& keeper) {
  const TensorState* input = keeper.first();
  if (!input) return keeper.unknown();
  keep_part(keeper, 0, matrices_in(keeper, *input), "sign");
}
void keep_is_negative(Keeper& keeper) {
  if (const TensorState* input = keeper.first())
    keeper.extra(matrices_in(keeper, *input), Dtype::boolean, "where it is negative");
}

void keep_eigenvectors(Keeper& keeper) {
  const TensorState* input = keeper.first();
  const Int rows = known_size(keeper, input, 0);
  if (!input || !rows) return keeper.unknown();
  if (keeper.name == "eigh") {
    keep_part(keeper, 0, product(keeper.s, {matrices_in(keeper, *input), rows}), "eigenvalues");
    return keep_part(keeper, 1, elements(keeper.s, input->shape), "eigenvectors");
  }
  keeper.keep_result(keeper.result());
  keeper.extra(elements(keeper.s, input->shape), keeper.dtype(*input), "eigenvectors");
}

void keep_singular(Keeper& keeper) {
  const TensorState* input = keeper.first();
  const Int rows = known_size(keeper, input, 1), columns = known_size(keeper, input, 0);
  if (!input || !rows || !columns || turns_off(keeper, "compute_uv", false)) return keeper.unknown();
  const Int count = matrices_in(keeper, *input);
  const Int both = *keeper.s.value(rows) < *keeper.s.value(columns) ? rows : columns;
  if (keeper.name == "svdvals") {
    keeper.keep_result(keeper.result());
    keeper.extra(product(keeper.s, {count, rows, both}), keeper.dtype(*input), "left vectors");
    return keeper.extra(product(keeper.s, {count, both, columns}), keeper.dtype(*input), "right vectors");
  }
  const bool by_some = std::ranges::any_of(
      keeper.made.row->parameters, [](const auto& each) { return each.text() == "some"; });
  const bool is_whole = by_some ? turns_off(keeper, "some", false)
                                : !turns_off(keeper, "full_matrices", false);
  keep_part(keeper, 0, product(keeper.s, {count, rows, is_whole ? rows : both}), "left vectors");
  keep_part(keeper, 1, product(keeper.s, {count, both}), "singular values");
  keep_part(keeper, 2, product(keeper.s, {count, is_whole ? columns : both, columns}), "right vectors");
}

void keep_orthogonal(Keeper& keeper) {
  const TensorState* input = keeper.first();
  const Int rows = known_size(keeper, input, 1), columns = known_size(keeper, input, 0);
  const Value mode = keeper.option("mode");
  if (!input || !rows || !columns || (mode.is(Kind::string) && mode.text() != "reduced") ||
      turns_off(keeper, "some", false))
    return keeper.unknown();
  const Int count = matrices_in(keeper, *input);
  const Int both = *keeper.s.value(rows) < *keeper.s.value(columns) ? rows : columns;
  keep_part(keeper, 0, product(keeper.s, {count, rows, both}), "orthogonal factor");
  keep_part(keeper, 1, product(keeper.s, {count, both, columns}), "triangular factor");
}

namespace {
// The cheapest order of a chain's products, as at::linalg_multi_dot finds it.
struct Chain {
  std::vector<std::int64_t> sizes;                // of matrix i: sizes[i] × sizes[i + 1]
  std::vector<std::vector<std::int64_t>> parted;  // after which matrix i to j are parted
};
Chain chain_of(std::vector<std::int64_t> sizes) {
  const std::size_t count = sizes.size() - 1;
  Chain made{std::move(sizes), std::vector(count, std::vector<std::int64_t>(count, 0))};
  std::vector<std::vector<std::int64_t>> cost(count, std::vector<std::int64_t>(count, 0));
  for (std::size_t length = 1; length < count; ++length)
    for (std::size_t i = 0; i + length < count; ++i) {
      const std::size_t j = i + length;
      for (std::size_t k = i; k < j; ++k) {
        const std::int64_t one = cost[i][k] + cost[k + 1][j] +
            made.sizes[i] * made.sizes[k + 1] * made.sizes[j + 1];
        if (k > i && one >= cost[i][j]) continue;
        cost[i][j] = one;
        made.parted[i][j] = static_cast<std::int64_t>(k);
      }
    }
  return made;
}
}  // namespace

std::optional<std::vector<ChainProduct>> products_of_chain(const Graph& graph, const Producer& made) {
  symbolic::Context& s = graph.record().symbols;
  std::vector<std::int64_t> sizes;
  for (const TensorState* each : made.listed) {
    if (!each || !each->shape.ndim_known || each->shape.dims.size() != 2) return std::nullopt;
    for (const values::Dim& dim : each->shape.dims) {
      const auto size = dim.size ? s.value(dim.size) : std::nullopt;
      if (!size) return std::nullopt;
      if (sizes.empty() || &dim != &each->shape.dims.front()) sizes.push_back(*size);
    }
  }
  if (sizes.size() < 3 || sizes.size() > values::most_stacked) return std::nullopt;
  const Chain chain = chain_of(std::move(sizes));
  std::vector<ChainProduct> found;
  struct Side {
    const TensorState* alone;  // null: what a product gives
    bool requires_grad;
  };
  const auto follow = [&](const auto& self, std::size_t from, std::size_t to) -> Side {
    if (from == to) return {made.listed[from], graph.requires_grad(*made.listed[from])};
    const auto at = static_cast<std::size_t>(chain.parted[from][to]);
    const Side left = self(self, from, at), right = self(self, at + 1, to);
    found.push_back({chain.sizes[from], chain.sizes[at + 1], chain.sizes[to + 1], left.alone, right.alone,
        left.requires_grad, right.requires_grad});
    return {nullptr, left.requires_grad || right.requires_grad};
  };
  follow(follow, 0, made.listed.size() - 1);
  return found;
}

// A chain of products: its matrices, and what each product inside gives.
void keep_chain(Keeper& keeper) {
  const auto products = products_of_chain(keeper.graph, keeper.made);
  if (!products) return keeper.unknown();
  const auto keep = [&](const TensorState* alone, std::int64_t numbers) {
    if (alone)
      keeper.keep(*alone);
    else
      keeper.extra(keeper.s.constant(numbers), keeper.dtype(), "product inside");
  };
  for (const ChainProduct& each : *products) {
    if (each.right_requires_grad) keep(each.left, each.rows * each.inner);
    if (each.left_requires_grad) keep(each.right, each.inner * each.columns);
  }
}

// The parts of a signal that a Fourier transform sees, which overlap: a view of the signal with what is put
// around it, or under a window a copy.
void keep_frames(Keeper& keeper) {
  const TensorState *input = keeper.first(), *window = keeper.tensor("window");
  const auto numbers = keeper.number("n_fft");
  const Int length = known_size(keeper, input, 0);
  if (!input || !numbers || !length) return keeper.unknown();
  symbolic::Context& s = keeper.s;
  const auto width = static_cast<std::int64_t>(*numbers);
  const auto hop = static_cast<std::int64_t>(keeper.number("hop_length").value_or(width / 4));
  const Value mode = keeper.option("pad_mode");
  const bool centered = !turns_off(keeper, "center", false);
  std::int64_t all = *s.value(length);
  Shape signals = input->shape;
  signals.dims.pop_back();
  if (centered) {
    if (!mode.is(Kind::string) || mode.text() != "constant") keeper.keep(*input);
    all += width / 2 * 2;
  }
  if (hop < 1 || all < width) return keeper.unknown();
  const Int count = elements(s, signals);
  if (!window) {
    if (centered)
      return keeper.extra(product(keeper.s, {count, s.constant(all)}), keeper.dtype(*input), "padded input");
    return keeper.keep(*input);
  }
  const auto given = static_cast<std::int64_t>(keeper.number("win_length").value_or(width));
  if (given == width)
    keeper.keep(*window);
  else
    keeper.extra(s.constant(width), keeper.dtype(*window), "padded window");
  keeper.extra(product(keeper.s, {count, s.constant(((all - width) / hop + 1) * width)}),
      keeper.dtype(*input), "frames");
  if (keeper.graph.requires_grad(*window)) keeper.unknown();
}

}  // namespace stepzero::footprint
