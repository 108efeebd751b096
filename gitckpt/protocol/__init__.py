"""The checkpoint protocol: text in, blocks out. Pure: no files, no clock, no randomness, no git."""
