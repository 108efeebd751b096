"""What a person or a program sees: sessions, events and plans as text or as plain data.

Pure: no files, no clock, no git, no terminal. Text comes as lines without line ends, agent text in it made harmless.
Nothing is imported here: `gitckpt log` pays for every module that it loads.
"""
