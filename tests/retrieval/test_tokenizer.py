# ruff: noqa: RUF001 # letters that look like others are what a tokenizer is tested with
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.retrieval.tokenizer import (
    STOP_WORDS,
    TOKENIZERS,
    ascii_words_cjk_bigrams,
    count_tokens,
    nfkc_casefold_words_cjk_bigrams,
)

STOPPED = "a an the to and or of in on for with is are was were be by at as it this that we i".split()  # noqa: SIM905 # one line to compare
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")

# letters, digits and marks of several scripts, numbers that are no digits, joiners, and an astral letter
MIXED = "aIzTHE09_'’-. \n你好吗ñéßЖжאب١२Ⅷ²½\u0301\u200d𝐀𠀀"
texts = st.one_of(
    st.text(), st.text(alphabet=MIXED), st.lists(st.sampled_from([*STOPPED, "Don't", "你好"])).map(" ".join)
)


def kind_of(character: str) -> str:
    """Which kind of run a code point belongs to, if to any."""
    if character in LETTERS:
        return "word"
    return "other" if character.isalnum() else ""


def walk(text: str) -> list[str]:
    """The tokens of a text by one walk over its code points."""
    tokens: list[str] = []
    run, kind = "", ""
    for character in [*text, ""]:
        here = kind_of(character)
        if here != kind:
            if kind == "word" and run.lower() not in STOPPED:
                tokens.append(run.lower())
            elif kind == "other":
                tokens += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
            run, kind = "", here
        run += character if here else ""
    return tokens


@settings(max_examples=400)
@given(texts)
def test_equals_a_walk_over_code_points(text):
    """The regular expression finds what a walk over the code points finds."""
    assert ascii_words_cjk_bigrams(text) == walk(text)


def test_every_code_point_is_classified_as_by_the_walk():
    """Each code point of Unicode alone, surrogates included, gives the token that the walk gives."""
    text = " ".join(map(chr, range(0x110000)))
    assert ascii_words_cjk_bigrams(text) == walk(text)


def test_stop_words_are_exactly_the_listed_ones():
    """Twenty-four words are dropped, in any case, and nothing else is."""
    assert frozenset(STOPPED) == STOP_WORDS
    assert len(STOPPED) == 24
    assert ascii_words_cjk_bigrams(" ".join(STOPPED) + " The AND I") == []
    assert ascii_words_cjk_bigrams("you not he theory ii") == ["you", "not", "he", "theory", "ii"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("!?… — \n\t", []),
        ("don't", ["don", "t"]),
        ("Ann’s", ["ann", "s"]),
        ("rock'n'roll", ["rock", "n", "roll"]),
        ("2023-05-08 13:56", ["2023", "05", "08", "13", "56"]),
        ("A4 4th 007", ["a4", "4th", "007"]),
        ("snake_case", ["snake", "case"]),
        ("running runs", ["running", "runs"]),
        ("好", ["好"]),
        ("你好", ["你好"]),
        ("我喜欢你", ["我喜", "喜欢", "欢你"]),
        ("你好 吗", ["你好", "吗"]),
        ("我用iPhone15拍照", ["我用", "iphone15", "拍照"]),
        ("café", ["caf", "é"]),
        ("Ünal", ["Ü", "nal"]),
        ("Жар", ["Жа", "ар"]),
    ],
)
def test_tokens_by_hand(text, tokens):
    """Words, digits and runs of other scripts split where the kind changes, and no word is stemmed."""
    assert ascii_words_cjk_bigrams(text) == tokens


@given(st.integers(1, 12), st.sampled_from("好жع"))
def test_a_run_of_n_gives_n_minus_one_pairs(length, letter):
    """A run of one stands alone and a longer one gives all its overlapping pairs."""
    assert ascii_words_cjk_bigrams(letter * length) == ([letter] if length == 1 else [letter * 2] * (length - 1))


@given(texts)
def test_case_of_ascii_letters_does_not_matter(text):
    """Upper-casing the ASCII letters changes no token."""
    shouted = "".join(c.upper() if c in LETTERS else c for c in text)
    assert ascii_words_cjk_bigrams(shouted) == ascii_words_cjk_bigrams(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("ＡＢＣ１２", ["abc12"]),
        ("ＴＨＥ end", ["end"]),
        ("ﬁre", ["fire"]),
        ("Straße", ["strasse"]),
        ("ЖАР", ["жа", "ар"]),
        ("x²", ["x2"]),
        ("e\u0301", ["é"]),
    ],
)
def test_the_normalising_tokenizer_folds_what_looks_alike(text, tokens):
    """NFKC and case folding come first, and then the same rules hold, stop words included."""
    assert nfkc_casefold_words_cjk_bigrams(text) == tokens
    assert ascii_words_cjk_bigrams(text) != tokens


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_both_tokenizers_agree_on_ascii(text):
    """On ASCII text the normalising tokenizer changes nothing."""
    assert nfkc_casefold_words_cjk_bigrams(text) == ascii_words_cjk_bigrams(text)


def test_each_tokenizer_has_its_own_versioned_name():
    """Tokenizers are found under the names that versions record."""
    assert dict(TOKENIZERS) == {
        "ascii-words-cjk-bigrams/1": ascii_words_cjk_bigrams,
        "nfkc-casefold-words-cjk-bigrams/1": nfkc_casefold_words_cjk_bigrams,
    }


@pytest.mark.parametrize(
    ("text", "size"), [("", 0), ("the cat and I", 4), ("don't", 2), ("我喜欢你", 4), ("好 ok", 2), ("... !", 0)]
)
def test_size_counts_stop_words_and_single_code_points(text, size):
    """The read budget counts every ASCII word, stop words too, and every other code point once."""
    assert count_tokens(text) == size
