"""Several processes come to a work tree that nothing has been recorded in, all at the same moment."""

from __future__ import annotations

import os
import shutil

from project import Project

from gitckpt.repo.in_force import SettingsInForce
from gitckpt.repo.private import private_git

PROCESSES, ROUNDS = 6, 25


def test_each_finds_the_private_directory_or_makes_it(project: Project) -> None:
    repository = project.repository()
    settings = SettingsInForce(repository, None).settings
    for number in range(ROUNDS):
        shutil.rmtree(repository.private_dir, ignore_errors=True)
        if number % 2:  # something strange is in the way
            os.symlink(b"elsewhere", repository.private_dir)
        ready, go = os.pipe()
        children = []
        for _ in range(PROCESSES):
            pid = os.fork()
            if pid == 0:
                os.close(go)
                os.read(ready, 1)  # until all are there
                status = 1
                try:
                    git = private_git(repository, settings)
                    status = 0 if git.run("rev-parse", "--git-dir") else 2
                finally:
                    os._exit(status)
            children.append(pid)
        os.close(ready)
        os.close(go)
        assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * PROCESSES, number
