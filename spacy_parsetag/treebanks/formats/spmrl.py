"""SPMRL's bracket files: Penn brackets with morphology in the labels.

    (ROOT (SENT (NP-SUJ (DET##cpos=D|g=m## Le) (NC##cpos=N|g=m## chat)) (VN (V##t=pst## dort)) (PONCT . .)))

What stands from `##` on is cut, as the shared task's scorer does. Roots are `ROOT`, `TOP` or `VROOT`, or have no label;
reading does not mind which.
"""

from .encodings import guess_spmrl
from .rewrite import RewrittenBrackets


def cut_morphology(label: str) -> str:
    """Cut a label at `##`: `NC##g=m|n=s##` becomes `NC`. A label that begins with it stays as it is."""
    found = label.find("##")
    return label[:found] if found > 0 else label


read_spmrl = RewrittenBrackets(phrase=cut_morphology, tag=cut_morphology, guess_encoding=guess_spmrl)
