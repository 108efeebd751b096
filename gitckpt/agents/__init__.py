"""Channels: turn what an agent client prints, stores or passes to its hooks into the agent's own words and tool
boundaries.

    table        all clients; which one a command runs, and what its flags make it print; agent: one row of it
    command      a command line, seen through `env`, `npx`, `node` and the like
    stream       bytes → blocks and boundaries
    signals      what a channel yields; wording: the same for the user
    hook         what a client passes to a hook; tool_call: the small part of it that most calls need
    session_file    what a client stores; overheard: what is new there when a hook calls; line_place: where to resume
    noting       which hooks a client notes in its session file, and so how far that file lags behind
    answers      what a hook answers; named: one client by its name
    wiring       how a client is given our hooks and tools; homes: where it keeps its files; configuration: merges our
                 entries into them; plugins: our plugins that run inside a client
    spoken       words → blocks, each once
    json_lines, lookup, pending    read untrusted JSON
    regular      opens a file whose name is untrusted
    claude, codex, gemini, qwen, opencode, cline, copilot, pi, aider, mini    a file per client

Nothing here runs anything, writes anything, or knows about git. Adding a client takes one file and one row of the
table.
"""
