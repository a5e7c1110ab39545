#include "rules/ranks/point_to_point.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {

bool talks_to(const JobView& view, int rank, int other) {
  return std::any_of(view.trace(rank).comms.begin(), view.trace(rank).comms.end(),
      [&](const CommEvent& comm) { return comm.peer == other; });
}

}  // namespace

bool to_itself(const JobView& view, Mismatch& mismatch) {
  for (int rank = 0; rank < view.size(); ++rank)
    for (const CommEvent& comm : view.trace(rank).comms)
      if (comm.peer == rank) {
        mismatch.cause = Cause::message;
        view.place(mismatch, comm);
        mismatch.text = "Rank " + std::to_string(rank) +
            (comm.what == CommEvent::What::send ? " sends to itself here"
                                                : " waits here for a message from itself") +
            ": a message needs two ranks.";
        return true;
      }
  return false;
}

bool never_answered(
    const JobView& view, const CollectiveSimulator& simulator, const Stop& stop, Mismatch& mismatch) {
  for (int rank = 0; rank < view.size(); ++rank) {
    const std::size_t at = stop.at[static_cast<std::size_t>(rank)];
    if (at >= view.trace(rank).comms.size()) continue;
    const CommEvent* message = simulator.message_of(rank, at);
    if (!message) continue;
    const auto count = [&](int of, int with, CommEvent::What what, const CommEvent* until) {
      int messages = 0;
      for (const CommEvent& comm : view.trace(of).comms) {
        if (comm.what == what && comm.peer == with && comm.tag == message->tag &&
            comm.group == message->group)
          ++messages;
        if (&comm == until) break;
      }
      return messages;
    };
    const auto opposite = message->what == CommEvent::What::send ? CommEvent::What::receive
                                                                 : CommEvent::What::send;
    const int mine = count(rank, message->peer, message->what, message);
    const int theirs = count(message->peer, rank, opposite, nullptr);
    if (theirs >= mine) continue;
    // A function that nobody calls here may be one half of an exchange.
    if (view.of_function && !talks_to(view, message->peer, rank)) return false;
    mismatch.cause = Cause::message;
    mismatch.make<MessageWait>().peer = message->peer;
    view.place(mismatch, *message);
    const bool sends = message->what == CommEvent::What::send;
    const std::string me = std::to_string(rank), other = std::to_string(message->peer);
    mismatch.text = "Rank " + me +
        (sends ? " sends to rank " + other + " here, which never receives it"
               : " waits here for a message from rank " + other + ", which never sends " +
                    (mine > 1 ? std::string("that many") : "it"));
    const CommEvent* nearest = nullptr;
    for (const CommEvent& comm : view.trace(message->peer).comms)
      if (comm.what == opposite && (!nearest || comm.peer == rank)) nearest = &comm;
    if (nearest && nearest->peer == rank && nearest->tag != message->tag)
      mismatch.text += ": its " + call_text(nearest->name) + view.at_line(nearest->place) + " has tag " +
          std::to_string(nearest->tag) + ", this one has tag " + std::to_string(message->tag);
    else if (nearest && nearest->peer != rank)
      mismatch.text += ": its " + call_text(nearest->name) + view.at_line(nearest->place) +
          (sends ? " is for a message from rank " : " goes to rank ") + std::to_string(nearest->peer);
    else
      mismatch.text += ": " + view.doing(message->peer, stop.at);
    mismatch.text += ". Give every send its receive, between the same ranks and with the same tag.";
    if (nearest && nearest->place)
      mismatch.related.push_back({nearest->place, "what rank " + other + (sends ? " receives" : " sends")});
    return true;
  }
  return false;
}

bool explain_messages(
    const JobView& view, const CollectiveSimulator& simulator, const Stop& stop, Mismatch& mismatch) {
  const CommEvent* first = nullptr;
  int who = -1;
  for (const bool sends : {true, false})
    for (int rank = 0; rank < view.size() && !first; ++rank) {
      const std::size_t at = stop.at[static_cast<std::size_t>(rank)];
      if (at >= view.trace(rank).comms.size()) continue;
      const CommEvent* message = simulator.message_of(rank, at);
      if (!message || (message->what == CommEvent::What::send) != sends) continue;
      first = message;
      who = rank;
    }
  if (!first || (view.of_function && !talks_to(view, first->peer, who))) return false;
  mismatch.cause = Cause::message;
  view.place(mismatch, *first);
  const bool sends = first->what == CommEvent::What::send;
  const std::size_t theirs = stop.at[static_cast<std::size_t>(first->peer)];
  const CommEvent* other =
      theirs < view.trace(first->peer).comms.size() ? &view.trace(first->peer).comms[theirs] : nullptr;
  const CommEvent* other_message = other ? simulator.message_of(first->peer, theirs) : nullptr;
  if (other_message && other_message->what == first->what) {
    auto& wait = mismatch.make<MessageWait>();
    wait.exchange = true;
    wait.apart = !(other_message->place == first->place);
    wait.first = who;
    mismatch.text = std::string("Rank ") + std::to_string(who) + " and rank " + std::to_string(first->peer) +
        " both " + (sends ? "send" : "receive") + " first" +
        (other_message->place == first->place ? "" : view.at_line(other_message->place)) +
        ": each waits for the other" + (sends ? " as soon as the message is not buffered." : ".") +
        " Let one of them " + (sends ? "receive" : "send") + " first, or use `batch_isend_irecv`.";
  } else {
    mismatch.text = std::string("Rank ") + std::to_string(who) +
        (sends ? " sends to rank " : " waits here for rank ") + std::to_string(first->peer) + ", but " +
        view.doing(first->peer, stop.at) + ": " +
        (sends ? "the message is not taken." : "it sends only after that.");
  }
  if (other && other->place && !(other->place == first->place))
    mismatch.related.push_back({other->place, "rank " + std::to_string(first->peer) + " waits here"});
  return true;
}

bool never_received(const JobView& view, const CollectiveSimulator& simulator, Mismatch& mismatch) {
  const auto left = simulator.left_over();
  if (left.empty()) return false;
  const auto& [rank, comm] = left.front();
  mismatch.certain = false;
  mismatch.cause = Cause::message;
  view.place(mismatch, *comm);
  mismatch.text = "Rank " + std::to_string(rank) + " sends to rank " + std::to_string(comm->peer) +
      " here, which never receives it: the message is lost, or the sender waits forever.";
  return true;
}

bool other_size(const JobView& view, const CollectiveSimulator& simulator, Mismatch& mismatch) {
  for (const auto& [send, receive] : simulator.met()) {
    if (!send->elements || !receive->elements || *send->elements == *receive->elements) continue;
    mismatch.cause = Cause::size;
    view.place(mismatch, *receive);
    mismatch.text = "This receives " + std::to_string(*receive->elements) + " element" +
        plural(static_cast<std::size_t>(*receive->elements)) + ", and the sender" +
        view.at_line(send->place) + " sends " + std::to_string(*send->elements) + ".";
    mismatch.related.push_back({send->place, "the message is sent here"});
    return true;
  }
  return false;
}

}  // namespace stepzero::rules
