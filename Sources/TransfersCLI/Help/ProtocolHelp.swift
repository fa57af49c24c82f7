import TransferModel
import TransferReports
import Transfers

/// `transfers help protocols`: what each protocol says of itself.
enum ProtocolHelp {
  private static let columns = [
    Column<ProtocolDescription>("name", "Name") { .text($0.name) },
    Column("destination", "Destination") { .text($0.destination) },
    Column("parallel", "Parallel") { .text($0.parallel) },
    Column("resumable", "Resumes") { .flag($0.isResumable) },
    Column("probe", "Asks") { .text($0.probe) },
    Column("digest", "Digest") { .text($0.digest) },
    Column("exactly_once", "Exactly once") { .text($0.exactlyOnce) },
  ]

  static var table: FigureTable { FigureTable(columns, Transfers.protocols) }

  static var text: String {
    var layout = Table(.plain)
    return layout.page(table) + """

      Resumes: a broken upload resumes mid-file; else the file is sent from its start.
      Digest: what a server may confirm the content with. The receipt of a file says what was confirmed, and how.
      unknown: the answer was lost and nobody can be asked. The file is shown as such (exit code 3 or 4) and nothing is sent
      again until a person says what became of it: transfers resolve

      PUT and WebDAV: a page for people (200, text/html) does not say that anything is stored; nor does 202 anywhere. Where they
      do: --accept-html, --accept-202. Forms and POST are answered with pages; what they prove is "none".
      tus: files go in bodies of at most --part-size (64 MiB), which begin at 8 MiB where they have a checksum and grow as they
      arrive, one after the other; with --parallel side by side, where the server can
      join uploads: it holds the file twice meanwhile, and a lost answer to joining leaves the file unknown. Checksums where the
      server announces them (--digest none: without). --method-override: for servers and proxies that know no PATCH and DELETE.
      resumable: the drafts of the IETF (--interop 9, 8, 6, 5, 4, 3, final; default: 9, then 8) by PUT, or with --method
      post. A server with one URL for all uploads wants --method post, or {path} in the query of the destination.
      A server that does not know them gets one plain request for each file. --digest sha-256 sends digests ahead.

      """
  }
}
