import TransferModel
import Transfers

/// `transfers help destinations`.
enum DestinationHelp {
  static var text: String { list + rules }

  /// The description of each protocol, one per line.
  private static var list: String {
    let known = ProtocolCatalog.all.filter { !$0.about.isEmpty }
    let width = (known.map(\.usage.count).max() ?? 0) + 2
    return known.map { row in
      row.usage + String(repeating: " ", count: width - row.usage.count) + row.about + "\n"
    }.joined()
  }

  private static let rules = """

    A final slash means "into": each file is stored below it under its own name, a folder with its tree.
    Without it a single file is stored under exactly that name.
    What each protocol can do: transfers help protocols
    Credentials come from the environment and files: the AWS variables and profiles for S3, --auth for the others,
    --input for profiles.

    """
}
