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

  static var table: FigureTable { FigureTable(columns, ProtocolCatalog.all) }

  static var text: String {
    var layout = Table(.plain)
    return layout.page(table) + """

      Resumes: a broken upload resumes mid-file; else the file is sent from its start.
      Digest: what a server may confirm the content with. The receipt of a file says what was confirmed, and how.
      unknown: the answer was lost and nobody can be asked. The file is shown as such (exit code 3 or 4) and nothing is sent
      again until a person says what became of it: transfers resolve

      """ + ProtocolCatalog.all.map(\.notes).filter { !$0.isEmpty }.map { "\n\($0)\n" }.joined()
  }
}
