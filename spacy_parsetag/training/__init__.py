"""Training: the schedule of the paper with its logger, and callbacks for configs."""
