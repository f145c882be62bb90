"""Stencils in one, two and three dimensions with halos, Jacobi, convolution, Game of Life."""

import numpy as np
import pytest

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules

RADIUS = 3
WEIGHTS = np.array([1, -2, 3, 10, 3, -2, 1])
TILE = 8


def numbers(*shape):
    return np.random.default_rng(5).integers(-9, 10, shape)


@mm.program
def stencil_1d(T, a, b):
    """A tile with RADIUS more elements on either side; outside is 0."""
    s = mm.shared(T.block_size + 2 * RADIUS, dtype=int)
    g, t = T.id, T.index
    local = t + RADIUS
    s[local] = a[g]
    if t < RADIUS:
        s[local - RADIUS] = a[g - RADIUS] if g >= RADIUS else 0
        right = g + T.block_size
        s[local + T.block_size] = a[right] if right < len(a) else 0
    T.barrier()
    result = 0
    for offset in range(-RADIUS, RADIUS + 1):
        result += WEIGHTS[offset + RADIUS] * s[local + offset]
    b[g] = result


@mm.program
def five_points(T, a, b):
    """The sum of the four neighbours less four times the middle; a tile and its halo."""
    s = mm.shared((TILE + 2, TILE + 2), dtype=int)
    x, y = T.threadIdx.x + 1, T.threadIdx.y + 1
    i = T.blockIdx.y * TILE + T.threadIdx.y
    j = T.blockIdx.x * TILE + T.threadIdx.x
    rows, columns = a.shape
    inside = i < rows and j < columns
    if inside:
        s[y, x] = a[i, j]
        if y == 1:
            s[0, x] = a[i - 1, j] if i > 0 else 0
        if y == TILE or i == rows - 1:
            s[y + 1, x] = a[i + 1, j] if i + 1 < rows else 0
        if x == 1:
            s[y, 0] = a[i, j - 1] if j > 0 else 0
        if x == TILE or j == columns - 1:
            s[y, x + 1] = a[i, j + 1] if j + 1 < columns else 0
    T.barrier()
    if inside:
        b[i, j] = s[y - 1, x] + s[y + 1, x] + s[y, x - 1] + s[y, x + 1] - 4 * s[y, x]


@mm.program
def seven_points(T, a, b):
    """A tile of a plane goes through z; the planes below and above are kept in registers."""
    depth, rows, columns = a.shape
    s = mm.shared((T.blockDim.y + 2, T.blockDim.x + 2))
    j = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    i = T.blockIdx.y * T.blockDim.y + T.threadIdx.y
    x, y = T.threadIdx.x + 1, T.threadIdx.y + 1
    below = 0.0
    middle = a[0, i, j]
    for k in range(depth):
        above = a[k + 1, i, j] if k + 1 < depth else 0.0
        s[y, x] = middle
        if x == 1:
            s[y, 0] = a[k, i, j - 1] if j > 0 else 0.0
        if x == T.blockDim.x:
            s[y, x + 1] = a[k, i, j + 1] if j + 1 < columns else 0.0
        if y == 1:
            s[0, x] = a[k, i - 1, j] if i > 0 else 0.0
        if y == T.blockDim.y:
            s[y + 1, x] = a[k, i + 1, j] if i + 1 < rows else 0.0
        T.barrier()
        around = s[y, x - 1] + s[y, x + 1] + s[y - 1, x] + s[y + 1, x]
        b[k, i, j] = 0.5 * middle + 0.125 * (around + below + above)
        T.barrier()
        below, middle = middle, above


@mm.program
def blocks_of_three_dimensions(T, a, b):
    """The largest of a cell and its 26 neighbours, straight from global memory."""
    x = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    y = T.blockIdx.y * T.blockDim.y + T.threadIdx.y
    z = T.blockIdx.z * T.blockDim.z + T.threadIdx.z
    depth, rows, columns = a.shape
    if x >= columns or y >= rows or z >= depth:
        return
    largest = a[z, y, x]
    for k in range(max(z - 1, 0), min(z + 2, depth)):
        for i in range(max(y - 1, 0), min(y + 2, rows)):
            for j in range(max(x - 1, 0), min(x + 2, columns)):
                largest = max(largest, a[k, i, j])
    b[z, y, x] = largest


@mm.program
def jacobi(T, u, v, f, steps):
    """-u'' = f with u = 0 at both ends, in one block; an even number of steps ends in u."""
    i = T.index + 1
    for _ in range(steps):
        v[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])
        T.barrier()
        u, v = v, u


@mm.program
def jacobi_in_many_blocks(T, u, v, f, steps):
    """The same in one launch of several blocks, with a barrier of the grid."""
    i = T.id + 1
    for _ in range(steps):
        v[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])
        T.grid_barrier()
        u, v = v, u


@mm.program
def jacobi_until_converged(T, u, f, tolerance, steps):
    """All threads go on as long as one of them changes by more than the tolerance."""
    i = T.index + 1
    going = True
    count = 0
    while going:
        new = 0.5 * (u[i - 1] + u[i + 1] + f[i])
        change = abs(new - u[i])
        T.barrier()
        u[i] = new
        count += 1
        going = T.barrier_or(change > tolerance)
    if T.id == 0:
        steps[0] = count


KERNEL = np.array([[1, 2, 1], [0, 0, 0], [-1, -2, -1]])


@mm.program
def convolution(T, image, out):
    """The weights lie in a table of constants; a block loads its tile and the apron together."""
    tile = mm.shared((TILE + 2, TILE + 2), dtype=int)
    tx, ty = T.threadIdx.x, T.threadIdx.y
    rows, columns = image.shape
    i = T.blockIdx.y * TILE + ty - 1
    j = T.blockIdx.x * TILE + tx - 1
    if 0 <= i < rows and 0 <= j < columns:
        tile[ty, tx] = image[i, j]
    else:
        tile[ty, tx] = 0
    T.barrier()
    if 1 <= tx <= TILE and 1 <= ty <= TILE and i < rows and j < columns:
        x = 0
        for k in range(3):
            for l in range(3):
                x += tile[ty + k - 1, tx + l - 1] * KERNEL[2 - k, 2 - l]
        out[i, j] = x


FILTER = np.array([0.25, 0.5, 0.25])


@mm.program
def filter_rows(T, image, out):
    i, j = T.blockIdx.y, T.threadIdx.x
    x = FILTER[1] * image[i, j]
    if j > 0:
        x += FILTER[0] * image[i, j - 1]
    if j + 1 < T.blockDim.x:
        x += FILTER[2] * image[i, j + 1]
    out[i, j] = x


@mm.program
def life(T, cells, after):
    """One generation on a torus."""
    x = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    y = T.blockIdx.y * T.blockDim.y + T.threadIdx.y
    rows, columns = cells.shape
    neighbours = 0
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dx != 0 or dy != 0:
                neighbours += cells[(y + dy) % rows, (x + dx) % columns]
    alive = cells[y, x]
    after[y, x] = 1 if neighbours == 3 or (alive and neighbours == 2) else 0


@under_both_schedules
def test_one_dimension(launch):
    a = numbers(64)
    run = launch(stencil_1d, a, np.zeros_like(a), threads=64, block_size=16)
    assert (run.arrays["b"] == np.correlate(a, WEIGHTS, "same")).all()


def shifted_sums(a):
    """The sum of the neighbours along all axes, 0 outside."""
    p = np.pad(a, 1)
    middle = [slice(1, -1)] * a.ndim
    total = np.zeros_like(a)
    for axis in range(a.ndim):
        for part in (slice(0, -2), slice(2, None)):
            total += p[(*middle[:axis], part, *middle[axis + 1 :])]
    return total


@under_both_schedules
def test_two_dimensions(launch):
    a = numbers(13, 18)
    run = launch(five_points, a, np.zeros_like(a), grid=(3, 2), block=(TILE, TILE))
    assert (run.arrays["b"] == shifted_sums(a) - 4 * a).all()


@under_both_schedules
def test_three_dimensions_plane_by_plane(launch):
    a = numbers(5, 8, 16).astype(float)
    run = launch(seven_points, a, np.zeros_like(a), grid=(2, 2), block=(8, 4))
    assert (run.arrays["b"] == 0.5 * a + 0.125 * shifted_sums(a)).all()


@under_both_schedules
def test_three_dimensions_in_blocks(launch):
    a = numbers(5, 6, 7)
    run = launch(blocks_of_three_dimensions, a, np.zeros_like(a), grid=(2, 3, 2), block=(4, 2, 4))
    padded = np.pad(a, 1, constant_values=a.min())
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3, 3))
    assert (run.arrays["b"] == windows.max((3, 4, 5))).all()


def one_step(u, f):
    after = u.copy()
    after[1:-1] = 0.5 * (u[:-2] + u[2:] + f[1:-1])
    return after


@under_both_schedules
@pytest.mark.parametrize(("kernel", "block"), [(jacobi, 32), (jacobi_in_many_blocks, 8)])
def test_jacobi(launch, kernel, block):
    f = np.random.default_rng(6).random(34)
    expected = np.zeros(34)
    run = launch(kernel, np.zeros(34), np.zeros(34), f, 10, threads=32, block_size=block)
    for _ in range(10):
        expected = one_step(expected, f)
    assert (run.arrays["u"] == expected).all()


@under_both_schedules
def test_jacobi_until_it_has_converged(launch):
    f = np.random.default_rng(6).random(18)
    run = launch(jacobi_until_converged, np.zeros(18), f, 0.05, np.zeros(1, int), threads=16)
    expected, after, steps = None, np.zeros(18), 0
    while expected is None or abs(after - expected).max() > 0.05:
        expected, after, steps = after, one_step(after, f), steps + 1
    assert (run.arrays["u"] == after).all()
    assert run.arrays["steps"] == steps > 3


@under_both_schedules
def test_convolution(launch):
    image = numbers(14, 16)
    block = (TILE + 2, TILE + 2)
    run = launch(convolution, image, np.zeros_like(image), grid=(2, 2), block=block)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, 1), (3, 3))
    assert (run.arrays["out"] == (windows * KERNEL[::-1, ::-1]).sum((2, 3))).all()


@under_both_schedules
def test_separable_filter(launch):
    """Rows, transposed by the host, then columns."""
    image = numbers(16, 16).astype(float)
    zeros = np.zeros_like(image)
    rows = launch(filter_rows, image, zeros, grid=(1, 16), block=16).arrays["out"]
    both = launch(filter_rows, rows.T.copy(), zeros, grid=(1, 16), block=16).arrays["out"].T
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, 1), (3, 3))
    assert (both == (windows * np.outer(FILTER, FILTER)).sum((2, 3))).all()


@under_both_schedules
def test_life(launch):
    cells = np.zeros((16, 16), int)
    cells[1, 2] = cells[2, 3] = cells[3, 1:4] = 1  # a glider
    now = cells
    for _ in range(4):
        run = launch(life, now, np.zeros_like(cells), grid=(2, 2), block=(8, 8))
        around = sum(
            np.roll(now, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy
        )
        expected = (around == 3) | ((now == 1) & (around == 2))
        now = run.arrays["after"]
        assert (now == expected).all()
    assert (now == np.roll(cells, (1, 1), (0, 1))).all()
