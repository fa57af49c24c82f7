import CurlTransport
import TransferEngine
import TransferLedger
package import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The environment of a run on this machine. Reading it changes nothing and does not use the network; it checks whether
/// secrets exist, but never exposes them.
package struct MachineFacts: Sendable, Hashable {
  /// Version of the Swift compiler that built the program, as far as it can be determined.
  package var swift: String
  /// nil when libcurl cannot be used; `curlProblem` says why.
  package var curl: String?
  package var curlProblem: TransferError?
  package var curlFeatures: [String]
  /// nil when libcurl has no TLS.
  package var tls: String?
  package var sqlite: String
  package var sqliteHasWALResetBug: Bool
  /// The file, or else the directory, of certificate authorities for batches that name none, and the origin of its
  /// name.
  package var caPlace: String?
  package var caOrigin: String
  /// Where AWS credentials would come from: names of variables and files, no values.
  package var awsCredentials: String?
  /// The problem with them; nil when there is no problem, or when there are no credentials.
  package var awsProblem: String?

  package init() {
    let library = Result { () throws(TransferError) in try CurlLibrary.load() }
    let found = try? library.get()
    if case .failure(let problem) = library { curlProblem = problem }
    swift = Self.swiftVersion
    (curl, curlFeatures, tls) = (found?.version, found?.features ?? [], found?.tls)
    sqlite = SQLiteLibrary.version
    sqliteHasWALResetBug = SQLiteLibrary.hasWALResetBug(versionNumber: SQLiteLibrary.versionNumber)
    if let file = CurlDestinations.trustedFile {
      (caPlace, caOrigin) = (file, CurlDestinations.trustVariable)
    } else {
      (caPlace, caOrigin) = (found?.caFile ?? found?.caPath, "default of libcurl")
    }
    lookForAWS()
  }

  private mutating func lookForAWS() {
    do throws(TransferError) {
      let environment = try AWSEnvironment(profile: nil)
      awsCredentials = environment.origin
      awsProblem = environment.problem
    } catch {
      awsProblem = "\(error.operation) \"\(error.subject)\": \(error.cause)"
    }
  }

  /// Whether the clock of this machine is synchronized; nil if that cannot be determined.
  package static var isClockSynchronized: Bool? { SystemClock.isSynchronized }

  private static var swiftVersion: String {
    #if compiler(>=6.4)
      "6.4 or newer"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }
}
