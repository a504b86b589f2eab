import a, p.b as c; from p import (b,
  x)
from . import a
from .p.b import *
import os \
, sys
