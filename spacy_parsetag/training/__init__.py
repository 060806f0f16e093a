"""Training: the reader of corpora, the batcher, the paper's schedule with its logger, and callbacks for configs."""
