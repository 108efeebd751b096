"""An agent loop on any OpenAI-compatible endpoint: it saves its state as checkpoints, and deliberately forgets the
rest.

    endpoint      one request to a model → `Reply`, with retries and token usage
    stream        assembles the pieces of a streamed reply
    actions       what a model can call → `Action`
    memory        checkpoint and reset over git, with the rules that the host enforces
    conversation  the loop: messages, limits, outcome
    files, shell  what the model can do in the work tree
    remote        tools of an MCP server
    wording       what the model is told
    running       one run: its session, its end, what `resume` needs
"""
