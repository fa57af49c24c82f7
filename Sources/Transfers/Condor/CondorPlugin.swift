package import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How this program describes itself to HTCondor, and where it keeps its ledger there.
package enum CondorPlugin {
  /// The ad of `-classad`: exactly the five attributes that version 4 requires.
  package static func ad(protocolVersion: Int) -> [UInt8] {
    ClassAd([
      ("MultipleFileSupport", .boolean(true)), ("PluginVersion", .string(TransferClient.version)),
      ("PluginType", .string("FileTransfer")), ("ProtocolVersion", .integer(Int64(protocolVersion))),
      ("SupportedMethods", .string(methods)),
    ]).longText
  }

  /// URL schemes that are supported for uploads, downloads or both.
  private static var methods: String {
    var known: Set<String> = []
    return Direction.allCases.flatMap(AllProtocols.schemes).filter { known.insert($0).inserted }
      .map { $0.replacing("://", with: "") }.joined(separator: ",")
  }

  /// The answer when the input is invalid, so that no file has an answer.
  package static func failureAd(_ text: String) -> [UInt8] {
    let failure = ClassAd([
      ("ErrorType", .string("Parameter")), ("PluginVersion", .string(TransferClient.version)),
      ("PluginLaunched", .boolean(true)), ("Retryable", .integer(-1)), ("ErrorCode", .integer(1)),
      ("ErrorString", .string(text)),
    ])
    return ClassAd([
      ("TransferSuccess", .boolean(false)), ("TransferUrl", .string("")), ("TransferFileName", .string("")),
      ("TransferError", .string(text)), ("TransferErrorData", .list([.ad(failure)])),
    ]).newText
  }

  /// The folder of a file; nil when it is not UTF-8.
  package static func folder(of file: NameBytes) -> String? {
    NameBytes(Array(file.bytes.dropLast(file.lastComponent.bytes.count))).utf8.map { $0.isEmpty ? "." : $0 }
  }

  /// The ledger of a job, in its own folder: HTCondor treats new files in the scratch folder as results of the job, but
  /// ignores folders.
  /// - Throws: `.storeIO` when the folder cannot be created, or belongs to another user.
  package static func store(inScratch scratch: String) throws(TransferError) -> String {
    let folder = scratch + "/.transfers"
    var status = stat()
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST, lstat(folder, &status) == 0 else {
      throw failure(folder, String(cString: strerror(errno)))
    }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
      throw failure(folder, "it is not a folder of this user")
    }
    return folder + "/condor.db"
  }

  private static func failure(_ folder: String, _ cause: String) -> TransferError {
    TransferError(
      .storeIO, "make folder", NameBytes(folder), cause: cause, remedy: "set TRANSFERS_STORE for the plug-in")
  }
}
