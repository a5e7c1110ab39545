#include "libraries/torch/optim/devices.hpp"

#include "interpreter/calls/unseen.hpp"
#include "interpreter/record.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

namespace {

// The stream in which the GPU works here: none that the program made.
Value some_stream(Call& call) {
  return Value::of(Kind::instance, call.run.make_native("torch.cuda.Stream", call.place));
}
// A shape is a tuple.
Value size_made(Call& call) {
  const Value given = call.run.resolve(call.at(0));
  if (!given) return call.run.heap().tuple({});
  auto items = given.is(Kind::tensor) ? std::nullopt : call.run.elements(given, call.place);
  if (items) return call.run.heap().tuple(std::move(*items));
  const Value made = call.run.heap().unknown_from(std::vector{given}, call.place);
  made.as<values::Unknown>()->ends_with = call.run.heap().tuple({});
  return made;
}
Value device_made(Call& call) {
  const Value text = call.run.resolve(call.given[0] ? call.at(0) : call.at(2));
  if (text.is(Kind::string)) return call.run.heap().device(text.text());
  if (text.is(Kind::device)) return text;
  const Value made = call.run.heap().unknown("", call.run.heap().sharing(text), call.place);
  // `f"cuda:{rank}"`, `"cuda:{}".format(gpu)`: which of them nobody knows.
  if (interpreter::beginning_of(text).starts_with("cuda:"))
    call.run.heap()
        .slot_of(made.as<values::Unknown>()->attributes, Name(values::UnknownState::chosen))
        .value = call.run.heap().string("cuda");
  // `torch.device(args.device)`: what it is presumed to be by its name.
  if (const values::Device* presumed = interpreter::presumed_device(call.run, text))
    call.run.heap()
        .slot_of(made.as<values::Unknown>()->attributes, Name(values::UnknownState::chosen))
        .value = Value::of(Kind::device, presumed);
  // "cuda" if torch.cuda.is_available() else "cpu": what it may be is kept beside.
  if (text.is(Kind::choice)) {
    auto& attributes = made.as<values::Unknown>()->attributes;
    call.run.heap().slot_of(attributes, Name(values::UnknownState::chosen)).value = text;
    bool whole = true;
    const Value type = call.run.over_choices(text, [&](Value side) {
      if (!side.is(Kind::string)) return whole = false, side;
      return call.run.heap().string(side.text().substr(0, side.text().find(':')));
    });
    if (whole) call.run.heap().slot_of(attributes, Name("type")).value = type;
  }
  return made;
}
template <Dtype dtype> Value dtype_value(Call&) { return Value::of(dtype); }
Value seeded(Call& call) {
  // Those of CUDA leave the CPU's stream as it is.
  call.run.note_seed(call.at(0), Runtime::Stream::torch, call.row.path.starts_with("torch.cuda."));
  return Value::none();
}
Value available(Call& call) {
  return Value::of(call.run.named_condition(call.without_arguments(), Sharing::uniform));
}
// Where it is said whether there is a GPU, that; else nobody knows.
Value current_accelerator(Call& call) {
  const auto& asked = call.run.record().conditions;
  const auto there = asked.find("torch.accelerator.is_available()");
  const Answer answer = there == asked.end() ? Answer::unknown : call.run.symbols().decide(there->second);
  if (answer == Answer::yes) return call.run.heap().device("cuda");
  return answer == Answer::no ? Value::none() : call.run.heap().unseen("", call.place);
}
Value own_device(Call& call) { return call.run.heap().unknown("", Sharing::local, call.place); }
Value device_count(Call& call) {
  return call.run.heap().unknown("device_count", Sharing::uniform, call.place);
}

}  // namespace

std::vector<Row> device_rows() {
  using enum RowKind;
  return {
      row("torch.Size", function, "iterable=()", size_made),
      row("torch.device", function, "device=None, index=None, type=None", device_made),
      row("torch.cuda.is_available", function, "", available),
      row("torch.backends.mps.is_available", function, "", available),
      row("torch.accelerator.is_available", function, "", available),
      row("torch.accelerator.current_accelerator", function, "check_available=False", current_accelerator),
      row("torch.cuda.is_bf16_supported", function, "", available),
      row("torch.cuda.device_count", function, "", device_count),
      // Each process has its own device, and not all of a job are of one kind.
      row("torch.cuda.get_device_properties", function, "device=None", own_device),
      row("torch.cuda.mem_get_info", function, "device=None", own_device),
      row("torch.cuda.set_device", function, "device", nothing),
      // What was started in a stream is waited for. The class of a `with` is told by its kind.
      row("torch.cuda.synchronize", function, "device=None", nothing, {}, Operation::poll),
      row("torch.cuda.Stream", class_, "device=None, priority=0, **options", nullptr),
      row("torch.cuda.Stream.wait_stream", method, "stream", nothing, {}, Operation::poll),
      row("torch.cuda.Stream.wait_event", method, "event", nothing, {}, Operation::poll),
      row("torch.cuda.Stream.synchronize", method, "", nothing, {}, Operation::poll),
      row("torch.cuda.current_stream", function, "device=None", some_stream),
      row("torch.cuda.default_stream", function, "device=None", some_stream),
      row("torch.cuda.stream", class_, "stream", nullptr, {}, Operation::poll),
      row("torch.cuda.Event", class_, "enable_timing=False, blocking=False, interprocess=False", nullptr),
      row("torch.cuda.Event.wait", method, "stream=None", nothing, {}, Operation::poll),
      row("torch.cuda.Event.synchronize", method, "", nothing, {}, Operation::poll),
      row("torch.cuda.empty_cache", function, "", nothing),
      row("torch.manual_seed", function, "seed", seeded),
      row("torch.cuda.manual_seed", function, "seed", seeded),
      row("torch.cuda.manual_seed_all", function, "seed", seeded),
  };
}

std::vector<Row> dtype_rows() {
  using enum RowKind;
  return {
      row("torch.float64", constant, "", dtype_value<Dtype::float64>),
      row("torch.double", constant, "", dtype_value<Dtype::float64>),
      row("torch.float32", constant, "", dtype_value<Dtype::float32>),
      row("torch.float", constant, "", dtype_value<Dtype::float32>),
      row("torch.float16", constant, "", dtype_value<Dtype::float16>),
      row("torch.half", constant, "", dtype_value<Dtype::float16>),
      row("torch.bfloat16", constant, "", dtype_value<Dtype::bfloat16>),
      row("torch.int64", constant, "", dtype_value<Dtype::int64>),
      row("torch.long", constant, "", dtype_value<Dtype::int64>),
      row("torch.int32", constant, "", dtype_value<Dtype::int32>),
      row("torch.int", constant, "", dtype_value<Dtype::int32>),
      row("torch.int16", constant, "", dtype_value<Dtype::int16>),
      row("torch.short", constant, "", dtype_value<Dtype::int16>),
      row("torch.complex64", constant, "", dtype_value<Dtype::complex64>),
      row("torch.cfloat", constant, "", dtype_value<Dtype::complex64>),
      row("torch.complex128", constant, "", dtype_value<Dtype::complex128>),
      row("torch.cdouble", constant, "", dtype_value<Dtype::complex128>),
      row("torch.int8", constant, "", dtype_value<Dtype::int8>),
      row("torch.uint8", constant, "", dtype_value<Dtype::uint8>),
      row("torch.bool", constant, "", dtype_value<Dtype::boolean>),
      row("torch.complex32", constant, "", dtype_value<Dtype::complex32>),
      row("torch.chalf", constant, "", dtype_value<Dtype::complex32>),
      row("torch.uint16", constant, "", dtype_value<Dtype::uint16>),
      row("torch.uint32", constant, "", dtype_value<Dtype::uint32>),
      row("torch.uint64", constant, "", dtype_value<Dtype::uint64>),
      row("torch.float8_e4m3fn", constant, "", dtype_value<Dtype::float8_e4m3fn>),
      row("torch.float8_e4m3fnuz", constant, "", dtype_value<Dtype::float8_e4m3fnuz>),
      row("torch.float8_e5m2", constant, "", dtype_value<Dtype::float8_e5m2>),
      row("torch.float8_e5m2fnuz", constant, "", dtype_value<Dtype::float8_e5m2fnuz>),
      row("torch.float8_e8m0fnu", constant, "", dtype_value<Dtype::float8_e8m0fnu>),
      row("torch.float4_e2m1fn_x2", constant, "", dtype_value<Dtype::float4_e2m1fn_x2>),
  };
}

}  // namespace stepzero::libraries
