"""Tools of this repository. They are not part of the package."""
