"""Open text for `tools/silver.py`, English and Indonesian: its sources, their terms, and how each becomes plain text.

    python -m tools.texts SOURCES OUTPUT

SOURCES is a folder that the repositories of `SOURCES` are fetched to, as far as they are not there: packages of NLTK's
data, OpenStax books, transcripts of the Supreme Court of the United States in PDF (which takes `pip install pypdf`),
opinions of a court of appeals, novels, reviews, questions and answers, data sets of Wikipedia and of dialogues; for
Indonesian, what articles of its Wikipedia begin with. OUTPUT gets one .txt file for each document, with an empty line
between paragraphs. Documents are taken in random order until a source has its number of words.
"""

import argparse
import csv
import html
import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from spacy_parsetag.tokens.detokenize import spaces_after

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where it is run as a file
from tools import masc

Documents = Iterator[list[str]]  # the paragraphs of each

# Of MASC: parts of the Penn Treebank, and what is hardly prose.
MASC_LEFT_OUT = re.compile(r"wsj_|sw\d|tweets|Bed012|Bmr021")
CNXML_LEFT_OUT = {"exercise", "figure", "footnote", "link", "list", "math", "media", "metadata", "note", "table"}
SPEAKER = re.compile(r"^\s*(?:(?:MR|MS|MRS|GENERAL|JUSTICE|CHIEF JUSTICE)\.? [A-Z' ]+|QUESTION):", re.M)
# Of a printed opinion: the first line of a page's footnotes, a footnote's number in the text, a paragraph of prose.
FOOTNOTES = re.compile(r"\n(?:\s*_{5,}| {2,}\d{1,2}\s*\n\s+[A-Z\"“]| {2,}\d{1,2}[ .]*[A-Z])")
NOTE_NUMBER = re.compile(r"(?<=[a-z)\"”]{2}[.,;:\"”a-z])\d{1,2}(?= |$)")
OPINION = re.compile(r"[A-Z\"“].{60,}[a-z)\]][.?!][\"”]?$")


def detokenize(words: list[str]) -> str:
    return "".join(word + " " * space for word, space in zip(words, spaces_after(words), strict=True)).strip()


def read_masc(folder: Path) -> Documents:
    """The documents without trees: the Penn Treebank layer, its test part too, is the treebank's."""
    parsed = {name for names in masc.DOCUMENTS.values() for name in names}
    for path in sorted(folder.glob("masc_tagged/*/*.txt")):
        if not MASC_LEFT_OUT.match(path.name) and path.stem not in parsed:
            text = path.read_text(encoding="utf8", errors="replace")
            blocks = [[pair.rpartition("_")[0] for pair in block.split()] for block in text.split("\n\n")]
            yield [detokenize(words) for words in blocks]


def read_speeches(folder: Path) -> Documents:
    """Speeches of the last sixty years."""
    for path in sorted(folder.glob("*/*.txt")):
        if path.name >= "1961":
            lines = path.read_text(encoding="latin1").split("\n")
            yield [re.sub(r"\[[^]]*\]|\((?:Applause|Laughter)[^)]*\)", "", line) for line in lines if len(line) > 60]


def read_openstax(folder: Path) -> Documents:
    """The paragraphs of each section of a book."""
    namespace = "{http://cnx.rice.edu/cnxml}"
    for path in sorted(folder.glob("modules/*/index.cnxml")):
        body = ElementTree.parse(path).getroot().find(f"{namespace}content")

        def text_of(node: ElementTree.Element) -> str:
            pieces = [node.text or ""]
            for child in node:
                left_out = child.tag.removeprefix(namespace) in CNXML_LEFT_OUT
                pieces += ["" if left_out else text_of(child), child.tail or ""]
            return "".join(pieces)

        def paragraphs(node: ElementTree.Element) -> Iterator[str]:
            for child in node:
                name = child.tag.removeprefix(namespace)
                if name == "para":
                    yield re.sub(r"\s*\(\s*\)", "", " ".join(text_of(child).split()))  # where a figure was named
                elif name not in CNXML_LEFT_OUT:
                    yield from paragraphs(child)

        if body is not None:
            yield list(paragraphs(body))


def spoken_turns(pages: list[str]) -> list[str]:
    """Read the speech of an argument, without numbers of lines, names of speakers and the index."""
    lines = [line.strip() for page in pages for line in page.split("\n")]
    text = "\n".join(line for line in lines if line and not re.fullmatch(r"\d+|Official.*|Heritage.*", line))
    _, *turns = SPEAKER.split(text.partition("P R O C E E D I N G S")[2].partition("was submitted")[0])
    return [re.sub(r"\(.*?\)", "", " ".join(turn.split())).replace(" -- ", " – ") for turn in turns]


def read_court(folder: Path) -> Documents:
    import pypdf

    for path in sorted(folder.rglob("*.pdf")):
        yield spoken_turns([page.extract_text() for page in pypdf.PdfReader(path).pages])


def read_wiki_split(folder: Path) -> Documents:
    """Single sentences."""
    for path in sorted(folder.glob("t*.tsv")):
        with path.open(encoding="utf8", newline="") as file:
            rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            sentences = [re.sub(r"(?<=\w) - (?=\w)", "-", row[0].replace("''", '"')) for row in rows]
        for i in range(0, len(sentences), 50):
            yield [detokenize(sentence.split()) for sentence in sentences[i : i + 50]]


def read_qed(folder: Path) -> Documents:
    for path in sorted(folder.glob("*.jsonlines")):
        for line in path.read_text(encoding="utf8").splitlines():
            words = json.loads(line)["paragraph_text"].replace("``", '"').replace("''", '"').replace(" - ", "-").split()
            yield [detokenize(words)]


def read_taskmaster(folder: Path) -> Documents:
    for path in sorted(folder.rglob("data_*.json")):
        for dialog in json.loads(path.read_text(encoding="utf8")):
            yield [turn["text"] for turn in dialog["utterances"] if turn["text"]]


def read_topical_chat(folder: Path) -> Documents:
    for path in sorted(folder.glob("conversations/valid_*.json")):
        for conversation in json.loads(path.read_text(encoding="utf8")).values():
            yield [turn["message"] for turn in conversation["content"]]


def read_product_reviews(folder: Path) -> Documents:
    """Each review, without its title and its annotation, with a capital at the beginning of a sentence."""
    for path in sorted(folder.glob("product_reviews_*/*.txt")):
        if path.name != "README.txt":
            for review in path.read_text(encoding="utf8").split("[t]")[1:]:
                lines = [line.partition("##")[2] for line in review.splitlines()]
                yield [" ".join(capitalize(detokenize(line.split())) for line in lines if line.strip())]


def read_movie_reviews(folder: Path) -> Documents:
    for path in sorted(folder.glob("movie_reviews/*/*.txt")):
        lines = path.read_text(encoding="utf8").splitlines()
        yield [" ".join(capitalize(detokenize(open_quotes(line.split()))) for line in lines if line.strip())]


def read_comparisons(folder: Path) -> Documents:
    """Sentences of reviews and forums, without the lines that mark them."""
    text = (folder / "comparative_sentences" / "labeledSentences.txt").read_text(encoding="latin1")
    lines = [line for line in text.splitlines() if line.strip() and not re.match(r"[<*]|\d_", line)]
    for i in range(0, len(lines), 20):
        yield [" ".join(capitalize(detokenize(open_quotes(line.split()))) for line in lines[i : i + 20])]


def read_policies(folder: Path) -> Documents:
    """The paragraphs and points of policies and contracts in Markdown, without headings, tables and links."""
    for path in sorted(folder.rglob("*.md")):
        lines = path.read_text(encoding="utf8").split("\n")
        points = [re.sub(r"^\s*(?:[-*+>]|\d+\.|\(?[a-z]\))\s+", "", line) for line in lines]
        plain = [re.sub(r"\[([^]]*)\]\([^)]*\)|[*_`]|<[^>]*>", r"\1", point).strip() for point in points]
        yield [line for line in plain if re.match(r"[“\"A-Z].*[.;:?!]$", line)]


def read_schema_dialogues(folder: Path) -> Documents:
    for path in sorted(folder.glob("train/dialogues_00[1-9].json")):
        for dialogue in json.loads(path.read_text(encoding="utf8")):
            yield [turn["utterance"] for turn in dialogue["turns"]]


def capitalize(sentence: str) -> str:
    """Write capitals in a sentence that lost them: its first letter, and the pronoun I."""
    return re.sub(r"\bi\b(?=[ '’]|$)", "I", sentence[:1].upper() + sentence[1:])


def open_quotes(words: list[str]) -> list[str]:
    """Tell opening quotes from closing ones, which where a space stands depends on."""
    n_quotes = 0
    quoted = []
    for word in words:
        n_quotes += word == '"'
        quoted.append(("“" if n_quotes % 2 else "”") if word == '"' else word)
    return quoted


def read_standard_ebook(folder: Path) -> Documents:
    """The paragraphs of each chapter of a book, prose only."""
    namespace = "{http://www.w3.org/1999/xhtml}"
    for path in sorted(folder.glob("src/epub/text/*.xhtml")):
        body = ElementTree.parse(path).getroot().find(f"{namespace}body")
        if body is not None and "bodymatter" in body.get("{http://www.idpf.org/2007/ops}type", ""):
            blocks = [" ".join("".join(node.itertext()).split()) for node in body.iter(f"{namespace}p")]
            yield [re.sub(r"[\u2060\ufeff]", "", text) for text in blocks]


def read_gutenberg(folder: Path) -> Documents:
    """The paragraphs of a book of Project Gutenberg, in documents of fifty; headings and what is not prose are left."""
    for path in sorted(folder.glob("*.txt")):
        text = path.read_text(encoding="latin1")
        text = re.split(r"\*\*\* ?START OF.*", text)[-1].split("*** END OF")[0].split("End of the Project")[0]
        blocks = [" ".join(block.replace("_", "").split()) for block in re.split(r"\n\s*\n", text)]
        prose = [re.sub(r"(?<=\w)--(?=\w)", " -- ", block) for block in blocks if re.search(r"[a-z].*[.!?\"']$", block)]
        for i in range(0, len(prose), 50):
            yield prose[i : i + 50]


def opinion(text: str) -> list[str]:
    """Read the paragraphs of a court's opinion as printed: without its title, heads of pages, footnotes and quotes."""
    blocks: list[str] = []
    for page in re.split(r"\f|\n\s*-?\d+-?\s*\n", text):
        body = FOOTNOTES.split(page)[0]
        lines = [line for line in body.split("\n") if line.strip()]
        for i, line in enumerate(lines):
            words = " ".join(line.split())
            # What goes on in small letters after a sentence's end is the rest of a footnote.
            of_note = i == 0 and words[0].islower() and blocks and re.search(r"[.?!][\"”]?$", blocks[-1])
            if not blocks or of_note or line.startswith(" " * 4):
                blocks.append(words)
            else:
                blocks[-1] += " " * (not blocks[-1].endswith("-")) + words
    prose = [NOTE_NUMBER.sub("", block) for block in blocks]
    return [block for block in prose if OPINION.match(block) and "*" not in block and "on brief" not in block]


def read_opinions(folder: Path) -> Documents:
    for path in sorted(folder.rglob("*.json")):
        yield opinion(json.loads(path.read_text(encoding="utf8"))["plain_text"])


def read_posts(folder: Path) -> Documents:
    """The paragraphs of each question and answer of a site of Stack Exchange, without those with code or formulas."""
    for row in ElementTree.parse(next(folder.rglob("Posts.xml"))).getroot():
        blocks = re.findall(r"<p>(.*?)</p>", row.get("Body", ""), re.S)
        plain = [html.unescape(re.sub(r"<[^>]*>", "", block)) for block in blocks if not re.search(r"<code>|\$", block)]
        prose = [" ".join(block.split()) for block in plain if "http" not in block]
        if row.get("PostTypeId") in {"1", "2"}:  # questions and answers, not descriptions of tags
            yield [block for block in prose if re.search(r"\w.* .*[.?!)]$", block)]


def read_wiki_leads(folder: Path) -> Documents:
    """The first paragraphs of articles, those of one file together, but for short ones: programs wrote many."""
    for path in sorted(folder.glob("Datasets/Wiki Summary/*.json")):
        articles = json.loads(path.read_text(encoding="utf8"))["data"]
        leads = (lead["context"] for article in articles for lead in article["paragraphs"])
        texts = (re.sub(r"[\u200b-\u200f]|\[\d+\]", "", lead) for lead in leads)
        yield [text for text in texts if len(text.split()) >= 45]


class Source(NamedTuple):
    """A source of text: its place, its terms, and how much of it is taken.

    repository (str): On GitHub, with the commit.
    path (str): Of what is used in it.
    """

    repository: str
    commit: str
    path: str
    terms: str
    words: int
    read: Callable[[Path], Documents]


NLTK = ("nltk/nltk_data", "5db857e6f7df11eabb5e5665836db9ec8df07e28")
MASC_TERMS = "free for research and development, including commercial"
CASES = ("joyce-john/supreme_court_oral_arguments", "386c13e03b1ca63dc6e29b7ab76dd30362b19229")
GOOGLE = "google-research-datasets"
INDONESIAN = "indonesian-wikipedia"
# The last commits of these books under CC BY 4.0.
BOOKS = {
    "american-government": "5c90dd7907dbf25f42266417e63ca3bb0012f031",
    "entrepreneurship": "c1fa2c872ba07dc864c3aeb5a510b08b4f657288",
    "introduction-anthropology": "418eedd9bef21ec1a6fa1b472c0d82c084e35c70",
    "introduction-philosophy": "d7bd4f0f520529b3ad83272448a9c2be25c9040a",
    "psychology": "e061043bf2f9e86ace51c4e8dc9555160f60a99d",
    "us-history": "046331cfcea0ac1b1a8fd461b3e6aae638845af3",
}
STANDARD_EBOOKS = {
    "p-g-wodehouse_love-among-the-chickens": "225f938a7eea9b3fa721065cf04917f253733285",
    "arthur-conan-doyle_the-adventures-of-sherlock-holmes": "23b2b6e0aa1350aaccaac91e1d0fe3bb6ed4c81f",
}
# Novels and stories full of direct speech, for tools/speech.py; only --only takes them.
SPEECH_EBOOKS = {
    "agatha-christie_the-mysterious-affair-at-styles": "5daaa8ab33f8bad4e1da19e38b728f3d82262956",
    "f-scott-fitzgerald_the-great-gatsby": "194dc118c0f998da3bc5443d97370e16781b899a",
    "l-m-montgomery_anne-of-green-gables": "87a8976ae6bd342a5e20eb9b7b8399a245108246",
    "agatha-christie_the-secret-adversary": "d107276ef02bf29af36af5a987ad8cd37c8ffcd2",
    "p-g-wodehouse_short-fiction": "8ca35a4a36ab037eb142b85416d08ae7d27cb2d1",
    "h-beam-piper_short-fiction": "9cc9fa4e901236f70e677856a86718830fdca117",
    "philip-k-dick_short-fiction": "e423075ad1322ec9cbeee71c8e9034fbe1003b36",
    "sinclair-lewis_babbitt": "6ea7c30d6e2c9d1cd4a49d86f30d6d06ee74ba2c",
}
GUTENBERG = {  # novels: repository, file and commit
    "thursday": (
        "GITenberg/The-Man-Who-Was-Thursday--A-Nightmare_1695",
        "1695.txt",
        "a0c86662d42ad7d598fb7b75ad7c371efcce5ad4",
    ),
    "mines": ("rdhyee/King-Solomon-s-Mines_2166", "2166.txt", "a4d76d970b3b0d73ec132e8d47eba15642e2131e"),
    "karamazov": ("GITenberg/The-Brothers-Karamazov_28054", "28054.txt", "6a2b2e1e64fe3246e470b60459ba207e2872bd0e"),
    "katrine": ("GITenberg/Katrine--A-Novel_14263", "14263.txt", "cda5284ad5c11e1928cd4c133c0726c1592bea08"),
    "hero": ("GITenberg/The-Little-Colonel-s-Hero_15122", "15122.txt", "69e1e7ab1c6c998ea3e46e8b55239fe480b657c4"),
    "nowhere": (
        "GITenberg/News-from-Nowhere--Or-An-Epoch-of-Rest--13-Being-Some-Chapters-from-a-Utopian-Romance_3261",
        "3261.txt",
        "79bd67b0ae225cd64f7bbc25c0449850b3131069",
    ),
    "adventures": (
        "GITenberg/American-AdventuresA-Second-Trip-Abroad-at-home-_18304",
        "18304-8.txt",
        "748434ca594b6997cc8e8ff6af53cb9d343071bd",
    ),
    "school": (
        "GITenberg/The-Log-School-House-on-the-Columbia_14881",
        "14881-8.txt",
        "e0989d1c6a67afbfa7716e87df2ab9438020d6d5",
    ),
}
POLICIES = {  # terms of service, of privacy and the like: repository, commit, path and terms
    "github_policies": ("github/site-policy", "12992597c5d9d8cfc006693c54b9609d9993bc99", "Policies", "CC0 1.0"),
    "basecamp_policies": ("basecamp/policies", "d39f6f17bbd90d82b1df9fa7a0df845edd487de0", "*.md", "CC BY 4.0"),
}
POSTS = {  # sites of Stack Exchange, with what was written before 2018 only: repository and commit
    "beer_posts": ("kevswanberg/beer_tentrr", "9573647bff33c61bdce2f07a9000a4098fd3074d"),
    "coffee_posts": (
        "Yoav-Shafir/Elasticsearch-Coffee-Search-Engine-JS",
        "97e93c92aaa379fed6d0ee9be94b2024371d6aba",
    ),
    "teaching_posts": ("jrfoster/spark-intro", "d242829803d27f4fca6a03065fd85749f505dbef"),
}
REVIEWS = "CC BY 4.0"
SOURCES = {
    "masc": Source(*NLTK, "packages/corpora/masc_tagged.zip", MASC_TERMS, 600_000, read_masc),
    "state_union": Source(*NLTK, "packages/corpora/state_union.zip", "public domain", 200_000, read_speeches),
    "inaugural": Source(*NLTK, "packages/corpora/inaugural.zip", "public domain", 50_000, read_speeches),
    "court": Source(*CASES, "data/raw/2019_cases/1*.pdf", "public domain", 150_000, read_court),
    "opinions": Source(
        "chansooligans/Federal-Appellate-Court-Opinions-Text-Analysis",
        "27f7f9176273b55e75e2ef7e1c1d4388d9b25c19",
        "Midterm_Report/data/1[57]*.json",  # those of 2010
        "public domain",
        300_000,
        read_opinions,
    ),
    "wiki_split": Source(
        f"{GOOGLE}/wiki-split",
        "80f5bddf42d1a68201b7b107ee4b8d86d82e9fde",
        "t*.tsv",
        "CC BY-SA 4.0",
        200_000,
        read_wiki_split,
    ),
    "qed": Source(
        f"{GOOGLE}/QED",
        "2492920337122918bbfc7d12c1268b9af796c6cf",
        "qed-dev.jsonlines",
        "CC BY-SA 3.0",
        150_000,
        read_qed,
    ),
    "taskmaster": Source(
        f"{GOOGLE}/Taskmaster",
        "d92cb6af3005f1dc09c39e75e7daf4a04905e00b",
        "TM-4-2024/data/data_0[0-3].json",
        "CC BY 4.0",
        80_000,
        read_taskmaster,
    ),
    "topical_chat": Source(
        "alexa/Topical-Chat",
        "7c939229cbcf6f55f6977b341a5a2f2fe982d53f",
        "conversations/valid_*.json",
        "CDLA-Sharing 1.0",
        300_000,
        read_topical_chat,
    ),
    "product_reviews_1": Source(
        *NLTK, "packages/corpora/product_reviews_1.zip", REVIEWS, 100_000, read_product_reviews
    ),
    "product_reviews_2": Source(
        *NLTK, "packages/corpora/product_reviews_2.zip", REVIEWS, 100_000, read_product_reviews
    ),
    "movie_reviews": Source(*NLTK, "packages/corpora/movie_reviews.zip", REVIEWS, 400_000, read_movie_reviews),
    "comparisons": Source(*NLTK, "packages/corpora/comparative_sentences.zip", REVIEWS, 120_000, read_comparisons),
    "schema_dialogues": Source(
        f"{GOOGLE}/dstc8-schema-guided-dialogue",
        "e852981ae34990f4358979625854259302feaa78",
        "train/dialogues_00[1-9].json",
        "CC BY-SA 4.0",
        150_000,
        read_schema_dialogues,
    ),
    **{
        name: Source(repository, commit, path, terms, 100_000, read_policies)
        for name, (repository, commit, path, terms) in POLICIES.items()
    },
    **{
        name: Source(repository, commit, "Posts.xml", "CC BY-SA 3.0", 100_000, read_posts)
        for name, (repository, commit) in POSTS.items()
    },
    **{
        book.partition("_")[2]: Source(
            f"standardebooks/{book}", commit, "src/epub/text", "CC0 1.0", 150_000, read_standard_ebook
        )
        for book, commit in STANDARD_EBOOKS.items()
    },
    **{
        book: Source(f"standardebooks/{book}", commit, "src/epub/text", "CC0 1.0", 150_000, read_standard_ebook)
        for book, commit in SPEECH_EBOOKS.items()
    },
    **{
        name: Source(repository, commit, file, "public domain", 150_000, read_gutenberg)
        for name, (repository, file, commit) in GUTENBERG.items()
    },
    **{
        book: Source(f"openstax/osbooks-{book}", commit, "modules", "CC BY 4.0", 100_000, read_openstax)
        for book, commit in BOOKS.items()
    },
    INDONESIAN: Source(
        "adirizq/indonesian-question-answer-generation",
        "d09563b1406e79ec2ea206d3b9d94451024d5d9c",
        "Datasets/Wiki Summary",
        "CC BY-SA, as Wikipedia",
        25_000_000,
        read_wiki_leads,
    ),
}


@contextmanager
def whole(folder: Path) -> Iterator[Path]:
    """Give a folder its name when all of it is there: one that a failure left behind is made anew."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    yield part
    part.rename(folder)


def is_there(folder: Path, commit: str) -> bool:
    """Tell whether a folder is there: a checkout of a commit, or files of one's own.

    RAISES (SystemExit): If it is a checkout of another commit.
    """
    head = folder / ".git" / "FETCH_HEAD"
    if head.parent.is_dir() and not (head.is_file() and head.read_text(encoding="utf8").startswith(commit)):
        raise SystemExit(f"{folder} is no checkout of {commit}. Move or delete it, and run this once more.")
    return folder.exists()


def check_out(repository: str, commit: str, paths: Sequence[str], folder: Path) -> None:
    """Check out some paths of a repository at a commit, without its history."""
    git = ["git", "-C", str(folder)]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run([*git, "remote", "add", "origin", repository], check=True)
    subprocess.run([*git, "fetch", "-q", "--depth=1", "--filter=blob:none", "origin", commit], check=True)
    subprocess.run([*git, "checkout", "-q", commit, "--", *paths], check=True)


def fetch(source: Source, folder: Path, base: str) -> None:
    """Check out what is used of a source, as far as it is not there."""
    if is_there(folder, source.commit):
        return
    with whole(folder) as part:
        check_out(f"{base}/{source.repository}", source.commit, [source.path], part)
        if source.path.endswith(".zip"):
            shutil.unpack_archive(part / source.path, part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, metavar="SOURCES")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--base", default="https://github.com", help="where the repositories are")
    parser.add_argument(
        "--only",
        nargs="*",
        choices=[*SOURCES],
        help="these sources; without it, all English ones but those for tools/speech.py",
    )
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    for name, source in SOURCES.items():
        if name not in args.only if args.only else name in (*SPEECH_EBOOKS, INDONESIAN):
            continue
        folder = args.sources / name
        fetch(source, folder, args.base)
        documents = list(source.read(folder))
        random.Random(0).shuffle(documents)
        n_words = n_documents = 0
        for paragraphs in documents:
            if n_words >= source.words:
                break
            text = "\n\n".join(paragraph for paragraph in paragraphs if paragraph.strip())
            (args.output / f"{name}-{n_documents:04}.txt").write_text(text + "\n", encoding="utf8")
            n_words, n_documents = n_words + len(text.split()), n_documents + 1
        if not n_words:
            raise SystemExit(f"{name}: {folder} has no text. Delete it, and run this once more.")
        terms = f"{source.terms}; https://github.com/{source.repository}"
        sys.stdout.write(f"{name}: {n_words:,} words of {n_documents:,} documents; {terms}\n")


if __name__ == "__main__":
    main()
