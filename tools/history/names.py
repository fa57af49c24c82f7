"""File names as users and instruments choose them, and some that break careless programs."""

HOSTILE = (
    b"<script>alert(1)</script>.html",
    b"100% sicher %s %n.csv",
    b"it's \"quoted\" `too`.txt",
    b"latin-1 \xe4\xf6\xfc \xff\xfe.dat",
    "日本語のファイル_第二版.bam".encode(),
    "Übersicht größer 2026.pdf".encode(),
    "👩🏽‍🚀 e\u0301\u0323.png".encode(),
    "rtl\u202egnp.exe".encode(),
    b"tab\there, line\nthere.txt",
    b"=HYPERLINK(1).csv",
    b"; DROP TABLE file; --",
    b"-rf",
)
ORDINARY = ("lane{0}/sample_{1:06}.fastq.gz", "scan/{0}/slice-{1:06}.dcm", "photos/IMG_{1:06}.JPG", "log/app-{0}-{1:06}.log.zst",
            "dump/part-{1:06}.sql.gz", "video/take {1}.mov", "Projekte/Müller/Bericht {1}.docx", "table_{1:06}.parquet")  # fmt: skip


def name(number, chance):
    """A relative name that is unique to this number. Each hostile name occurs at least once in the first few files."""
    if number < 2 * len(HOSTILE) and number % 2 == 1:
        return b"in %d/" % number + HOSTILE[number // 2]
    if chance.random() < 0.01:
        return b"in %d/" % number + chance.choice(HOSTILE)
    return chance.choice(ORDINARY).format(number % 8, number).encode()
