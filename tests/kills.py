"""For scripts that are killed on the way: one that has this text is killed at a given step."""


def killed_before(*calls: str) -> str:
    """Return Python code that ends its process at the call of `os` whose number is `step`.

    A step is one of the calls that make a file or a name, or make one last; 0 is never reached.
    """
    return f"""
import os, signal

taken = 0

def killed_at(call):
    def counting(*args, **kwargs):
        global taken
        taken += 1
        if taken == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)
    return counting

for name in {calls!r}:
    setattr(os, name, killed_at(getattr(os, name)))
"""
