from x.@ import outside
from .. import outside
from ..own import a
