"""The tools for an agent: each is defined once, for both MCP and function calling.

The host enforces the rules; the model is not trusted. A tool reads everything that it needs from git, so any process
can answer the next call.
"""
