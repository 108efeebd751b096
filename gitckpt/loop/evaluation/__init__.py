"""The evaluation: do checkpoint and reset help? The same tasks, tools and model, with and without them.

tasks        the twenty tasks, read from `corpus/`; filler: the rest of the text on their pages
answers      what a field of a form accepts, and when an answer is right
website      what `search` and `open_page` find
form         what `fill_form` and `submit` do
facts        the facts that are planted, and asked for after a reset
measures     what is measured during a run
trial        one run of one task in one arm
results      the results on disk, which survive an interruption
statistics   confidence intervals
summary      all results as one document; chart: as a picture
evaluation   plans all runs, and carries them out
"""
