import TransferEngine
import TransferModel
import TransferTestSupport

@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// New ledgers for scenes. Running all migrations costs far more than what a scene does with its ledger, and suites
/// make thousands of scenes: only the first ledger is made in the usual way; the others are copies of its empty file.
enum BlankLedger {
  private static let image = Result { try made() }

  static func place(at path: String) throws { try Scene.write(try image.get(), to: NameBytes(path)) }

  private static func made() throws -> [UInt8] {
    var template = Array("\(temporaryRoot)/transfers-blank-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Scene.Broken(what: "mkdtemp: \(errno)") }
    let folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    defer { removeTree(folder) }
    let path = folder + "/ledger.db"
    try Ledger.open(at: path, mode: .create, clock: SystemClock()).close()
    try forgetPlace(path)
    return try Scene.read(NameBytes(path))
  }

  /// A ledger knows the file in which it was first opened, and would otherwise report that it is a copy.
  private static func forgetPlace(_ path: String) throws {
    let connection = try Connection(path: path, access: .readWrite)
    try connection.execute("UPDATE store_meta SET born_ns = NULL")
    guard try connection.checkpointTruncating() else { throw Scene.Broken(what: "the WAL is not empty") }
  }
}
