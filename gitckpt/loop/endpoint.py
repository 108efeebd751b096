"""An OpenAI-compatible endpoint, called through the official client: one request, one reply.

Temporary failures are retried: a full queue after as long as the endpoint says; a dropped connection, a cut stream or a
server error after a growing pause. After the last attempt the endpoint is given up; what is on record stays.
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from gitckpt.errors import GitckptError, UsageError
from gitckpt.loop.stream import Call, CutStream, Gathering, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from openai import APIStatusError

    #: A message of a conversation, as the endpoint takes it.
    Message = dict[str, Any]

__all__ = ["Address", "Call", "ContextOverflow", "Endpoint", "EndpointFailed", "Reply", "Usage"]

#: The longest wait in seconds between two attempts: our own pause, and one that the endpoint asks for.
LONGEST_WAIT, LONGEST_ASKED_FOR = 60.0, 600.0

#: Connection timeout in seconds. The time that a model on slow hardware takes to read a long context is a separate
#: matter.
TO_CONNECT = 15.0

#: Statuses below 500 that are temporary.
PASSING = (408, 409, 425, 429)

_TOO_LONG = re.compile(
    r"context_length|context (length|window|size)|prompt is too long|too many tokens|exceed\w* .*tokens", re.I
)


class EndpointFailed(GitckptError):
    """The endpoint did not answer, or refused the request."""

    exit_status = 4


class ContextOverflow(EndpointFailed):
    """The messages are longer than the model's context."""


class Address(NamedTuple):
    """Where a model is. `base_url` is the address of the API, `…/v1`; "" for the client's own default."""

    base_url: str
    model: str
    api_key: str

    @classmethod
    def found(cls, model: str | None, base_url: str | None, environ: Mapping[str, str]) -> Address:
        """Return the address from the command line, else from OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL, else
        from BASE_URL, API_KEY and MODEL. Raises UsageError if no endpoint or no model is named."""
        url = base_url or environ.get("OPENAI_BASE_URL") or environ.get("BASE_URL") or ""
        key = environ.get("OPENAI_API_KEY") or environ.get("API_KEY") or ""
        name = model or environ.get("OPENAI_MODEL") or environ.get("MODEL") or ""
        if not url and not key:
            raise UsageError("no model endpoint is named", "export OPENAI_BASE_URL=http://localhost:8000/v1")
        if url and not re.match(r"https?://[^/]", url):
            raise UsageError(f"{url!r} is no address of an endpoint", "one looks like http://localhost:8000/v1")
        if not name:
            raise UsageError("which model?", "--model NAME, or export MODEL=NAME")
        return cls(url, name, key)


class Usage:
    """The totals of all answered requests; `estimated` counts those for which the endpoint reported no tokens."""

    def __init__(self) -> None:
        self.requests = self.input_tokens = self.output_tokens = self.estimated = 0

    def add(self, reply: Reply, *, estimated: bool) -> None:
        """Count a reply."""
        self.requests += 1
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens
        self.estimated += estimated


class Endpoint:
    """One model. `base_url` and `api_key` default to those of the environment. `timeout` is in seconds, for each
    silence of the endpoint; `first_wait` is the length of the first pause. `longest_reply` is in tokens; None leaves it
    to the endpoint. `say` is told of each wait.

    Raises UsageError if the client is not installed or no endpoint is named.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        temperature: float | None = None,
        longest_reply: int | None = None,
        timeout: float = 600,
        attempts: int = 8,
        first_wait: float = 0.5,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        address = Address.found(model, base_url, os.environ)
        self.model, self.usage = model, Usage()
        self._attempts, self._first_wait, self._say = attempts, first_wait, say
        self._extras: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
        self._stream_options: dict[str, Any] = {"stream_options": {"include_usage": True}}
        self._longest: dict[str, Any] = {} if longest_reply is None else {"max_tokens": longest_reply}
        self._key = api_key or address.api_key or "none"
        self._client = _client(address.base_url, self._key, timeout)
        self._where = _bare(str(self._client.base_url))

    def ask(
        self,
        messages: Sequence[Message],
        functions: Sequence[Message] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """Return one reply. `on_text` gets its text as it arrives, even that of a cut stream, which is then requested
        again.

        Raises ContextOverflow if the messages are too long, EndpointFailed if the endpoint was given up.
        """
        request = {"model": self.model, "messages": list(messages), "stream": True, **self._extras}
        if functions:
            request["tools"] = list(functions)
        for attempt in range(1, self._attempts + 1):
            try:
                return self._asked(request, on_text or (lambda text: None))
            except _passing_errors() as error:
                self._wait(error, attempt)
        raise AssertionError("the last attempt returns or raises")

    def _asked(self, request: dict[str, Any], on_text: Callable[[str], None]) -> Reply:
        gathering = Gathering()
        with self._client.chat.completions.create(**request, **self._stream_options, **self._longest) as chunks:
            gathering.take(chunks, on_text)
        calls = gathering.calls(self.usage.requests)
        usage = gathering.usage
        said = gathering.text + "".join(call.name + call.arguments for call in calls)
        tokens = (
            (int(usage.prompt_tokens), int(usage.completion_tokens))
            if usage is not None
            else (len(json.dumps(request["messages"], ensure_ascii=False)) // 4, len(said) // 4)
        )
        reply = Reply(gathering.text, calls, *tokens, gathering.finish)
        self.usage.add(reply, estimated=usage is None)
        return reply

    def _wait(self, error: Exception, attempt: int) -> None:
        """Wait before the next attempt. Raises EndpointFailed if there should be none."""
        status, told = getattr(error, "status_code", 0), _told(error, self._key, self._where)
        if (status and status not in PASSING and status < 500) or _is_too_long(error):
            if status in (400, 422) and self._asks_otherwise(str(error)):
                return
            raise _refusal(error, told) from error
        if attempt == self._attempts:
            raise EndpointFailed(
                f"the endpoint was asked {attempt} times in vain: {told}",
                "gitckpt resume goes on from the last checkpoint",
            ) from error
        pause = _asked_for(error)
        if pause is None:
            pause = min(self._first_wait * 2 ** (attempt - 1), LONGEST_WAIT) * random.uniform(0.75, 1.25)
        self._say(f"{told}; asking again in {pause:.1f} s")
        time.sleep(pause)

    def _asks_otherwise(self, refusal: str) -> bool:
        """Return whether to retry with different parameters after a refusal, and change them: endpoints differ in what
        they support."""
        if self._stream_options and "stream_options" in refusal:
            self._stream_options = {}  # tokens are then estimated
            return True
        if "max_tokens" in self._longest and "max_completion_tokens" in refusal:
            self._longest = {"max_completion_tokens": self._longest["max_tokens"]}
            return True
        return False


def _client(base_url: str, api_key: str, timeout: float) -> Any:
    try:
        import openai
    except ImportError as error:
        raise UsageError(
            "the client for model endpoints is not installed",
            "pip install '.[run]', or pipx install --force '.[run]', in a clone of the repository",
        ) from error
    patience = openai.Timeout(timeout, connect=min(timeout, TO_CONNECT))
    # we retry ourselves: the client's own retries are silent, and do not cover a cut stream
    return openai.OpenAI(base_url=base_url or None, api_key=api_key, timeout=patience, max_retries=0)


def _bare(url: str) -> str:
    """Return an address without parts that may be secret: user name and password, and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def _passing_errors() -> tuple[type[Exception], ...]:
    """Return the errors that may be temporary, or that say that they are not."""
    import openai

    return openai.APIError, CutStream, json.JSONDecodeError, UnicodeDecodeError


def _told(error: Exception, key: str, where: str) -> str:
    """Return an error in words, with the address `where` if there was no answer. `key` is masked, because some
    endpoints repeat it."""
    if isinstance(error, CutStream):
        return "the reply was cut off"
    if isinstance(error, ValueError):
        return "the reply was no JSON"
    status = getattr(error, "status_code", 0)
    words = " ".join(str(getattr(error, "message", "") or error).split())[:300]
    cause = error.__cause__
    if cause is not None and not status:
        words += f" ({' '.join(str(cause).split())[:200] or type(cause).__name__}) from {where}"
    words = words.replace(key, "…") if len(key) > 4 else words
    return f"the endpoint said {status}: {words}" if status else words


def _refusal(error: Exception, told: str) -> EndpointFailed:
    if _is_too_long(error):
        return ContextOverflow(told, "a smaller --token-limit has it ask for a reset sooner")
    hints = {
        401: "is OPENAI_API_KEY the key of this endpoint?",
        403: "is OPENAI_API_KEY the key of this endpoint?",
        404: "look at OPENAI_BASE_URL and --model",
    }
    status = getattr(error, "status_code", 0)
    return EndpointFailed(told, hints.get(status, "gitckpt resume goes on from the last checkpoint"))


def _is_too_long(error: Exception) -> bool:
    return getattr(error, "status_code", 0) not in (401, 429) and bool(
        _TOO_LONG.search(f"{getattr(error, 'code', '')} {error}")
    )


def _asked_for(error: Exception) -> float | None:
    """Return the seconds that the endpoint asks to wait; None if it does not say."""
    if not hasattr(error, "response"):
        return None
    refusal: APIStatusError = error  # type: ignore[assignment]
    value = refusal.response.headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except ValueError:
            return None
    return min(max(seconds, 0.0), LONGEST_ASKED_FOR) if math.isfinite(seconds) else None
