// torchvision's data sets, of which it is known how large a picture is, and its transforms: what they make of
// one. From the documentation of torchvision 0.21. A picture is an object of PIL that knows its sizes.
#include "libraries/torch/data/pictures.hpp"

#include "libraries/table/native.hpp"
#include "values/kept.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>
#include <array>
#include <deque>

namespace stepzero::libraries {

namespace {

constexpr std::string_view picture_class = "PIL.Image.Image", module_class = "torch.nn.Module",
                           transform = "transform", target_transform = "target_transform";

// Channels, rows and columns; null where a size is not known.
using PictureSizes = std::array<Int, 3>;

Value make_picture(Call& call, const PictureSizes& sizes) {
  Instance* made = call.run.make_native(picture_class, call.place);
  made->open = true;
  std::vector<Value> items;
  items.reserve(sizes.size());
  for (const Int size : sizes) items.push_back(size ? Value::of(size) : Value::none());
  keep(call.run, *made, values::PictureState::sizes, call.run.heap().tuple(std::move(items)));
  return Value::of(Kind::instance, made);
}

bool is_tensor(Call& call, Value picture) {
  picture = call.run.resolve(picture);
  return picture.is(Kind::choice) ? is_tensor(call, picture.as<values::Choice>()->yes)
                                  : picture.is(Kind::tensor);
}

// Of a picture, or of a tensor that is one.
std::optional<PictureSizes> sizes_of(Call& call, Value picture) {
  picture = call.run.resolve(picture);
  PictureSizes sizes{};
  if (picture.is(Kind::choice)) {  // of one of two pictures what they have in common
    const auto& choice = *picture.as<values::Choice>();
    const auto yes = sizes_of(call, choice.yes), no = sizes_of(call, choice.no);
    if (!yes || !no || is_tensor(call, choice.yes) != is_tensor(call, choice.no)) return std::nullopt;
    for (std::size_t i = 0; i < 3; ++i)
      if ((*yes)[i] == (*no)[i]) sizes[i] = (*yes)[i];
    return sizes;
  }
  if (const TensorState* state = picture.is(Kind::tensor) ? tensor_state(call.run, picture) : nullptr) {
    if (!state->shape.ndim_known || state->shape.dims.size() != 3) return std::nullopt;
    for (std::size_t i = 0; i < 3; ++i) sizes[i] = state->shape.dims[i].size;
    return sizes;
  }
  const Value known = picture.is(Kind::instance)
      ? kept(call.run, *picture.as<Instance>(), values::PictureState::sizes)
      : Value{};
  if (!known.is(Kind::tuple) || known.as<values::Tuple>()->items.size() != 3) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i)
    if (const Value size = known.as<values::Tuple>()->items[i]; size.is(Kind::integer))
      sizes[i] = size.integer();
  return sizes;
}

Value as_tensor(Call& call, const PictureSizes& sizes, Dtype dtype) {
  TensorState state = computed(call.run, std::span<const Value>{});
  state.shape = {true, {}};
  for (const Int size : sizes) state.shape.dims.push_back({size, nullptr, nullptr});
  state.dtype = dtype;
  state.sharing = Sharing::local;
  state.device = call.run.heap().device("cpu").as<values::Device>();
  return call.run.heap().tensor(std::move(state), call.place);
}

Value not_known(Call& call) { return call.run.heap().unseen("", call.place); }

// The same picture, of other sizes.
Value resized(Call& call, Value picture, const PictureSizes& sizes) {
  if (!is_tensor(call, picture)) return make_picture(call, sizes);
  if (!call.run.resolve(picture).is(Kind::tensor)) return not_known(call);
  return as_tensor(call, sizes, tensor_state(call.run, picture)->dtype);
}

// The setting of the transform whose call it is, resolved; absent if it is None.
Value own(const Call& call, std::string_view name) {
  const Value value = kept(call, name);
  return value.is(Kind::none) ? Value{} : value;
}
// One number stands for both.
std::optional<std::array<Int, 2>> own_sizes(Call& call, std::string_view name) {
  const Value given = own(call, name);
  if (given.is(Kind::integer)) return std::array{given.integer(), given.integer()};
  if (!given.is(Kind::tuple) && !given.is(Kind::list)) return std::nullopt;
  const auto items = call.run.elements(given, call.place);
  if (!items || items->empty() || items->size() > 2) return std::nullopt;
  const Value first = call.run.resolve(items->front()), last = call.run.resolve(items->back());
  if (!first.is(Kind::integer) || !last.is(Kind::integer)) return std::nullopt;
  return std::array{first.integer(), last.integer()};
}

// ---------------------------------------------------------------- what transforms make of a picture

using Effect = Value (*)(Call& call, Value picture, const PictureSizes& sizes);

Value keeps(Call&, Value picture, const PictureSizes&) { return picture; }

// To these sizes, whatever they were before.
Value cut(Call& call, Value picture, const PictureSizes& sizes) {
  const auto to = own_sizes(call, "size");
  return to ? resized(call, picture, {sizes[0], (*to)[0], (*to)[1]}) : not_known(call);
}

// By one number: the shorter side gets it, the other follows.
Value scaled(Call& call, Value picture, const PictureSizes& sizes) {
  if (!own(call, "size").is(Kind::integer)) return cut(call, picture, sizes);
  auto& s = call.run.symbols();
  const Int size = own(call, "size").integer();
  if (own(call, "max_size")) return resized(call, picture, {sizes[0], nullptr, nullptr});
  if (sizes[1] && sizes[1] == sizes[2]) return resized(call, picture, {sizes[0], size, size});
  const auto rows = sizes[1] ? s.value(sizes[1]) : std::nullopt,
             columns = sizes[2] ? s.value(sizes[2]) : std::nullopt, wanted = s.value(size);
  if (!rows || !columns || !wanted || *rows <= 0 || *columns <= 0)
    return resized(call, picture, {sizes[0], nullptr, nullptr});
  const std::int64_t shorter = std::min(*rows, *columns),
                     longer = *wanted * std::max(*rows, *columns) / shorter;
  return resized(call, picture,
      {sizes[0], s.constant(*rows <= *columns ? *wanted : longer),
          s.constant(*rows <= *columns ? longer : *wanted)});
}

Value turned(Call& call, Value picture, const PictureSizes& sizes) {
  const Value expand = own(call, "expand");
  if (!expand ||
      (expand.is(Kind::boolean) && call.run.symbols().decide(expand.condition()) == symbolic::Answer::no))
    return picture;
  return resized(call, picture, {sizes[0], nullptr, nullptr});
}

Value gray(Call& call, Value picture, const PictureSizes& sizes) {
  const Value channels = own(call, "num_output_channels");
  return resized(
      call, picture, {channels.is(Kind::integer) ? channels.integer() : nullptr, sizes[1], sizes[2]});
}

Value padded(Call& call, Value picture, const PictureSizes& sizes) {
  const Value padding = own(call, "padding");
  auto& s = call.run.symbols();
  const auto more = [&](Int size) {
    return size && padding.is(Kind::integer) ? s.add(size, s.mul(s.constant(2), padding.integer())) : nullptr;
  };
  return resized(call, picture, {sizes[0], more(sizes[1]), more(sizes[2])});
}

// Of how many channels a picture is goes with its mode, which says what its numbers are.
template <Dtype dtype> Value to_tensor(Call& call, Value picture, const PictureSizes& sizes) {
  if (is_tensor(call, picture)) return not_known(call);
  return as_tensor(call, sizes, sizes[0] ? dtype : Dtype::unknown);
}
Value to_picture(Call& call, Value picture, const PictureSizes& sizes) {
  return call.run.resolve(picture).is(Kind::tensor) ? make_picture(call, sizes) : not_known(call);
}
Value to_dtype(Call& call, Value picture, const PictureSizes& sizes) {
  const Value dtype = own(call, "dtype");
  if (!call.run.resolve(picture).is(Kind::tensor)) return picture;
  return dtype.is(Kind::dtype) ? as_tensor(call, sizes, dtype.dtype()) : not_known(call);
}

std::string_view name_of(Call& call, Value transform) {
  transform = call.run.resolve(transform);
  const auto* native = transform.is(Kind::instance) ? transform.as<Instance>()->native : nullptr;
  return native ? native->path.substr(native->path.rfind('.') + 1) : std::string_view{};
}
// Does it take pictures alone, and make tensors of them?
bool takes_pictures(Call& call, Value transform) {
  const std::string_view name = name_of(call, transform);
  return name == "ToTensor" || name == "PILToTensor";
}

// One after the other.
Value through_all(Call& call, Value picture) {
  const Value all = own(call, "transforms");
  const auto items = all ? call.run.elements(all, call.place) : std::nullopt;
  if (!items) return not_known(call);
  const bool is_picture = sizes_of(call, picture) && !is_tensor(call, picture);
  // What comes to one that takes pictures alone has been one from the beginning.
  if (!sizes_of(call, picture) && call.run.resolve(picture).is(Kind::unknown) &&
      std::ranges::any_of(*items, [&](Value each) { return takes_pictures(call, each); }))
    picture = make_picture(call, {});
  for (const Value& each : *items) {
    picture = call.run.call(each, {{picture}, {}, false}, call.place);
    // What is normalized has to be floats, and of a picture there are no others.
    const Value made = call.run.resolve(picture);
    if (is_picture && name_of(call, each) == "Normalize" && made.is(Kind::tensor) &&
        tensor_state(call.run, made)->dtype == Dtype::unknown && call.run.default_dtype() == Dtype::float32)
      if (const auto sizes = sizes_of(call, made)) picture = as_tensor(call, *sizes, Dtype::float32);
  }
  return picture;
}
// … or not at all: which of both is not known.
Value through_some(Call& call, Value picture, const PictureSizes& sizes) {
  const Value made = through_all(call, picture);
  const auto then = sizes_of(call, made);
  return then && *then == sizes && call.run.resolve(made).kind == call.run.resolve(picture).kind
      ? picture
      : not_known(call);
}
Value by_function(Call& call, Value picture, const PictureSizes&) {
  return call.run.call(own(call, "lambd"), {{picture}, {}, false}, call.place);
}

template <Effect effect> Value apply(Call& call) {
  const Value picture = call.at(0);
  auto sizes = sizes_of(call, picture);
  if (!sizes && takes_pictures(call, call.self) && call.run.resolve(picture).is(Kind::unknown))
    sizes = PictureSizes{};
  if (call.spread || !call.rest.empty() || !call.options.empty()) return not_known(call);
  // What keeps the sizes keeps those that are not known, too.
  if (!sizes)
    return effect == keeps && call.run.resolve(picture).is(Kind::tensor) ? picture : not_known(call);
  return effect(call, picture, *sizes);
}
// What it hands on may be anything.
Value compose(Call& call) {
  return call.spread || !call.rest.empty() ? not_known(call) : through_all(call, call.at(0));
}

Value keep_settings(Call& call) {
  for (std::size_t i = 0; i < call.row.parameters.size() && i < call.arguments.size(); ++i)
    if (call.arguments[i]) keep(call, call.row.parameters[i].text(), call.run.resolve(call.arguments[i]));
  object(call).open = true;
  return {};
}

// Transforms are modules without tensors.
Value transform_init(Call& call) {
  keep(call, values::ContainerState::complete, call.run.heap().boolean(true));
  return keep_settings(call);
}

struct Transform {
  std::string_view names;  // by spaces
  std::string_view signature;
  Value (*apply)(Call&);
  bool is_module = true;
};
constexpr Transform transforms[] = {
    {"Compose", "transforms", compose, false},
    {"ToTensor", "", apply<to_tensor<Dtype::float32>>, false},
    {"PILToTensor", "", apply<to_tensor<Dtype::uint8>>, false},
    {"ToPILImage", "mode=None", apply<to_picture>, false},
    {"Lambda", "lambd, *more", apply<by_function>, false},
    {"ConvertImageDtype", "dtype", apply<to_dtype>},
    {"Normalize", "mean, std, inplace=False", apply<keeps>},
    {"Resize", "size, interpolation=None, max_size=None, antialias=True", apply<scaled>},
    {"CenterCrop", "size", apply<cut>},
    {"RandomCrop", "size, padding=None, pad_if_needed=False, fill=0, padding_mode='constant'", apply<cut>},
    {"RandomResizedCrop", "size, scale=None, ratio=None, interpolation=None, antialias=True", apply<cut>},
    {"Pad", "padding, fill=0, padding_mode='constant'", apply<padded>},
    {"Grayscale", "num_output_channels=1", apply<gray>},
    {"RandomRotation", "degrees, interpolation=None, expand=False, center=None, fill=0", apply<turned>},
    {"RandomHorizontalFlip RandomVerticalFlip RandomGrayscale", "p=0.5", apply<keeps>},
    {"ColorJitter RandomAffine RandomPerspective RandomErasing GaussianBlur RandAugment AutoAugment TrivialAugmentWide AugMix RandomInvert RandomPosterize "
     "RandomSolarize RandomAdjustSharpness RandomAutocontrast RandomEqualize",
        "*arguments, **options", apply<keeps>},
    {"RandomApply", "transforms, p=0.5", apply<through_some>},
};

// ---------------------------------------------------------------- data sets

struct Pictures {
  std::string_view names;  // by spaces
  std::string_view signature;
  std::int64_t channels, rows, columns;  // 0: not known
  std::int64_t classes;                  // 0: not known, or not one class for each
  std::int64_t train = 0, test = 0;      // how many there are; 0: not known
};
constexpr std::string_view by_flag =
                               "root, train=True, transform=None, target_transform=None, download=False",
                           by_split =
                               "root, split='train', transform=None, target_transform=None, download=False";
constexpr Pictures data_sets[] = {
    {"MNIST FashionMNIST KMNIST", by_flag, 1, 28, 28, 10, 60'000, 10'000},
    {"USPS", by_flag, 1, 16, 16, 10, 7'291, 2'007},
    {"CIFAR10", by_flag, 3, 32, 32, 10, 50'000, 10'000},
    {"CIFAR100", by_flag, 3, 32, 32, 100, 50'000, 10'000},
    {"SVHN", by_split, 3, 32, 32, 10},
    {"STL10", "root, split='train', folds=None, transform=None, target_transform=None, download=False", 3, 96,
        96, 0},
    {"EuroSAT", "root, transform=None, target_transform=None, download=False", 3, 64, 64, 10, 27'000, 27'000},
    {"ImageFolder",
        "root, transform=None, target_transform=None, loader=None, is_valid_file=None, allow_empty=False", 3,
        0, 0, 0},
    {"ImageNet", "root, split='train', transform=None, target_transform=None, loader=None", 3, 0, 0, 1'000},
    {"Flowers102 Food101", by_split, 3, 0, 0, 0},
    {"FakeData",
        "size=1000, image_size=None, num_classes=10, transform=None, target_transform=None, random_offset=0",
        3, 224, 224, 0},
};

template <std::size_t place> Value data_set_init(Call& call) {
  constexpr const Pictures& of = data_sets[place];
  keep_settings(call);
  auto& s = call.run.symbols();
  PictureSizes sizes{};
  constexpr std::int64_t numbers[] = {of.channels, of.rows, of.columns};
  for (std::size_t i = 0; i < 3; ++i) sizes[i] = numbers[i] ? s.constant(numbers[i]) : nullptr;
  std::int64_t length = 0;
  const Value train = kept(call, "train");
  if (of.train == of.test)
    length = of.train;
  else if (train.is(Kind::boolean))
    if (const auto answer = s.decide(train.condition()); answer != symbolic::Answer::unknown)
      length = answer == symbolic::Answer::yes ? of.train : of.test;
  if (length) keep(call, values::LoaderState::length, Value::of(s.constant(length)));
  Value classes = of.classes ? Value::of(s.constant(of.classes)) : Value{};
  if constexpr (of.names == "FakeData") {
    classes = kept(call, "num_classes");
    if (const Value size = kept(call, "size"); size.is(Kind::integer))
      keep(call, values::LoaderState::length, size);
    if (const Value given = kept(call, "image_size");
        given.is(Kind::tuple) && given.as<values::Tuple>()->items.size() == 3)
      for (std::size_t i = 0; i < 3; ++i)
        if (const Value size = call.run.resolve(given.as<values::Tuple>()->items[i]); size.is(Kind::integer))
          sizes[i] = size.integer();
        else
          sizes[i] = nullptr;
    else if (given && !given.is(Kind::none))
      sizes = {};
  }
  std::vector<Value> items;
  items.reserve(sizes.size());
  for (const Int size : sizes) items.push_back(size ? Value::of(size) : Value::none());
  items.push_back(classes.is(Kind::integer) ? classes : Value::none());
  keep(call, values::PictureState::sizes, call.run.heap().tuple(std::move(items)));
  return {};
}

// A picture and the number of its class, as the transforms leave them.
Value sample(Call& call) {
  const Value known = kept(call, values::PictureState::sizes);
  if (!known.is(Kind::tuple)) return not_known(call);
  const auto& items = known.as<values::Tuple>()->items;
  PictureSizes sizes{};
  for (std::size_t i = 0; i < 3; ++i) sizes[i] = items[i].is(Kind::integer) ? items[i].integer() : nullptr;
  const auto through = [&](std::string_view name, Value part) {
    const Value by = own(call, name);
    return by ? call.run.call(by, {{part}, {}, false}, call.place) : part;
  };
  symbolic::AtomInfo info;
  info.lower = items[3].is(Kind::integer) ? std::optional<std::int64_t>(0) : std::nullopt;
  if (const auto classes = items[3].is(Kind::integer) ? call.run.symbols().value(items[3].integer())
                                                      : std::nullopt)
    info.upper = *classes - 1;
  info.sharing = Sharing::local;
  const Value picture = through(transform, make_picture(call, sizes));
  return call.run.heap().tuple(
      {picture, through(target_transform, Value::of(call.run.symbols().fresh(info)))});
}
Value length(Call& call) {
  const Value known = kept(call, values::LoaderState::length);
  return known ? known : call.run.heap().unknown("", Sharing::uniform, call.place);
}

// Of sets that hold their pictures and classes as tensors.
constexpr std::string_view of_tensors[] = {"MNIST", "FashionMNIST", "KMNIST"};
template <bool pictures> Value whole(Call& call) {
  const Value known = kept(call, values::PictureState::sizes),
              count = kept(call, values::LoaderState::length);
  if (!known.is(Kind::tuple)) return not_known(call);
  TensorState state = computed(call.run, std::span<const Value>{});
  state.shape = {true, {{count.is(Kind::integer) ? count.integer() : nullptr, nullptr, nullptr}}};
  if (pictures)
    for (const std::size_t side : {1, 2})
      if (const Value size = known.as<values::Tuple>()->items[side]; size.is(Kind::integer))
        state.shape.dims.push_back({size.integer(), nullptr, nullptr});
  state.dtype = pictures ? Dtype::uint8 : Dtype::int64;
  state.device = call.run.heap().device("cpu").as<values::Device>();
  return call.run.heap().tensor(std::move(state), call.place);
}

// Of modes only those are followed that say how many channels there are; null: another one.
Int channels_of(Call& call, Value mode) {
  mode = call.run.resolve(mode);
  if (!mode.is(Kind::string)) return nullptr;
  constexpr std::pair<std::string_view, std::int64_t> modes[] = {{"RGB", 3}, {"L", 1}, {"RGBA", 4}};
  const auto found = std::ranges::find(modes, mode.text(), &std::pair<std::string_view, std::int64_t>::first);
  return found == std::end(modes) ? nullptr : call.run.symbols().constant(found->second);
}
// PIL counts columns first; nullopt: it is not known how many there are.
std::optional<std::array<Int, 2>> sides_of(Call& call, Value size) {
  size = call.run.resolve(size);
  if (!size.is(Kind::tuple) || size.as<values::Tuple>()->items.size() != 2) return std::nullopt;
  const Value columns = call.run.resolve(size.as<values::Tuple>()->items[0]),
              rows = call.run.resolve(size.as<values::Tuple>()->items[1]);
  if (!columns.is(Kind::integer) || !rows.is(Kind::integer)) return std::nullopt;
  return std::array{rows.integer(), columns.integer()};
}
// What PIL makes of a picture.
Value converted(Call& call) {
  const auto sizes = sizes_of(call, call.self);
  const Int channels = channels_of(call, call.at(0));
  return sizes && channels ? make_picture(call, {channels, (*sizes)[1], (*sizes)[2]}) : not_known(call);
}
Value resized_picture(Call& call) {
  const auto sizes = sizes_of(call, call.self);
  const auto to = sizes ? sides_of(call, call.at(0)) : std::nullopt;
  return to ? make_picture(call, {(*sizes)[0], (*to)[0], (*to)[1]}) : not_known(call);
}
// Of other sizes, or of the same.
template <bool same> Value changed(Call& call) {
  const auto sizes = sizes_of(call, call.self);
  if (!sizes) return not_known(call);
  return make_picture(call, same ? *sizes : PictureSizes{(*sizes)[0], nullptr, nullptr});
}
// Of an array: its mode is said, or goes with the array.
Value from_array(Call& call) { return make_picture(call, {channels_of(call, call.at(1)), nullptr, nullptr}); }
// One that the program reads: its sizes are those of a file.
Value opened(Call& call) { return make_picture(call, {}); }
Value new_picture(Call& call) {
  const auto sides = sides_of(call, call.at(1));
  const Int channels = channels_of(call, call.at(0));
  return make_picture(
      call, sides ? PictureSizes{channels, (*sides)[0], (*sides)[1]} : PictureSizes{channels});
}

template <std::size_t... places> auto inits(std::index_sequence<places...>) {
  return std::array{&data_set_init<places>...};
}

}  // namespace

std::vector<Row> picture_rows() {
  using enum RowKind;
  static std::deque<std::string> paths;  // texts of rows live as long as the process
  const auto path = [&](std::string_view package, std::string_view name, std::string_view more = "") {
    return std::string_view(paths.emplace_back(std::string(package) + std::string(name) + std::string(more)));
  };
  const auto each = [](std::string_view names, const auto& use) {
    while (!names.empty()) {
      const std::size_t end = std::min(names.find(' '), names.size());
      use(names.substr(0, end));
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  };
  std::vector<Row> rows = {
      row(picture_class, class_, "*arguments, **options", nullptr),
      row("PIL.Image.Image.convert", method, "mode=None, *more, **options", converted),
      row("PIL.Image.Image.resize", method, "size, *more, **options", resized_picture),
      row("PIL.Image.open", function, "fp, mode='r', formats=None", opened, {}, Operation::file_read),
      row("PIL.Image.fromarray", function, "obj, mode=None", from_array),
      row("PIL.Image.new", function, "mode, size, color=0", new_picture),
  };
  const auto pictures = [&](std::string_view names, Value (*run)(Call&)) {
    each(names, [&](std::string_view name) {
      rows.push_back(row(path("PIL.Image.Image.", name), method, "*arguments, **options", run));
    });
  };
  pictures("crop rotate transpose", changed<false>);
  pictures("copy filter point effect_spread", changed<true>);
  for (const Transform& one : transforms)
    each(one.names, [&](std::string_view name) {
      const std::string_view package = "torchvision.transforms.", base = one.is_module ? module_class : "";
      rows.push_back(row(
          path(package, name), class_, one.signature, one.is_module ? transform_init : keep_settings, base));
      for (const std::string_view method_name : {".__call__", ".forward"})
        rows.push_back(row(path(package, name, method_name), method, "img, *more, **options", one.apply));
    });
  const auto made = inits(std::make_index_sequence<std::size(data_sets)>());
  for (std::size_t i = 0; i < std::size(data_sets); ++i)
    each(data_sets[i].names, [&](std::string_view name) {
      const std::string_view package = "torchvision.datasets.";
      rows.push_back(
          row(path(package, name), class_, data_sets[i].signature, made[i], "torch.utils.data.Dataset"));
      rows.push_back(row(path(package, name, ".__getitem__"), method, "index", sample));
      rows.push_back(row(path(package, name, ".__len__"), method, "", length));
      if (std::ranges::find(of_tensors, name) == std::end(of_tensors)) return;
      rows.push_back(row(path(package, name, ".data"), property, "", whole<true>));
      rows.push_back(row(path(package, name, ".targets"), property, "", whole<false>));
    });
  return rows;
}

}  // namespace stepzero::libraries
