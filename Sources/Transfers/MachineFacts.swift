import CurlTransport
import TransferEngine
import TransferLedger
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What a run on this machine will work with. Reading it changes nothing and touches no network; secrets are looked
/// for, never read out.
public struct MachineFacts: Sendable, Hashable {
  /// Version of the Swift compiler that built the program, as far as it tells.
  public var swift: String
  /// nil when libcurl cannot be used; `curlProblem` says why.
  public var curl: String?
  public var curlProblem: TransferError?
  public var curlFeatures: [String]
  /// nil when libcurl has no TLS.
  public var tls: String?
  public var sqlite: String
  public var sqliteHasWALResetBug: Bool
  /// The file, else the directory, of certificate authorities for batches that name none, and where its name is from.
  public var caPlace: String?
  public var caOrigin: String
  /// Where AWS credentials would come from: names of variables and files, no values.
  public var awsCredentials: String?
  /// What is wrong with them; nil when nothing is or when there are none.
  public var awsProblem: String?

  public init() {
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

  /// Whether a time service keeps the clock of this machine; nil when that cannot be known.
  public static var isClockSynchronized: Bool? { SystemClock.isSynchronized }

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
