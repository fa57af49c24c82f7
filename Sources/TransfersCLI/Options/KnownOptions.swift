import ArgumentParser
import TransferModel
import Transfers

/// What the destination has already.
struct KnownOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Do not send what the destination has by this list: the manifest.json of an S3 Inventory, or a manifest with paths relative to the destination. See docs/manifests.md.",
      valueName: "file"), completion: .file())
  var knownAt: NameBytes?

  @Option(
    help: ArgumentHelp(
      "What must be equal, beside the key: digest (size and digest, the default; reads each such file) or size (a file of the same size with other content is then not sent).",
      valueName: "what"))
  var knownBy: KnownList.Evidence?

  /// nil if nothing is known.
  func list() throws(CommandFailure) -> KnownList? {
    guard let knownAt else {
      guard knownBy == nil else {
        throw .usage("--known-by says how --known-at is used", remedy: "give --known-at, or leave it out")
      }
      return nil
    }
    return KnownList(knownAt, by: knownBy ?? .digest)
  }
}

extension KnownList.Evidence: ExpressibleByArgument {}
