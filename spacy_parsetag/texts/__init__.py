"""Parse and search more than one process or one machine takes: shards that survive a kill, workers, Ray, Spark."""

from .on_ray import ray_parse, ray_search
from .on_spark import spark_parse, spark_search

__all__ = ["ray_parse", "ray_search", "spark_parse", "spark_search"]
