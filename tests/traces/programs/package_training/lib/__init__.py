from .data import make_loaders
from .models import create_model

__all__ = ["create_model", "make_loaders"]
