#include "rules/deadlock/point_to_point.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {

bool talks_to(const JobView& story, int rank, int other) {
  return std::any_of(story.trace(rank).acts.begin(), story.trace(rank).acts.end(),
      [&](const CommEvent& act) { return act.peer == other; });
}

}  // namespace

bool to_itself(const JobView& story, Mismatch& mismatch) {
  for (int rank = 0; rank < story.size(); ++rank)
    for (const CommEvent& act : story.trace(rank).acts)
      if (act.peer == rank) {
        mismatch.cause = Cause::message;
        story.place(mismatch, act);
        mismatch.text = "Rank " + std::to_string(rank) +
            (act.what == CommEvent::What::send ? " sends to itself here"
                                               : " waits here for a message from itself") +
            ": a message needs two ranks.";
        return true;
      }
  return false;
}

bool never_answered(
    const JobView& story, const CollectiveSimulator& player, const Stop& stop, Mismatch& mismatch) {
  for (int rank = 0; rank < story.size(); ++rank) {
    const std::size_t at = stop.at[static_cast<std::size_t>(rank)];
    if (at >= story.trace(rank).acts.size()) continue;
    const CommEvent* message = player.message_of(rank, at);
    if (!message) continue;
    const auto count = [&](int of, int with, CommEvent::What what, const CommEvent* until) {
      int messages = 0;
      for (const CommEvent& act : story.trace(of).acts) {
        if (act.what == what && act.peer == with && act.tag == message->tag && act.group == message->group)
          ++messages;
        if (&act == until) break;
      }
      return messages;
    };
    const auto opposite = message->what == CommEvent::What::send ? CommEvent::What::receive
                                                                 : CommEvent::What::send;
    const int mine = count(rank, message->peer, message->what, message);
    const int theirs = count(message->peer, rank, opposite, nullptr);
    if (theirs >= mine) continue;
    // A function that nobody calls here may be one half of an exchange.
    if (story.of_function && !talks_to(story, message->peer, rank)) return false;
    mismatch.cause = Cause::message;
    mismatch.make<MessageWait>().peer = message->peer;
    story.place(mismatch, *message);
    const bool sends = message->what == CommEvent::What::send;
    const std::string me = std::to_string(rank), other = std::to_string(message->peer);
    mismatch.text = "Rank " + me +
        (sends ? " sends to rank " + other + " here, which never receives it"
               : " waits here for a message from rank " + other + ", which never sends " +
                    (mine > 1 ? std::string("that many") : "it"));
    const CommEvent* nearest = nullptr;
    for (const CommEvent& act : story.trace(message->peer).acts)
      if (act.what == opposite && (!nearest || act.peer == rank)) nearest = &act;
    if (nearest && nearest->peer == rank && nearest->tag != message->tag)
      mismatch.text += ": its " + call_text(nearest->name) + story.at_line(nearest->place) + " has tag " +
          std::to_string(nearest->tag) + ", this one has tag " + std::to_string(message->tag);
    else if (nearest && nearest->peer != rank)
      mismatch.text += ": its " + call_text(nearest->name) + story.at_line(nearest->place) +
          (sends ? " is for a message from rank " : " goes to rank ") + std::to_string(nearest->peer);
    else
      mismatch.text += ": " + story.doing(message->peer, stop.at);
    mismatch.text += ".";
    if (nearest && nearest->place)
      mismatch.related.push_back({nearest->place, "what rank " + other + (sends ? " receives" : " sends")});
    return true;
  }
  return false;
}

bool explain_messages(
    const JobView& story, const CollectiveSimulator& player, const Stop& stop, Mismatch& mismatch) {
  const CommEvent* first = nullptr;
  int who = -1;
  for (const bool sends : {true, false})
    for (int rank = 0; rank < story.size() && !first; ++rank) {
      const std::size_t at = stop.at[static_cast<std::size_t>(rank)];
      if (at >= story.trace(rank).acts.size()) continue;
      const CommEvent* message = player.message_of(rank, at);
      if (!message || (message->what == CommEvent::What::send) != sends) continue;
      first = message;
      who = rank;
    }
  if (!first || (story.of_function && !talks_to(story, first->peer, who))) return false;
  mismatch.cause = Cause::message;
  story.place(mismatch, *first);
  const bool sends = first->what == CommEvent::What::send;
  const std::size_t theirs = stop.at[static_cast<std::size_t>(first->peer)];
  const CommEvent* other =
      theirs < story.trace(first->peer).acts.size() ? &story.trace(first->peer).acts[theirs] : nullptr;
  const CommEvent* other_message = other ? player.message_of(first->peer, theirs) : nullptr;
  if (other_message && other_message->what == first->what) {
    mismatch.make<MessageWait>().exchange = true;
    mismatch.text = std::string("Rank ") + std::to_string(who) + " and rank " + std::to_string(first->peer) +
        " both " + (sends ? "send" : "receive") + " first" +
        (other_message->place == first->place ? "" : story.at_line(other_message->place)) +
        ": each waits for the other" + (sends ? " as soon as the message is not buffered." : ".") +
        " Let one of them " + (sends ? "receive" : "send") + " first, or use `batch_isend_irecv`.";
  } else {
    mismatch.text = std::string("Rank ") + std::to_string(who) +
        (sends ? " sends to rank " : " waits here for rank ") + std::to_string(first->peer) + ", but " +
        story.doing(first->peer, stop.at) + ": " +
        (sends ? "the message is not taken." : "it sends only after that.");
  }
  if (other && other->place && !(other->place == first->place))
    mismatch.related.push_back({other->place, "rank " + std::to_string(first->peer) + " waits here"});
  return true;
}

bool never_received(const JobView& story, const CollectiveSimulator& player, Mismatch& mismatch) {
  const auto left = player.left_over();
  if (left.empty()) return false;
  const auto& [rank, act] = left.front();
  mismatch.certain = false;
  mismatch.cause = Cause::message;
  story.place(mismatch, *act);
  mismatch.text = "Rank " + std::to_string(rank) + " sends to rank " + std::to_string(act->peer) +
      " here, which never receives it: the message is lost, or the sender waits forever.";
  return true;
}

bool other_size(const JobView& story, const CollectiveSimulator& player, Mismatch& mismatch) {
  for (const auto& [send, receive] : player.met()) {
    if (!send->elements || !receive->elements || *send->elements == *receive->elements) continue;
    mismatch.cause = Cause::size;
    story.place(mismatch, *receive);
    mismatch.text = "This receives " + std::to_string(*receive->elements) + " element" +
        plural(static_cast<std::size_t>(*receive->elements)) + ", and the sender" +
        story.at_line(send->place) + " sends " + std::to_string(*send->elements) + ".";
    mismatch.related.push_back({send->place, "the message is sent here"});
    return true;
  }
  return false;
}

}  // namespace stepzero::rules
