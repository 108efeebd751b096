"""The measurement: does checkpoint and reset help? The same tasks, tools and model, with and without.

tasks        the twenty tasks, read from `corpus/`; filler: what else stands on their pages
answers      what a field of a form takes, and when an answer is right
website      what `search` and `open_page` find
form         what `fill_form` and `submit` do
facts        the facts that are planted, and asked after a reset
measures     what is measured of one run, while it runs
trial        one run of one task in one arm
results      what is on disk, and goes on after an interruption
statistics   intervals of confidence
summary      all results as one document; chart: as a picture
evaluation   the plan of all runs, and its carrying out
"""
