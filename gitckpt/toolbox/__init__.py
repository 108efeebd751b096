"""What an agent can do itself: one definition of each tool, for MCP and for function calling alike.

The host enforces the rules; the model is not trusted. All that a tool has to know it reads from git, so that any
process can answer the next call."""
