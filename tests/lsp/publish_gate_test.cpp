#include "server/documents/publish_gate.hpp"

#include <catch2/catch.hpp>

using stepzero::server::PublishGate;

TEST_CASE("each new version is answered once, whatever its content") {
  PublishGate gate;
  CHECK(gate.admit(0, 7));
  CHECK(gate.admit(1, 7));
  CHECK_FALSE(gate.admit(1, 7));
  CHECK(gate.admit(5, 7));
}

TEST_CASE("a version is said again only with other content") {
  PublishGate gate;
  CHECK(gate.admit(3, 7));
  CHECK(gate.admit(3, 8));
  CHECK_FALSE(gate.admit(3, 8));
  CHECK(gate.admit(3, 7));
}

TEST_CASE("versions never decrease, and a closed document hears nothing") {
  PublishGate gate;
  CHECK(gate.admit(-1, 1));
  CHECK(gate.admit(3, 1));
  CHECK_FALSE(gate.admit(2, 9));
  gate.close();
  CHECK_FALSE(gate.admit(4, 1));
}
