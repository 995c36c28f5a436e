"""The well-known archives: who serves them, in which files, of which size and checksum.

Checksums are SHA-256. CIFAR-10's page publishes MD5 for the archives, c32a1d4a… for the binary
version and c58f3010… for Python's; the SHA-256 below are of the same files. What the files of
Fashion-MNIST and CIFAR-10's binary archive hold when unpacked has no checksum here.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Original:
    """A file as it was published."""

    name: str
    size: int  # bytes
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Origin:
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

    @property
    def known(self) -> tuple[Original, ...]:
        """Every file with a checksum."""
        return self.files + self.others


def _files(*rows: tuple[str, int, str]) -> tuple[Original, ...]:
    return tuple(Original(name=name, size=size, sha256=digest) for name, size, digest in rows)


# fmt: off
MNIST = Origin(
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
    others=_files(  # the same, unpacked
        ("train-images-idx3-ubyte", 47_040_016,
         "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
        ("train-labels-idx1-ubyte", 60_008,
         "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
        ("t10k-images-idx3-ubyte", 7_840_016,
         "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
        ("t10k-labels-idx1-ubyte", 10_008,
         "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
    ),
)
FASHION_MNIST = Origin(
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
CIFAR10 = Origin(
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
