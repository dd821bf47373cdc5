import numpy as np

from harness.retrieval.embedding.bert import Affine, Encoder, Layer, Norm

WIDTH, HEADS, INNER, LONGEST = 8, 2, 12, 6


def encoder(seed: int = 0) -> Encoder:
    """A small encoder with random weights."""
    random = np.random.default_rng(seed)

    def numbers(*shape):
        return random.standard_normal(shape).astype(np.float32)

    def norm():
        return Norm(numbers(WIDTH), numbers(WIDTH), 1e-12)

    def layer():
        return Layer(
            attention=Affine(numbers(WIDTH, 3 * WIDTH), numbers(3 * WIDTH)),
            mixed=Affine(numbers(WIDTH, WIDTH), numbers(WIDTH)),
            after_attention=norm(),
            wide=Affine(numbers(WIDTH, INNER), numbers(INNER)),
            narrow=Affine(numbers(INNER, WIDTH), numbers(WIDTH)),
            after_all=norm(),
        )

    table = numbers(20, WIDTH)
    return Encoder(lambda rows: table[rows], numbers(LONGEST, WIDTH), norm(), [layer(), layer()], HEADS)


def slow(model: Encoder, tokens: list[int]) -> np.ndarray:
    """The same written down number by number, in float64."""
    from math import erf, exp, sqrt

    def affine(rows, at):
        return rows @ at.weight.astype(float) + at.bias

    def norm(rows, at):
        mean, variance = rows.mean(axis=1, keepdims=True), rows.var(axis=1, keepdims=True)
        return (rows - mean) / np.sqrt(variance + at.epsilon) * at.gain + at.shift

    rows = norm(
        np.array([model.tokens(np.array([t]))[0] + model.positions[p] for p, t in enumerate(tokens)]), model.before
    )
    size = WIDTH // HEADS
    for layer in model.layers:
        projected = affine(rows, layer.attention)
        found = np.zeros_like(rows)
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            query, key, value = (projected[:, i * WIDTH : (i + 1) * WIDTH][:, part] for i in range(3))
            for i in range(len(rows)):
                weights = np.array([exp(query[i] @ key[j] / sqrt(size)) for j in range(len(rows))])
                found[i, part] = (weights / weights.sum()) @ value
        rows = norm(rows + affine(found, layer.mixed), layer.after_attention)
        inner = np.vectorize(lambda x: 0.5 * x * (1 + erf(x / sqrt(2))))(affine(rows, layer.wide))
        rows = norm(rows + affine(inner, layer.narrow), layer.after_all)
    return rows.mean(axis=0)


def test_the_forward_pass_is_the_one_that_is_written_down():
    """The mean of the last layer is that of a plain reference, for one token and for as many as there may be."""
    for seed, tokens in enumerate([[3], [3, 3], [1, 5, 19, 0, 7, 2]]):
        model = encoder(seed)
        found = model.mean(tokens)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, slow(model, tokens), rtol=2e-5, atol=2e-5)


def test_large_numbers_do_not_overflow():
    """Attention to keys that are a thousand times larger stays finite."""
    model = encoder()
    model.layers[0].attention.weight[:] *= 1000
    assert np.isfinite(model.mean([1, 2, 3])).all()
