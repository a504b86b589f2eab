from x.@ import outside
from .. import outside
from ..root import a
