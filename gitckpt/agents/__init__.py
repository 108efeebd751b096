"""Channels: from what one agent client prints, stores or tells its hooks to the agent's own words and tool boundaries.

    table        all clients; which one a command runs, and what its flags make it print; agent: one row of it
    command      a command line, seen through `env`, `npx`, `node` and their like
    stream       bytes → blocks and boundaries
    signals      what a channel tells; wording: the same for a person
    hook         what a client tells a hook; tool_call: the little of it that most calls need
    session_file    what a client stores; overheard: what is new in there when a hook calls, line_place: from where on
    noting       which hooks a client notes in what it stores, and so how far that is behind
    answers      what a hook answers; named: one client by its name
    wiring       how a client is given our hooks and tools; homes: where it keeps its files, configuration: ours merged
                 into them, plugins: those of ours that run inside a client
    spoken       words → blocks, each once
    json_lines, lookup, pending    reading JSON that anybody may have written
    regular      opening a file that anybody may have named
    claude, codex, gemini, qwen, opencode, cline, copilot, pi, aider, mini    a file per client

Nothing here runs anything, writes anything, or knows of git. Adding a client is one file and one row of the table.
"""
