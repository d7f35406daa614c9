"""`python -m microagg` is the command line."""

from microagg.cli.main import main

main()
