"""`.anvil.yml`: what a repository asks to be run. Pure: bytes in, a pipeline or one clear refusal out."""

from services.runner.pipeline.model import ConfigInvalid, Deploy, Pipeline, Step
from services.runner.pipeline.parse import parse

__all__ = ["ConfigInvalid", "Deploy", "Pipeline", "Step", "parse"]
