"""The only place that runs git. Paths are bytes here, as git and the kernel have them; object ids are
hexadecimal str."""
