import TransferModel
import TransferReports
import Transfers

/// `transfers help protocols`: the abilities that each protocol declares.
enum ProtocolHelp {
  private static let columns: [Column<ProtocolDescription>] = [
    .text("name", "Name") { $0.name },
    .text("destination", "Destination") { $0.destination },
    .text("parallel", "Parallel") { $0.parallel },
    .flag("resumable", "Resumes") { $0.isResumable },
    .text("probe", "Queries") { $0.probe },
    .text("digest", "Digest") { $0.digest },
    .text("exactly_once", "Exactly once") { $0.exactlyOnce },
  ]

  static var table: FigureTable { FigureTable(columns, ProtocolCatalog.all) }

  static var text: String {
    var layout = Table(.plain)
    return layout.page(table) + """

      Resumes: an interrupted upload resumes mid-file; otherwise the file is sent from its start.
      Digest: digests with which the server can confirm the content. The receipt of a file says how it was confirmed.
      unknown: the answer was lost and the server cannot be queried. The file becomes unknown (exit code 3 or 4) and nothing
      is sent again until a person decides: transfers resolve

      """ + ProtocolCatalog.all.map(\.notes).filter { !$0.isEmpty }.map { "\n\($0)\n" }.joined()
  }
}
