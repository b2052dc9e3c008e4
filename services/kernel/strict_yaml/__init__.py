"""YAML that people review, read strictly: plain data within limits, and a refusal that names line and field.

Pure. Unknown fields, duplicate keys, tags, a second document, and anchors that expand past the limits are refused.
"""

from services.kernel.strict_yaml.document import Limits, Refused, read
from services.kernel.strict_yaml.value import Value

__all__ = ["Limits", "Refused", "Value", "read"]
