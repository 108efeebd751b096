"""Small blocks made to order."""

from __future__ import annotations

FIELDS = {
    "phase": "implement",
    "done": "[step {id}]",
    "next": "[go on]",
    "state_ref": "[current=a{id}.ts]",
    "rollback_hint": "[git checkout a.ts]",
}


def block(id: object, **fields: str | None) -> str:
    """Return a checkpoint that breaks no rule except through the given fields; None leaves a field out."""
    rows = {key: str(value).format(id=id) for key, value in {**FIELDS, **fields}.items() if value is not None}
    return "\n".join([f"===CHECKPOINT {id}===", *(f"{key}: {value}" for key, value in rows.items()), "===END===", ""])


def blocks(first: int, last: int) -> str:
    return "".join(block(id) for id in range(first, last + 1))


def summary(id: str, covers: str, text: str = "One. Two. Three.") -> str:
    return f"===SUMMARY {id} (covers {covers})===\n{text}\n===END===\n"


def retry(source: object) -> str:
    return f"===RETRY===\nfrom: CHECKPOINT {source}\nreason: [it failed]\nnew_strategy: [another way]\n===END===\n"


def final(checkpoints: str, summaries: str = "") -> str:
    return f"===FINAL===\ncheckpoints: [{checkpoints}]\nsummaries: [{summaries}]\nresult: done\n===END===\n"
