// What the families of layers share: settings of a module or of its functional form, checks of what arrives,
// windows.
#pragma once

#include "libraries/table/op.hpp"

#include <span>
#include <string>

namespace stepzero::libraries {

// Of a module what its constructor kept; of a function its argument. Resolved; absent if None.
Value setting(const Op& op, std::string_view name);
Dim setting_dim(const Op& op, std::string_view name);  // as a size; null if it is not known to be one
std::optional<std::string_view> setting_text(const Op& op, std::string_view name);
Known setting_flag(const Op& op, std::string_view name);
std::optional<std::vector<Int>> setting_axes(const Op& op, std::string_view name, std::size_t count);

// Is the size known to be smaller, for all values of its symbols?
bool less(const Op& op, Int a, Int b);
bool less_than(const Op& op, Int a, std::int64_t b);
// Fails where one of the settings is 0 or less, for all values of its symbols: no heads, no layers.
bool are_positive(Op& op, std::initializer_list<std::string_view> settings);

// The dtype of the layer's weights: what a conversion of the module made it; unknown if that is not certain.
Dtype weights_dtype(const Op& op);
// What a result made of the layer's weights alone has.
Dtype made_dtype(const Op& op);
bool in_autocast(const Op& op);
// Fails where the dtype of the input is one that the layer's weights cannot be multiplied with.
bool fits_weights(Op& op, std::string_view input);
// Fails where the input is known to be of integers or bool: the layer computes with floats only.
bool takes_floats(Op& op, std::string_view input);

// The tensors of the class of that path become the layer's: of one that learns its sizes from its first
// input.
void hold_parameters_of(Op& op, std::string_view path);
// The parts of layers that are made of others: see transformer_parts.cpp.
void hold_block(Op& op, bool decodes);
void hold_copies(Op& op);
void hold_encoder_and_decoder(Op& op);

// The input of a layer over `spatial` dimensions: [N, channels, …] or [channels, …]. Null channels: any.
// Teaches an unknown input what it must be. Null after fail(), or if nothing is known of it.
const TensorState* spatial_input(Op& op, std::string_view name, std::size_t spatial, const Dim& channels);
// The same for layers that need the batch.
const TensorState* ranked_input(Op& op, std::string_view name, std::span<const std::size_t> ranks);

// In a run that is shown: where the rank of the input is not known it is this one, which programs give, and
// sizes without a name get these.
const TensorState* take_usual(Op& op, std::string_view name, std::span<const std::string_view> sizes);

// A shape whose last dimensions are replaced: of a tensor of known rank, all others stay.
Shape with_last(const Shape& shape, std::span<const Dim> last);

// The rows of a family's modules and of its functions.
std::vector<Row> rows_of(std::span<const Layer> layers, std::span<const Operator> operators);

// The families of torch.nn.
std::vector<Row> convolution_rows();
std::vector<Row> pooling_rows();
std::vector<Row> norm_rows();
std::vector<Row> linear_rows();
std::vector<Row> activation_rows();
std::vector<Row> resizing_rows();
std::vector<Row> window_rows();
std::vector<Row> recurrent_rows();
std::vector<Row> attention_rows();
std::vector<Row> loss_rows();
std::vector<Row> data_rows();
std::vector<Row> conversion_rows();

}  // namespace stepzero::libraries
