"""`gitckpt demo`: a real project, a scripted agent that changes it, and a story of what a rollback gives back."""
