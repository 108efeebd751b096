"""`gitckpt report`: sessions as one page that holds all that it shows."""
