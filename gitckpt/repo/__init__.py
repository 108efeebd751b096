"""The only place that runs git. Paths are bytes here, as in git and the kernel; object ids are hexadecimal str."""
