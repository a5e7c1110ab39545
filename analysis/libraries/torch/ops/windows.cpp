#include "libraries/torch/ops/windows.hpp"

#include "libraries/torch/ops/operators.hpp"

namespace stepzero::libraries {

namespace {

// torch.signal.windows: as long as asked for.
Value signal_window(Op& op) {
  const std::string title(op.title());
  const Int size = op.size("M");
  if (size && op.s.compare(Compare::lt, size, op.s.constant(0)) == Answer::yes)
    return op.refuse_number("points", op.dim(size));
  const Dtype dtype = op.dtype("dtype", op.run.default_dtype());
  if (dtype != Dtype::unknown && dtype != Dtype::float32 && dtype != Dtype::float64)
    return op.fail(ProblemKind::dtype, why<Reason::window_dtype>(title, dtype));
  for (const std::string_view positive : {"tau", "std"})
    if (const auto value = op.real(positive); value && *value <= 0)
      return op.refuse_value(positive, 0, {}, {}, true);
  if (const auto beta = op.real("beta"); beta && *beta < 0) return op.refuse_value("beta", 0);
  if (op.argument("center") && op.flag("sym") == Known::yes)
    return op.fail(ProblemKind::argument, why<Reason::window_center>(title));
  if (const auto items = op.sequence("a"); items && items->empty())
    return op.fail(ProblemKind::argument, why<Reason::no_coefficients>(title));
  return op.fresh({true, {size ? op.made(size) : Dim{}}}, dtype);
}
Value window(Op& op) {
  return op.fresh({true, {op.made(op.size("window_length"))}}, op.dtype("dtype", op.run.default_dtype()));
}

#define OPTIONS "dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False"

constexpr Operator signal_window_operators[] = {
    {"bartlett", "M, *, sym=True, " OPTIONS, "signal.windows", signal_window, Type::own},
    {"blackman", "M, *, sym=True, " OPTIONS, "signal.windows", signal_window, Type::own},
    {"cosine", "M, *, sym=True, " OPTIONS, "signal.windows", signal_window, Type::own},
    {"hamming", "M, *, sym=True, " OPTIONS, "signal.windows", signal_window, Type::own},
    {"hann", "M, *, sym=True, " OPTIONS, "signal.windows", signal_window, Type::own},
    {"nuttall", "M, *, sym=True, " OPTIONS, "signal.windows", signal_window, Type::own},
    {"general_hamming", "M, *, alpha=0.54, sym=True, " OPTIONS, "signal.windows", signal_window, Type::own},
    {"general_cosine", "M, *, a, sym=True, " OPTIONS, "signal.windows", signal_window, Type::own},
    {"gaussian", "M, *, std=1.0, sym=True, " OPTIONS, "signal.windows", signal_window, Type::own},
    {"exponential", "M, *, center=None, tau=1.0, sym=True, " OPTIONS, "signal.windows", signal_window,
        Type::own},
    {"kaiser", "M, *, beta=12.0, sym=True, " OPTIONS, "signal.windows", signal_window, Type::own},
    {"hann_window", "window_length, periodic=True, *, " OPTIONS, "torch", window, Type::own},
    {"hamming_window", "window_length, periodic=True, alpha=0.54, beta=0.46, *, " OPTIONS, "torch", window,
        Type::own},
    {"bartlett_window", "window_length, periodic=True, *, " OPTIONS, "torch", window, Type::own},
    {"blackman_window", "window_length, periodic=True, *, " OPTIONS, "torch", window, Type::own},
    {"kaiser_window", "window_length, periodic=True, beta=12.0, *, " OPTIONS, "torch", window, Type::own},
};

}  // namespace

std::vector<Row> signal_window_rows() { return operator_rows(signal_window_operators); }

}  // namespace stepzero::libraries
