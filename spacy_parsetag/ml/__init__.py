"""Models that score tags, and the losses they are trained with."""
