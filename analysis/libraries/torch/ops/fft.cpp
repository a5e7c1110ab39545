// Fourier transforms: torch.fft, stft and istft.
#include "libraries/torch/ops/operators.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// What happens to the last transformed dimension, and to the dtype.
enum class Ends : std::uint8_t {
  same,   // complex, as long
  half,   // real to complex: n // 2 + 1
  whole,  // complex to real: 2 * (n - 1)
};

Int halved(Op& op, Int n) {
  return n ? op.s.add(op.s.floordiv(n, op.s.constant(2)), op.s.constant(1)) : nullptr;
}
Int doubled(Op& op, Int n) { return n ? op.s.mul(op.s.constant(2), op.s.sub(n, op.s.constant(1))) : nullptr; }

Dtype dtype_of(Ends ends, Dtype input) {
  const Dtype floating = to_floating(input);
  if (ends == Ends::whole) return real_part(floating);
  return is_complex(floating) ? floating : complex_part(floating);
}
bool too_small(Op& op, Int n) {
  if (!n || op.s.compare(Compare::lt, n, op.s.constant(1)) != Answer::yes) return false;
  op.refuse_number("points", op.dim(n));
  return true;
}
// The sizes of the transformed dimensions: asked for, or those of the input.
Value transform(Op& op, const std::vector<std::size_t>& axes, const std::vector<Int>& asked, Ends ends) {
  const TensorState* input = op.expect("input");
  Shape shape = input->shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = shape.dims[axes[i]];
    const bool last = i + 1 == axes.size();
    const Int n = i < asked.size() && asked[i] && op.s.value(asked[i]) != -1 ? asked[i] : nullptr;
    if (too_small(op, n)) return op.unknown();
    if (!n && op.value(dim) == 0)
      return op.fail(
          ProblemKind::argument, why<Reason::empty_signal>(code(op.title()), axes[i], input->shape), {dim});
    if (last && ends == Ends::half)
      dim = op.made(halved(op, n ? n : dim.size));
    else if (last && ends == Ends::whole)
      dim = op.made(n ? n : doubled(op, dim.size));
    else if (n)
      dim = op.made(n);
  }
  return op.result(shape, dtype_of(ends, input->dtype));
}
// Refuses what no transform takes; null then.
const TensorState* signal(Op& op) {
  if (!op.must_be_tensor("input")) return nullptr;
  const TensorState* input = op.expect("input");
  if (!input) return nullptr;
  const bool needs_real = op.title().starts_with("rfft") || op.title().starts_with("ihfft");
  if (needs_real && is_complex(input->dtype)) {
    op.refuse_dtype(DtypeNeed::real, "input");
    return nullptr;
  }
  if (const auto norm = op.text("norm");
      norm && *norm != "forward" && *norm != "backward" && *norm != "ortho") {
    op.refuse_option("norm", {"forward", "backward", "ortho"}, *norm);
    return nullptr;
  }
  return input;
}
Value along_one(Op& op, Ends ends) {
  const TensorState* input = signal(op);
  if (!input) return op.unknown();
  if (!input->shape.ndim_known) return op.result({}, dtype_of(ends, input->dtype));
  if (input->shape.dims.empty()) return op.refuse_shape(ProblemKind::argument, {ShapeNeed::signal}, "input");
  const auto axis = op.axis("dim", input->shape.dims.size());
  if (op.failed()) return op.unknown();
  if (!axis)
    return op.result({true, std::vector<Dim>(input->shape.dims.size())}, dtype_of(ends, input->dtype));
  if (op.argument("n") && !op.size("n")) {
    Shape shape = input->shape;
    shape.dims[*axis] = {};
    return op.result(shape, dtype_of(ends, input->dtype));
  }
  return transform(op, {*axis}, {op.argument("n") ? op.size("n") : nullptr}, ends);
}
Value along_many(Op& op, Ends ends) {
  const TensorState* input = signal(op);
  if (!input) return op.unknown();
  const Dtype dtype = dtype_of(ends, input->dtype);
  if (!input->shape.ndim_known) return op.result({}, dtype);
  const std::size_t rank = input->shape.dims.size();
  const bool two = op.title().ends_with('2');
  std::vector<std::size_t> axes;
  const auto asked = op.argument("s") ? op.sizes("s") : std::optional<std::vector<Int>>(std::in_place);
  if (!asked) return op.result({true, std::vector<Dim>(rank)}, dtype);
  if (op.given("dim") && op.argument("dim")) {
    const auto given = op.axes("dim", rank);
    if (op.failed()) return op.unknown();
    if (!given) return op.result({true, std::vector<Dim>(rank)}, dtype);
    axes = *given;
    if (rank == 0 && !axes.empty()) return op.refuse_shape(ProblemKind::index, {ShapeNeed::signal}, "input");
  } else {
    const std::size_t count = two ? 2 : op.argument("s") ? asked->size() : rank;
    if (count > rank)
      return op.refuse_shape(ProblemKind::argument, ShapeNeed::at_least(static_cast<int>(count)), "input");
    for (std::size_t i = rank - count; i < rank; ++i) axes.push_back(i);
  }
  if (op.argument("s") && asked->size() != axes.size())
    return op.refuse_count(ProblemKind::argument, asked->size(), "size", axes.size(), "dimension");
  if (axes.empty() && ends != Ends::same)
    return op.fail(ProblemKind::argument, why<Reason::no_transform>(code(op.title())));
  return transform(op, axes, *asked, ends);
}
Value one_same(Op& op) { return along_one(op, Ends::same); }
Value one_half(Op& op) { return along_one(op, Ends::half); }
Value one_whole(Op& op) { return along_one(op, Ends::whole); }
Value many_same(Op& op) { return along_many(op, Ends::same); }
Value many_half(Op& op) { return along_many(op, Ends::half); }
Value many_whole(Op& op) { return along_many(op, Ends::whole); }

Value shifted(Op& op) {
  const TensorState* input = op.must_be_tensor("input") ? op.expect("input") : nullptr;
  if (!input) return op.unknown();
  if (input->shape.ndim_known && op.argument("dim")) (void)op.axes("dim", input->shape.dims.size());
  return op.failed() ? op.unknown() : op.result(input->shape, input->dtype);
}
Value frequencies(Op& op) {
  const Int n = op.size("n");
  return op.fresh({true, {op.made(op.title() == "rfftfreq" ? halved(op, n) : n)}},
      op.dtype("dtype", op.run.default_dtype()));
}

// ---------------------------------------------------------------- short-time transforms

// [B, N, frames], with the real and the imaginary part after it where no complex tensor is asked for.
Value stft(Op& op) {
  const TensorState* input = op.must_be_tensor("input") ? op.expect("input") : nullptr;
  if (!input) return op.unknown();
  const Shape& shape = input->shape;
  if (shape.ndim_known && (shape.dims.empty() || shape.dims.size() > 2))
    return op.fail(ProblemKind::argument,
        interpreter::WrongShape{op.taker(), {ShapeNeed::signals}, op.name("input"), shape});
  const Int fft = op.size("n_fft");
  const auto length = op.argument("hop_length") ? op.size("hop_length")
      : fft                                     ? op.s.floordiv(fft, op.s.constant(4))
                                                : nullptr;
  if (length && op.s.compare(Compare::lt, length, op.s.constant(1)) == Answer::yes)
    return op.refuse_value("hop_length", 1);
  const TensorState* window = op.tensor("window");
  const Int wide = op.argument("win_length") ? op.size("win_length") : fft;
  if (window && window->shape.ndim_known && window->shape.dims.size() == 1 && wide &&
      op.equal(window->shape.dims[0], op.dim(wide)) == Answer::no)
    return op.fail(ProblemKind::argument,
        why<Reason::window_length>(
            window->shape.dims[0], static_cast<bool>(op.argument("win_length")), op.dim(wide)),
        {window->shape.dims[0]});
  const bool complex_input = is_complex(input->dtype);
  Known onesided = op.argument("onesided") ? op.flag("onesided")
      : input->dtype == Dtype::unknown     ? Known::unknown
      : complex_input                      ? Known::no
                                           : Known::yes;
  if (window && is_complex(window->dtype)) onesided = op.argument("onesided") ? onesided : Known::no;
  Known complex_output = op.argument("return_complex") ? op.flag("return_complex")
      : complex_input                                  ? Known::yes
                                                       : Known::no;
  if (!op.argument("return_complex") && window && is_complex(window->dtype)) complex_output = Known::yes;
  Dim bins;
  if (fft)
    bins = onesided == Known::yes ? op.made(halved(op, fft)) : onesided == Known::no ? op.made(fft) : Dim{};
  Dim frames;
  const Dim signal_length = from_right(shape, 0);
  if (fft && length && signal_length.size && op.flag("center") != Known::unknown) {
    const Int padded = op.flag("center") == Known::yes
        ? op.s.add(signal_length.size, op.s.mul(op.s.constant(2), op.s.floordiv(fft, op.s.constant(2))))
        : signal_length.size;
    if (op.s.compare(Compare::lt, padded, fft) == Answer::yes)
      return op.fail(
          ProblemKind::argument, why<Reason::signal_length>(op.dim(fft), signal_length), {signal_length});
    frames = op.made(op.s.add(op.s.floordiv(op.s.sub(padded, fft), length), op.s.constant(1)));
  }
  const Dtype floating = to_floating(input->dtype),
              dtype = complex_output == Known::yes
      ? (is_complex(floating) ? floating : complex_part(floating))
      : real_part(floating);
  if (!shape.ndim_known || complex_output == Known::unknown)
    return op.result({}, complex_output == Known::unknown ? Dtype::unknown : dtype);
  Shape out{true, {}};
  if (shape.dims.size() == 2) out.dims.push_back(shape.dims[0]);
  out.dims.push_back(bins);
  out.dims.push_back(frames);
  if (complex_output == Known::no) out.dims.push_back(op.dim(2));
  return op.result(out, dtype);
}
Value istft(Op& op) {
  const TensorState* input = op.must_be_tensor("input") ? op.expect("input") : nullptr;
  if (!input) return op.unknown();
  const Known complex_output = op.flag("return_complex");
  const Dtype floating = to_floating(input->dtype);
  const Dtype dtype = complex_output == Known::no ? real_part(floating)
      : complex_output == Known::yes              ? (is_complex(floating) ? floating : complex_part(floating))
                                                  : Dtype::unknown;
  if (!input->shape.ndim_known || input->dtype == Dtype::unknown) return op.result({}, dtype);
  // Real tensors hold both parts in their last dimension.
  std::vector<Dim> dims = input->shape.dims;
  if (!is_complex(input->dtype)) {
    if (dims.empty() || op.equal(dims.back(), 2) == Answer::no)
      return op.fail(ProblemKind::argument, why<Reason::spectrum_kind>(op.name("input"), input->shape));
    dims.pop_back();
  }
  if (dims.size() < 2 || dims.size() > 3)
    return op.fail(ProblemKind::argument, why<Reason::spectrum_shape>(op.name("input"), input->shape));
  const Int fft = op.size("n_fft");
  const auto hop = op.argument("hop_length") ? op.size("hop_length")
      : fft                                  ? op.s.floordiv(fft, op.s.constant(4))
                                             : nullptr;
  Dim samples;
  if (op.argument("length")) {
    samples = op.made(op.size("length"));
  } else if (fft && hop && dims.back().size) {
    const Int whole = op.s.add(fft, op.s.mul(hop, op.s.sub(dims.back().size, op.s.constant(1))));
    if (op.flag("center") == Known::no)
      samples = op.made(whole);
    else if (op.flag("center") == Known::yes)
      samples = op.made(op.s.sub(whole, op.s.mul(op.s.constant(2), op.s.floordiv(fft, op.s.constant(2)))));
  }
  Shape out{true, {}};
  if (dims.size() == 3) out.dims.push_back(dims[0]);
  out.dims.push_back(samples);
  return op.result(out, dtype);
}

// ---------------------------------------------------------------- the operators

#define ONE "input, n=None, dim=-1, norm=None, *, out=None"
#define MANY "input, s=None, dim=None, norm=None, *, out=None"

constexpr Operator fft_operators[] = {
    {"fft", ONE, "fft", one_same, Type::own},
    {"ifft", ONE, "fft", one_same, Type::own},
    {"rfft", ONE, "fft", one_half, Type::own},
    {"ihfft", ONE, "fft", one_half, Type::own},
    {"irfft", ONE, "fft", one_whole, Type::own},
    {"hfft", ONE, "fft", one_whole, Type::own},
    {"fft2", MANY, "fft", many_same, Type::own},
    {"ifft2", MANY, "fft", many_same, Type::own},
    {"rfft2", MANY, "fft", many_half, Type::own},
    {"ihfft2", MANY, "fft", many_half, Type::own},
    {"irfft2", MANY, "fft", many_whole, Type::own},
    {"hfft2", MANY, "fft", many_whole, Type::own},
    {"fftn", MANY, "fft", many_same, Type::own},
    {"ifftn", MANY, "fft", many_same, Type::own},
    {"rfftn", MANY, "fft", many_half, Type::own},
    {"ihfftn", MANY, "fft", many_half, Type::own},
    {"irfftn", MANY, "fft", many_whole, Type::own},
    {"hfftn", MANY, "fft", many_whole, Type::own},
    {"fftshift", "input, dim=None", "fft", shifted, Type::own},
    {"ifftshift", "input, dim=None", "fft", shifted, Type::own},
    {"fftfreq", "n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False", "fft",
        frequencies, Type::own},
    {"rfftfreq", "n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False", "fft",
        frequencies, Type::own},
    {"stft",
        "input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode='reflect', normalized=False, onesided=None, return_complex=None, align_to_window=None",
        "torch method torch.functional.stft", stft, Type::own},
    {"istft",
        "input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None, return_complex=False",
        "torch method", istft, Type::own},
};

}  // namespace

std::vector<Row> fft_rows() { return operator_rows(fft_operators); }

}  // namespace stepzero::libraries
