"""One request, one reply: streams put together, tokens counted, what passes by itself waited for."""

from __future__ import annotations

from typing import Any

import pytest
from scripted import FINAL, Scripted, Turn, call, calls, refuse, say, tokens

from gitckpt.errors import UsageError
from gitckpt.loop.endpoint import Address, ContextOverflow, Endpoint, EndpointFailed

QUESTION = [{"role": "user", "content": "what now?"}]


def endpoint(server: Scripted, **settings: Any) -> Endpoint:
    return Endpoint("model", base_url=server.url, api_key="secret", first_wait=0.001, **settings)


def test_a_reply_is_put_together_from_its_pieces_and_counted() -> None:
    pieces: list[str] = []
    with Scripted([Turn("I look around first.", calls(call("look", {"at": "é"}), call("go")).calls)]) as server:
        asked = endpoint(server, temperature=0)
        reply = asked.ask(QUESTION, [{"type": "function", "function": {"name": "look"}}], pieces.append)
    assert reply.text == "".join(pieces) == "I look around first."
    assert len(pieces) > 1
    assert [(one.name, one.arguments) for one in reply.calls] == [("look", '{"at": "\\u00e9"}'), ("go", "{}")]
    assert len({one.id for one in reply.calls}) == 2
    assert (reply.finish, reply.input_tokens, reply.output_tokens) == ("tool_calls", tokens(QUESTION), 10)
    assert (asked.usage.requests, asked.usage.input_tokens, asked.usage.estimated) == (1, tokens(QUESTION), 0)
    assert server.keys == ["Bearer secret"]
    body = server.bodies[0]
    assert (body["model"], body["temperature"], body["tools"][0]["function"]["name"]) == ("model", 0, "look")


def test_an_endpoint_that_counts_nothing_and_numbers_nothing() -> None:
    turn = Turn("x" * 40, calls(call("a", {"n": 1}), call("b", {"n": 2})).calls, usage=False, quirks=True)
    with Scripted([turn]) as server:
        asked = endpoint(server)
        reply = asked.ask(QUESTION)
    assert [(one.name, one.arguments) for one in reply.calls] == [("a", '{"n": 1}'), ("b", '{"n": 2}')]
    assert len({one.id for one in reply.calls} - {""}) == 2
    assert reply.input_tokens == pytest.approx(tokens(QUESTION), abs=2)
    assert (reply.output_tokens > 10, asked.usage.estimated) == (True, 1)


@pytest.mark.parametrize(
    "trouble",
    [
        refuse(429, retry_after="0"),
        refuse(429, retry_after="Mon, 01 Jan 2024 00:00:00 GMT"),
        refuse(429, retry_after="soon"),
        refuse(500),
        refuse(503),
        say("half of it", cut=2),
        say("all but its end", cut=5),
        Turn("", cut=0),
        Turn(body="<html>a proxy says hello</html>"),
        Turn(status=502, body="<html>bad gateway</html>"),
    ],
)  # fmt: skip
def test_what_passes_by_itself_is_waited_for(trouble: Turn) -> None:
    told: list[str] = []
    with Scripted([trouble, trouble, FINAL]) as server:
        asked = endpoint(server, say=told.append)
        assert asked.ask(QUESTION).text == FINAL.text
    assert (len(server.bodies), asked.usage.requests, len(told)) == (3, 1, 2)
    assert all("asking again in" in line for line in told)


def test_retry_after_is_kept_to() -> None:
    told: list[str] = []
    with Scripted([refuse(429, retry_after="0.21"), FINAL]) as server:
        endpoint(server, say=told.append).ask(QUESTION)
    assert told[0].endswith("asking again in 0.2 s")


def test_it_is_given_up_at_last() -> None:
    with Scripted([refuse(500)] * 9) as server:
        asked = endpoint(server, attempts=3)
        with pytest.raises(EndpointFailed, match="asked 3 times in vain: the endpoint said 500") as error:
            asked.ask(QUESTION)
    assert (len(server.bodies), asked.usage.requests, error.value.exit_status) == (3, 0, 4)
    assert "gitckpt resume" in error.value.hint


def test_nobody_there() -> None:
    with Scripted([]) as server:
        gone = server.url
    secret = gone.replace("://", "://me:secret@") + "?key=secret"
    asked = Endpoint("model", base_url=secret, attempts=2, first_wait=0.001)
    with pytest.raises(EndpointFailed, match="asked 2 times in vain") as error:
        asked.ask(QUESTION)
    assert f" from {gone}" in str(error.value)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("refusal", "kind", "words"),
    [
        (refuse(401, "no such key"), EndpointFailed, "the endpoint said 401"),
        (refuse(404, "no such model"), EndpointFailed, "no such model"),
        (refuse(400, "bad request"), EndpointFailed, "bad request"),
        (refuse(400, "This model's maximum context length is 512 tokens"), ContextOverflow, "512 tokens"),
        (refuse(413, "the request exceeds the available context size"), ContextOverflow, "context size"),
        (refuse(500, "the context window is exceeded"), ContextOverflow, "context window"),
    ],
)
def test_a_refusal_is_final(refusal: Turn, kind: type[Exception], words: str) -> None:
    with Scripted([refusal, FINAL]) as server, pytest.raises(EndpointFailed, match=words) as error:
        endpoint(server).ask(QUESTION)
    assert type(error.value) is kind
    assert len(server.bodies) == 1
    assert error.value.hint


def test_an_endpoint_from_before_stream_options() -> None:
    with Scripted([refuse(400, "unknown field stream_options"), FINAL, FINAL]) as server:
        asked = endpoint(server)
        assert asked.ask(QUESTION).text == asked.ask(QUESTION).text == FINAL.text
    assert ["stream_options" in body for body in server.bodies] == [True, False, False]


def test_the_longest_reply_in_the_words_of_either_kind_of_endpoint() -> None:
    refusal = refuse(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    with Scripted([FINAL, refusal, FINAL, FINAL]) as server:
        assert [endpoint(server, longest_reply=9).ask(QUESTION).text for _ in range(2)] == [FINAL.text] * 2
        endpoint(server).ask(QUESTION)
    limits = [{key: value for key, value in body.items() if key.startswith("max_")} for body in server.bodies]
    assert limits == [{"max_tokens": 9}, {"max_tokens": 9}, {"max_completion_tokens": 9}, {}]


def test_where_the_model_is() -> None:
    seed = {"BASE_URL": "http://seed/v1", "MODEL": "qwen3-8b", "API_KEY": "none"}
    assert Address.found(None, None, seed) == ("http://seed/v1", "qwen3-8b", "none")
    both = seed | {"OPENAI_BASE_URL": "http://official/v1", "OPENAI_API_KEY": "key"}
    assert Address.found("mine", None, both) == ("http://official/v1", "mine", "key")
    assert Address.found(None, "https://given/v1", both).base_url == "https://given/v1"
    for wrong in ({}, {"MODEL": "m"}, {"OPENAI_BASE_URL": "localhost:8000", "MODEL": "m"}, {"API_KEY": "k"}):
        with pytest.raises(UsageError) as error:
            Address.found(None, None, wrong)
        assert error.value.hint
