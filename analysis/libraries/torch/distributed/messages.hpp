// What the tensors of messages hold, where the program is run as one process that was told what the others
// send.
#pragma once

#include "interpreter/one_rank.hpp"
#include "libraries/table/native.hpp"

#include <optional>

namespace stepzero::libraries {

using interpreter::PeerMessages;

// Of a tensor that is sent: what is kept of its elements is what it holds now.
void forget_content(Call& call, Value tensor);

// A tensor was received: it holds what was sent. Who receives what nobody sends does not go on.
void hear(Call& call);

// What one process sends to all others: a tensor, or a list of objects. Under a channel of its own, as no
// message has such a tag.
std::optional<PeerMessages::Channel> broadcast_of(const Row& row, std::int64_t root);
// The objects of a list that is sent; none: something in it is not known.
std::optional<PeerMessages::Sent> objects_sent(
    const symbolic::Context& symbols, const values::ListState& list);

// A tensor or a list was broadcast: on the root it holds what it held, elsewhere what the root sent. Who
// waits for what the root never sends does not go on.
void hear_broadcast(Call& call, const values::Content* before, const values::ListState* list_before);

// Something was received, and from whom is not followed.
void hear_anything(Runtime& run);

}  // namespace stepzero::libraries
