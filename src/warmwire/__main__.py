"""`python -m warmwire` is the command `warmwire`."""

from warmwire.command import main

if __name__ == "__main__":
    main()
