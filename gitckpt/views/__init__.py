"""What users and programs see: sessions, events and plans as text or as plain data.

Pure: no files, no clock, no git, no terminal. Text is returned as lines without line ends, with agent text escaped.
This file imports nothing: `gitckpt log` pays for every module that it loads.
"""
