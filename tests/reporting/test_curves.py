import xml.etree.ElementTree as ET

from harness.reporting.curves import Curve, draw_curves

CURVES = [
    Curve("first", [0, 1, 2], [0.0, 0.5, 1.0]),
    Curve("second <b>", [0, 1, 2], [1.0, 0.5, 0.0], "o-", strong=True),
]


def drawn(**more) -> str:
    """Two curves with a line."""
    return draw_curves(CURVES, title="Two", x_label="steps", y_label="share", lines=[(0.8, "wanted")], **more)


def test_the_same_curves_give_the_same_bytes():
    """No date, no random identifier, no version of a library."""
    assert drawn() == drawn()
    assert "matplotlib version" not in drawn().lower()


def test_words_stay_words():
    """Titles, names and labels can be read and searched in the picture, which is well-formed XML."""
    text = "".join(ET.fromstring(drawn()).itertext())
    for words in ("Two", "steps", "share", "first", "second <b>", "wanted"):
        assert words in text, words


def test_names_instead_of_numbers():
    """Places on the x axis can have names."""
    text = "".join(ET.fromstring(drawn(x_names=["a few", "more", "many"], y_limits=(0, 2), percent=False)).itertext())
    assert all(name in text for name in ("a few", "more", "many"))
