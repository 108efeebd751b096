"""gitckpt: git-native checkpoints for AI agents.

The public Python API. Importing the package is cheap: each name below loads its module when it is first used.

    >>> from gitckpt import parse_trajectory, replay_to
    >>> steps = parse_trajectory(open("agent.log").read())
    >>> replay_to(steps, "C6").next
"""

__version__ = "0.1.0"
