import Glibc
import Testing

/// Reviewed output that is kept for comparison. `RECORD_SNAPSHOTS=1` records it again, to be reviewed like code.
enum Golden {
  static func expect(
    _ name: String, _ text: String, hiding store: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let path = folder + "/\(name).txt"
    let masked = mask(text, store)
    if getenv("RECORD_SNAPSHOTS") != nil { try writeFile(path, Array(masked.utf8)) }
    let kept = (try? readText(path)) ?? ""
    #expect(masked == kept, "differs from \(path)", sourceLocation: sourceLocation)
  }

  static let folder: String = {
    let root = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    return root + "/Goldens/TransfersCLI"
  }()

  /// Masks what differs between runs: identifiers, the time and the path of the ledger; also the schema version, which
  /// changes with each migration.
  private static func mask(_ text: String, _ store: String) -> String {
    let uid = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/
    let moment = /"generated_at":"[^"]*"/
    let version = /"schema_version":[0-9]+/
    return text.replacing(version, with: #""schema_version":N"#).replacing(store, with: "STORE").replacing(
      uid, with: "UID"
    )
    .replacing(moment, with: #""generated_at":"NOW""#)
  }
}
