"""Makes the files beside it with numpy. They are committed; this is how they came to be."""
import io, pickle, zipfile
import numpy as np

a = (np.arange(6, dtype='<f4') - 2.5).reshape(2, 3)
np.save('plain.npy', a)
np.save('scalar.npy', np.float32(7.25))
np.save('vector.npy', np.array([1, 2, 3], dtype='<f4'))
np.save('empty.npy', np.zeros((0, 3), dtype='<f4'))
np.save('double.npy', np.array([1 / 3, 1e300, -0.0, 1 + 2.0**-24, 1 + 3 * 2.0**-24]))
np.save('fortran.npy', np.asfortranarray(a))
np.save('fortran3.npy', np.asfortranarray(np.arange(24).reshape(2, 3, 4) ** 2 / 7))
np.save('big.npy', a.astype('>f4'))
np.save('text.npy', np.array(['one', 'two']))
np.save('complex.npy', a.astype('<c8'))
np.save('record.npy', np.zeros(2, dtype=[('x', '<f4'), ('y', '<i4')]))
with open('version2.npy', 'wb') as f:
    np.lib.format.write_array(f, a, version=(2, 0))
with open('version3.npy', 'wb') as f:
    np.lib.format.write_array(f, a, version=(3, 0))
types = ['f8', 'f4', 'f2', 'i8', 'i4', 'i2', 'i1', 'u8', 'u4', 'u2', 'u1', 'b1']
named = {t: np.array([0, 1, 2, 100] if t[0] in 'ub' else [-3, 1, 2, 100]).astype('<' + t) for t in types}
np.savez('types.npz', **named)
np.savez_compressed('types_deflated.npz', **named)
np.savez_compressed('names.npz', **{'Transformer/encoderblock_0/kernel': np.tile(a, (8, 8)), 'cls': np.ones((1, 1, 3), '<f4'),
                                    'word': np.array(['x'])})
with zipfile.ZipFile('torch.pt', 'w') as z:
    z.writestr('archive/data.pkl', pickle.dumps({'w': 1}, protocol=2))
    z.writestr('archive/data/0', b'\0' * 16)
with zipfile.ZipFile('script.pt', 'w') as z:
    z.writestr('archive/data.pkl', pickle.dumps({'w': 1}, protocol=2))
    z.writestr('archive/constants.pkl', pickle.dumps((), protocol=2))
with zipfile.ZipFile('other.zip', 'w') as z:
    z.writestr('readme.txt', 'no arrays here')
with zipfile.ZipFile('bzip2.npz', 'w', zipfile.ZIP_BZIP2) as z:
    b = io.BytesIO()
    np.save(b, a)
    z.writestr('a.npy', b.getvalue())
