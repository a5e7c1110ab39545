// Samples of data sets, and what default collation makes of them: what loaders and data sets share.
#pragma once

#include "libraries/table/shapes.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

// What an object of this library keeps under the name; absent if it is nothing or None, or no object.
Value kept(Runtime& run, Value object, values::AttributeKey name);
void keep(Runtime& run, Value object, values::AttributeKey name, Value value);
// A value of which only this is known, that each rank has its own.
Value unseen(Runtime& run, values::Place place);
// len(dataset), where it is known to be an integer.
Int length_of(Runtime& run, Value dataset, values::Place place);
// Of batches or samples, where nothing says how many: the same number whenever it is asked for, kept under
// this name.
constexpr values::KeptKey some_number = values::LoaderState::some_number;
Value some_count(Call& call);

// Any one sample. A class of the program is run once, for an index that may be any.
struct Sample {
  Value value;
  Int index = nullptr;
};
Sample sample_of(Runtime& run, Value dataset, values::Place place, int depth = 0);
// Of what it was given, whatever its own class makes of that.
Sample held_sample(Runtime& run, Value dataset, values::Place place, int depth = 0);

// A batch of samples that are like this one. `index`: the symbol of the sample's index.
Value collate(Runtime& run, Value sample, const Dim& batch, Int index, values::Place place, int depth = 0);
// Samples that are not seen, and what default collation makes of them, lie on the CPU as good as always;
// which is said with what follows from it.
Value on_host(Runtime& run, Value made, bool with_parts);
// A batch of samples that are not seen; `part`: one of the things that each of them consists of.
Value unseen_on_host(Runtime& run, values::Place place, Value sample = {}, bool part = false);
Value default_collate(Call& call);

std::vector<Row> data_set_rows();

}  // namespace stepzero::libraries
