"""Parse more than one process or one machine takes: shards that survive a kill, workers, Ray, Spark."""

from .on_ray import ray_parse
from .on_spark import spark_parse

__all__ = ["ray_parse", "spark_parse"]
