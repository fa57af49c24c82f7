import Glibc
import TransferModel

/// The real program, a folder `source`, and a bucket that accepts everything and knows what it received.
struct BucketScene {
  final class Bucket: Sendable {
    /// The fields of the last request for each target, which has no leading slash.
    let requests = Lock<[String: [String: String]]>([:])
    var targets: [String] { requests.withLock { $0.keys.sorted() } }

    func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Reply {
      requests.withLock { $0[String(request.target.drop { $0 == "/" })] = request.headers }
      return .init(status: 200, headers: [("ETag", "\"e\"")])
    }

    func forget() { requests.withLock { $0 = [:] } }
  }

  static let keys = ["AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "secret-key", "AWS_REGION": "us-east-1"]

  let program: BuiltProgram
  let bucket: Bucket
  let server: ScriptedServer
  var root: String { program.folder.path }

  /// - Parameters:
  ///   - folders: made before the files.
  ///   - files: the content of each file of the source.
  init(folders: [String], files: [String: String]) throws {
    let bucket = Bucket()
    (program, self.bucket) = (try BuiltProgram(), bucket)
    server = try ScriptedServer { bucket.answer($0) }
    for folder in ["source"] + folders { mkdir(root + "/" + folder, 0o700) }
    for (name, text) in files { try writeFile("\(root)/source/\(name)", Array(text.utf8)) }
  }

  /// Runs the program with the keys of the bucket and the ledger.
  func run(_ words: [String], input: String? = nil) throws -> BuiltProgram.Outcome {
    let words = words + ["--store", root + "/l.db"]
    return try program.run(words.map { Array($0.utf8) }, environment: Self.keys, input: input)
  }
}
