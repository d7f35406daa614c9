#!/bin/bash
# run python on this worktree
export PYTHONPATH=/tmp/wt-end15/src MICROAGG_DATA=/work/shared/data
cd /tmp/wt-end15 && exec /work/main/.venv/bin/python "$@"
