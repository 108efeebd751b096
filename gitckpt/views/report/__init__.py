"""`gitckpt report`: sessions as one self-contained page."""
