"""`gitckpt demo`: a real project, a scripted agent that changes it, and a demonstration of what a rollback restores."""
