#!/bin/sh
# Pushes the notebooks that the site offers to a branch of their own, which Colab opens:
#   sh course/branch.sh REMOTE ADDRESS    (ADDRESS: what their first cell clones)
set -eu
out=$(mktemp -d)
PYTHONPATH=website ${PYTHON:-python} - "$out" "$2" <<'EOF'
import sys
from pathlib import Path

import editions
import manuscript

editions.write_all(manuscript.read().notebooks, Path(sys.argv[1]), sys.argv[2])
EOF
cd "$out/notebooks"
git init -q -b notebooks
git add --all
git -c user.name=notebooks -c user.email=notebooks@localhost commit -q -m "Notebooks of $2"
git push -q --force "$1" notebooks
