"""The well-known archives: who serves them, in which files, of which size and checksum.

Checksums are SHA-256. CIFAR-10's page publishes MD5 for the archives, c32a1d4a… for the binary
version and c58f3010… for Python's; the SHA-256 below are of the same files.
"""

from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

from doubletrouble.data.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Original:
    """A file as it was published."""

    name: str
    size: int  # bytes
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Source:
    """A data set: where its files are served, and the folders people keep them in."""

    name: str
    url: str
    folders: tuple[str, ...]
    files: tuple[Original, ...]  # to download
    others: tuple[Original, ...] = ()  # further forms it is published in

    @property
    def slug(self) -> str:
        """The name with underscores, as in the names of stored projections."""
        return self.name.replace("-", "_")


def _files(*rows: tuple[str, int, str]) -> tuple[Original, ...]:
    return tuple(Original(name=name, size=size, sha256=digest) for name, size, digest in rows)


# fmt: off
MNIST = Source(
    name="mnist",
    url="https://ossci-datasets.s3.amazonaws.com/mnist/",
    folders=("mnist", "MNIST/raw", ""),
    files=_files(
        ("train-images-idx3-ubyte.gz", 9_912_422,
         "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
        ("train-labels-idx1-ubyte.gz", 28_881,
         "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
        ("t10k-images-idx3-ubyte.gz", 1_648_877,
         "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
        ("t10k-labels-idx1-ubyte.gz", 4_542,
         "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
    ),
)
FASHION_MNIST = Source(
    name="fashion-mnist",
    url="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    folders=("fashion-mnist", "fashion_mnist", "FashionMNIST/raw", ""),
    files=_files(
        ("train-images-idx3-ubyte.gz", 26_421_880,
         "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"),
        ("train-labels-idx1-ubyte.gz", 29_515,
         "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
        ("t10k-images-idx3-ubyte.gz", 4_422_102,
         "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"),
        ("t10k-labels-idx1-ubyte.gz", 5_148,
         "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
    ),
)
CIFAR10 = Source(
    name="cifar10",
    url="https://www.cs.toronto.edu/~kriz/",
    folders=("cifar10", "cifar-10", ""),
    files=_files(
        ("cifar-10-binary.tar.gz", 170_052_171,
         "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"),
    ),
    others=_files(
        ("cifar-10-python.tar.gz", 170_498_071,
         "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"),
        ("data_batch_1", 31_035_704,
         "54636561a3ce25bd3e19253c6b0d8538147b0ae398331ac4a2d86c6d987368cd"),
        ("data_batch_2", 31_035_320,
         "766b2cef9fbc745cf056b3152224f7cf77163b330ea9a15f9392beb8b89bc5a8"),
        ("data_batch_3", 31_035_999,
         "0f00d98ebfb30b3ec0ad19f9756dc2630b89003e10525f5e148445e82aa6a1f9"),
        ("data_batch_4", 31_035_696,
         "3f7bb240661948b8f4d53e36ec720d8306f5668bd0071dcb4e6c947f78e9682b"),
        ("data_batch_5", 31_035_623,
         "d91802434d8376bbaeeadf58a737e3a1b12ac839077e931237e0dcd43adcb154"),
        ("test_batch", 31_035_526,
         "f53d8d457504f7cff4ea9e021afcf0e0ad8e24a91f3fc42091b8adef61157831"),
    ),
)
# fmt: on

SOURCES = {source.name: source for source in (MNIST, FASHION_MNIST, CIFAR10)}


def check_original(path: Path, source: Source) -> None:
    """Refuse a file of the original's size that is not the original; packed anew, it may differ."""
    for original in source.files + source.others:
        as_long = original.name == path.name and original.size == path.stat().st_size
        if as_long and _digest(path) != original.sha256:
            raise DataError(
                f"{path} is damaged: it has the size of the original but another checksum; "
                "replace it, or delete it to have it downloaded"
            )


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def is_of_another(path: Path, source: Source) -> bool:
    """Whether a file is another set's: MNIST and Fashion-MNIST use the same names."""
    size = path.stat().st_size
    return any(
        original.name == path.name and original.size == size
        for other in SOURCES.values()
        if other.name != source.name
        for original in other.files
    )
