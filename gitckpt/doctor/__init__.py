"""What `gitckpt doctor` looks at: one function and one row of `CHECKS` for each."""
