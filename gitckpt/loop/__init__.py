"""An agent loop on any OpenAI-compatible endpoint: it saves its state as checkpoints, and forgets the rest on purpose.

endpoint      one request to a model → `Reply`, with retries and the account of tokens
stream        the pieces of a streamed reply put together
actions       what a model can call → `Action`
memory        checkpoint and reset over git, with the rules that the host enforces
conversation  the loop: messages, limits, outcome
files, shell  what the model can do in the work tree
remote        tools of an MCP server
wording       what the model is told
running       one run: session, end, what `resume` needs
"""
