"""The fixtures of every conformance test: a client whose session is judged as a whole when the test is over."""

import pytest

import conduct
import metamodel
from client import Client


@pytest.fixture(scope="session")
def model_or_reason():
    """The protocol's model, or why there is none. Only test_metamodel.py fails for want of it; it fails clearly."""
    try:
        return metamodel.Model(metamodel.find()), None
    except Exception as reason:
        return None, reason


@pytest.fixture(scope="session")
def model(model_or_reason):
    found, reason = model_or_reason
    if found is None:
        pytest.fail(str(reason))
    return found


@pytest.fixture
def start(model_or_reason):
    """Starts a server: start(transport=…, env=…). At the end of the test each session that is still open is shut down in
    order, must exit with 0, and must have been right from its first message to its last."""
    clients = []

    def begin(*args, **kwargs):
        client = Client(*args, **kwargs)
        clients.append(client)
        return client

    yield begin
    try:
        for client in clients:
            if client.process.poll() is None and hasattr(client, "capabilities"):
                status = client.shut_down()
                assert status == 0, f"exit status {status} after shutdown; standard error: {client.errors()[-3000:]}"
            elif client.process.poll() is None:
                client.close_input()
                client.wait_for_exit()
            assert client.process.poll() >= 0, f"ended by signal {-client.process.poll()}: {client.errors()[-3000:]}"
            assert "Sanitizer" not in client.errors(), client.errors()[-6000:]
            assert not conduct.faults(client, model_or_reason[0])
            if client._fault:
                raise client._fault
    finally:
        for client in clients:
            client.kill()


@pytest.fixture
def lsp(start):
    """One server over stdio, initialized by a rich client."""
    client = start()
    client.initialize()
    return client


@pytest.fixture(params=["stdio", "socket", "pipe"])
def transport(request):
    return request.param
