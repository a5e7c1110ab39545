// What goes to files and comes from them: checkpoints, and the samples of data sets; and what learns from
// data outside PyTorch.
#include "interpreter/calls/noted_at.hpp"
#include "libraries/table/native.hpp"
#include "values/internal_rows.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// What is saved is what the dict holds now, whatever becomes of it.
Value save(Call& call) {
  const Value object = call.run.resolve(call.at(0));
  if (!object.is(Kind::dict)) return Value::none();
  const values::DictState& state = *values::Heap::dict_state(object);
  // A state itself is known by the object that it is.
  const bool is_state = std::ranges::all_of(
      state.items, [&](const auto& item) { return call.run.resolve(item.second).is(Kind::tensor); });
  if (!is_state || (state.items.empty() && !state.open)) {
    call.arguments[0] = call.run.heap().dict(state.items, state.open, state.rest);
  }
  return Value::none();
}
// A file of each rank holds what is its own.
bool is_of_rank(Call& call, Value path) {
  return call.run.heap().sharing(path) == Sharing::divergent && !call.run.heap().is_unseen(path);
}
Value load_array(Call& call) {
  const Value made = call.run.heap().unseen("", call.place);
  if (is_of_rank(call, call.run.resolve(call.at(0)))) made.as<values::Unknown>()->sharing = Sharing::local;
  return made;
}
// Reading parts of it is recorded.
Value load(Call& call) {
  const Value made = call.run.heap().unknown(
      "", is_of_rank(call, call.run.resolve(call.at(0))) ? Sharing::local : Sharing::uniform, call.place);
  made.as<values::Unknown>()->loaded = true;
  return made;
}
// The program names classes that may be made.
Value allow_classes(Call& call) {
  call.run.named_condition(
      interpreter::noted_at("torch.serialization.safe_globals", call.place), Sharing::uniform);
  return context(call);
}
// Of each array the training part and the test part.
Value parts(Call& call) {
  std::vector<Value> items;
  for (const Value& array : call.rest)
    for (int i = 0; i < 2; ++i) items.push_back(call.run.heap().unknown_from({array}, call.place));
  return call.spread ? call.run.heap().unseen("", call.place) : call.run.heap().list(std::move(items));
}

Value tokenizer(Call& call) {
  return Value::of(Kind::instance,
      call.run.make_native(call.row.path.starts_with("tokenizers.") ? "tokenizers.Tokenizer"
                                                                    : "sentencepiece.SentencePieceProcessor",
          call.place));
}
Value tokens(Call& call) { return call.run.heap().unseen("", call.place); }

}  // namespace

std::vector<Row> file_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.save", function, "obj, f, pickle_module=None, *more, **options", save, {}, Operation::save),
      row("torch.load", function,
          "f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **options", load, {},
          Operation::load),
      row("torch.serialization.add_safe_globals", function, "safe_globals", allow_classes),
      row("torch.serialization.safe_globals", function, "safe_globals", allow_classes),
      row(values::InternalRow::part, function, "key", nullptr, {}, Operation::part_read),
      row("os.replace", function, "src, dst, **options", nothing, {}, Operation::file_moved),
      row("os.rename", function, "src, dst, **options", nothing, {}, Operation::file_moved),
      row("shutil.move", function, "src, dst, **options", nothing, {}, Operation::file_moved),

      row("cv2.imread", function, "filename, flags=1", nullptr, {}, Operation::file_read),
      row("cv2.VideoCapture", function, "*arguments", nullptr, {}, Operation::file_read),
      row("numpy.load", function, "file, *more, **options", load_array, {}, Operation::file_read),

      row("sklearn.model_selection.train_test_split", function, "*arrays, **options", parts, {},
          Operation::split),
      row("sklearn.$Estimator", class_, "*arguments, **options", nullptr),
      row("sklearn.$Estimator.fit", method, "X, y=None, **options", itself, {}, Operation::fitted),
      row("sklearn.$Estimator.fit_transform", method, "X, y=None, **options", nullptr, {}, Operation::fitted),
      row("sklearn.$Estimator.partial_fit", method, "X, y=None, **options", itself, {}, Operation::fitted),
      row("sklearn.$Estimator.transform", method, "X", nullptr),
      row("sklearn.$Estimator.inverse_transform", method, "X", nullptr),
      row("tokenizers.Tokenizer", class_, "model", nullptr),
      row("tokenizers.Tokenizer.train", method, "files, trainer=None", nothing, {}, Operation::fitted),
      row("tokenizers.Tokenizer.train_from_iterator", method, "iterator, trainer=None, length=None", nothing,
          {}, Operation::fitted),
      row("tokenizers.Tokenizer.from_file", function, "path", tokenizer),
      row("tokenizers.Tokenizer.from_pretrained", function, "identifier, *more, **options", tokenizer),
      row("tokenizers.Tokenizer.encode", method, "sequence, pair=None, **options", tokens, {},
          Operation::tokenized),
      row("tokenizers.Tokenizer.encode_batch", method, "input, **options", tokens, {}, Operation::tokenized),
      row("sentencepiece.SentencePieceProcessor", class_, "model_file=None, *more, **options", nullptr),
      row("sentencepiece.SentencePieceProcessor.encode", method, "input, *more, **options", tokens, {},
          Operation::tokenized),
      row("sentencepiece.SentencePieceProcessor.encode_as_ids", method, "input, **options", tokens, {},
          Operation::tokenized),
      row("sentencepiece.SentencePieceProcessor.EncodeAsIds", method, "input, **options", tokens, {},
          Operation::tokenized),
      row("sentencepiece.SentencePieceTrainer.train", function, "arg=None, *, input=None, **options", nothing,
          {}, Operation::fitted),
      row("sentencepiece.SentencePieceTrainer.Train", function, "arg=None, *, input=None, **options", nothing,
          {}, Operation::fitted),

      // The names under which programs import modules.
      row(values::under<values::InternalRow::import_, "torch">, constant, "", nullptr, "torch"),
      row(values::under<values::InternalRow::import_, "nn">, constant, "", nullptr, "torch.nn"),
      row(values::under<values::InternalRow::import_, "F">, constant, "", nullptr, "torch.nn.functional"),
      row(values::under<values::InternalRow::import_, "dist">, constant, "", nullptr, "torch.distributed"),
      row(values::under<values::InternalRow::import_, "random">, constant, "", nullptr, "random"),

      row(values::InternalRow::handler, function, "of_files, taken, of_work", nullptr),
      row(values::InternalRow::raised, function, "exception", nullptr),
      row(values::InternalRow::carried, function, "mark", nullptr, {}, Operation::kept),
      row(values::InternalRow::kept, function, "added", nullptr, {}, Operation::kept),
      row(values::InternalRow::same_in_all, function, "size", nullptr, {}, Operation::has_to_fit),
      row(values::InternalRow::misfits, method, "samples, others, last", nullptr, {}, Operation::has_to_fit),
      row(values::InternalRow::fits, function, "size, other, broadcasts", nullptr, {}, Operation::has_to_fit),
      row(values::InternalRow::read, function, "", nullptr, {}, Operation::host_read),
      row(values::InternalRow::picked, function, "index", nullptr, {}, Operation::picked),
      row(values::InternalRow::window, function, "start, width", nullptr, {}, Operation::window),
  };
  for (const std::string_view path :
      {"sklearn.preprocessing.StandardScaler", "sklearn.preprocessing.MinMaxScaler",
          "sklearn.preprocessing.RobustScaler", "sklearn.preprocessing.MaxAbsScaler",
          "sklearn.preprocessing.PowerTransformer", "sklearn.preprocessing.QuantileTransformer",
          "sklearn.decomposition.PCA", "sklearn.decomposition.TruncatedSVD", "sklearn.impute.SimpleImputer",
          "sklearn.feature_extraction.text.CountVectorizer",
          "sklearn.feature_extraction.text.TfidfVectorizer", "sklearn.feature_selection.SelectKBest"})
    rows.push_back(row(path, class_, "*arguments, **options", nullptr, "sklearn.$Estimator"));
  // What programs call the models that they train, and the devices; what holds the device that they have
  // chosen; methods that call the others of their class; jaxtyping's annotations.
  using values::all_under;
  using values::InternalRow;
  const auto names = [&](const auto& paths) {
    for (const std::string_view path : paths) rows.push_back(row(path, constant, "", nullptr));
  };
  names(all_under<InternalRow::model, "model", "net", "network", "generator", "discriminator", "encoder",
      "decoder", "classifier", "backbone", "policy", "netG", "netD", "lm", "llm", "unet">);
  names(all_under<InternalRow::device, "device", "cuda_device", "torch_device", "DEVICE">);
  names(all_under<InternalRow::chooses_device, "self", "args", "opt", "opts", "cfg", "config", "configs",
      "conf", "hparams", "hps", "flags", "accelerator", "trainer">);
  names(all_under<InternalRow::calls_others, "forward", "__call__", "train", "run", "fit", "main">);
  names(all_under<InternalRow::asks_ndim, "dim", "ndimension">);
  // What an object that is not seen may make something of its own of, as an array of its type.
  names(all_under<InternalRow::set, "dtype">);
  names(all_under<InternalRow::sized, "Tensor", "TensorType">);
  names(all_under<InternalRow::shape_annotation, "Float", "Float16", "Float32", "Float64", "BFloat16", "Int",
      "Int8", "Int32", "Int64", "UInt8", "Integer", "Bool", "Num", "Shaped", "Inexact", "Complex">);
  for (const std::string_view path : {"tokenizers.ByteLevelBPETokenizer", "tokenizers.BertWordPieceTokenizer",
           "tokenizers.CharBPETokenizer", "tokenizers.SentencePieceBPETokenizer"})
    rows.push_back(row(path, class_, "*arguments, **options", nullptr, "tokenizers.Tokenizer"));
  return rows;
}

}  // namespace stepzero::libraries
