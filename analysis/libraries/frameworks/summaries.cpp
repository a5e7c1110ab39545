// What counts the parameters and operations of a model: torchinfo 1.8, torchsummary 1.5 and thop 0.1. Each
// runs the model once, and puts its mode back. Read in their sources.
#include "libraries/frameworks/frameworks.hpp"

namespace stepzero::libraries {

namespace {

constexpr std::string_view statistics = "torchinfo.ModelStatistics";
constexpr std::size_t model_at = 0, device_at = 8, layers_at = 4;

// Where a device is given, the model lies there afterwards.
Value summary(Call& call) {
  const Value device = call.run.resolve(call.at(device_at));
  if (device && !device.is(Kind::none))
    call.run.call(call.run.attribute(call.at(model_at), Name("to"), call.place), {{device}, {}, false},
        call.place, call.expr);
  return Value::of(Kind::instance, call.run.make_native(statistics, call.place));
}

Value count(Call& call) {
  const Value made = call.run.heap().unknown("", call.run.heap().sharing(call.at(model_at)), call.place);
  made.as<values::Unknown>()->is_real = true;
  return made;
}
// The operations and the parameters; where it is asked for them, those of the layers as well.
Value profile(Call& call) {
  const Value asked = call.run.resolve(call.at(layers_at));
  if (!asked.is(Kind::boolean)) return call.run.heap().unknown("", values::Sharing::uniform, call.place);
  std::vector<Value> found = {count(call), count(call)};
  switch (call.run.symbols().decide(asked.condition())) {
  case symbolic::Answer::unknown: return call.run.heap().unknown("", values::Sharing::uniform, call.place);
  case symbolic::Answer::yes:
    found.push_back(call.run.heap().unknown("", values::Sharing::uniform, call.place));
    break;
  case symbolic::Answer::no: break;
  }
  return call.run.heap().tuple(std::move(found));
}

}  // namespace

std::vector<Row> summary_rows() {
  using enum RowKind;
  return {
      row("torchinfo.summary", function,
          "model, input_size=None, input_data=None, batch_dim=None, cache_forward_pass=None, col_names=None, col_width=25, depth=3, device=None, dtypes=None, mode=None, row_settings=None, verbose=None, **options",
          summary),
      row("torchinfo.ModelStatistics", class_, "summary_list, input_size, total_input_size, formatting",
          nullptr),
      row("torchsummary.summary", function, "model, input_size, batch_size=-1, device='cuda'", nothing),
      row("thop.profile", function,
          "model, inputs, custom_ops=None, verbose=True, ret_layer_info=False, report_missing=False",
          profile),
      row("thop.clever_format", function, "nums, format='%.2f'", nullptr),
  };
}

}  // namespace stepzero::libraries
