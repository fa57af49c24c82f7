import TransferModel
import TransferReports
import Transfers

/// `transfers help protocols`: what each protocol says of itself.
enum ProtocolHelp {
  private static let columns: [Column<ProtocolDescription>] = [
    .text("name", "Name") { $0.name },
    .text("destination", "Destination") { $0.destination },
    .text("parallel", "Parallel") { $0.parallel },
    .flag("resumable", "Resumes") { $0.isResumable },
    .text("probe", "Asks") { $0.probe },
    .text("digest", "Digest") { $0.digest },
    .text("exactly_once", "Exactly once") { $0.exactlyOnce },
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
