"""Single instructions on tiles."""

import numpy as np
import tessera

m = tessera.Machine("a5")
a, b, c = (m.tile("vec", "f32", (16, 64), valid=(16, 60)) for _ in range(3))
a[:] = np.arange(960, dtype=np.float32).reshape(16, 60)
b[:] = 2
tessera.tmul(c, a, b)
tessera.tadds(dst=c, src=c, scalar=1)
assert (c.numpy() == 2 * a.numpy() + 1).all()

nz = m.tile("vec", "f16", (32, 32), layout="NZ")
nd = m.tile("vec", "f16", (32, 32))
nd[:] = np.arange(1024, dtype=np.float16).reshape(32, 32)
tessera.tmov(nz, nd)
print(nz.layout)

try:
    tessera.tadd(c, a, nd)
except tessera.Error as error:
    print(error.rule)
    print(error)
