import StrictYAML
public import TransferModel

/// A declarative description of an upload protocol: its requests, the values extracted from the answers, and the
/// meaning of status codes. Parsed and checked completely before anything is sent; `transfers help profiles` shows the
/// schema.
public struct Profile: Sendable, Hashable {
  public let name: String
  /// The profile without its formatting; parsing it gives the same profile. A batch stores this text.
  public let text: String
  /// SHA-256 of ``text``.
  public let digest: Digest
  public let inputs: [ProfileInput]
  let baseURL: Template?
  let file: FileRules
  let chunk: ChunkRules
  let auth: ProfileAuth
  /// Sent with every step.
  let headers: [TemplateField]
  let session: SessionRules
  let steps: [StepName: ProfileStep]
  /// Applied after the rules of the step.
  let errors: [ProfileRule]
  let onAmbiguousLast: AmbiguousLast

  /// Parses a profile of at most 1 MiB. `file` is its name in messages.
  /// - Throws: all faults, with lines and columns.
  public static func read(_ text: [UInt8], file: String) throws(ProfileFaults) -> Profile {
    let root: YAMLNode
    do throws(YAMLFault) {
      root = try YAMLReader.read(text)
    } catch {
      throw ProfileFaults(file: file, faults: [error])
    }
    let decoder = ProfileDecoder()
    let profile = decoder.profile(root)
    let faults = decoder.sortedFaults
    guard let profile, faults.isEmpty else { throw ProfileFaults(file: file, faults: faults) }
    return profile
  }

  func step(_ name: StepName) -> ProfileStep? { steps[name] }

  /// Whether `verify` cannot find an older version of the file: it compares a digest, or queries something that only
  /// this session has.
  var verifiesContent: Bool {
    guard let step = step(.verify) else { return false }
    let isCompared = step.success.requirements.contains { requirement in
      !requirement.isOptional && file.hashes.contains { requirement.names("file", field: $0.rawValue) }
    }
    return isCompared || verifiesUpload
  }

  /// Whether the request of `verify` queries the upload, not the object: it contains something that only this session
  /// has.
  var verifiesUpload: Bool {
    step(.verify)?.variables.contains { $0.root == "session" || $0.root == "uuid" } ?? false
  }

  /// How files are divided, for display: `4 parallel chunks`.
  public var chunkWords: String {
    switch chunk.mode {
    case .single: "the whole file"
    case .sequential: "chunks in order"
    case .parallel: "\(chunk.parallel) chunks at a time"
    }
  }
}

/// The requests that a profile can describe.
enum StepName: String, Sendable, Hashable, CaseIterable {
  /// Opens a session.
  case begin = "init"
  /// Asks what the server has of the file.
  case probe
  /// Asks whether the server has one chunk.
  case probeChunk = "probe_chunk"
  /// Creates a parent folder of the file, if the server reports that it is missing.
  case makeParent = "make_parent"
  /// Fetches values that a chunk needs: a URL, a token.
  case prepareChunk = "prepare_chunk"
  /// Sends bytes of the file.
  case chunk
  /// Ends the session.
  case complete
  /// Registers the completed upload: the call that many services name "save".
  case commit
  case abort
  /// Asks whether the finished file is there.
  case verify

  /// The step is about one chunk.
  var isOfChunk: Bool { self == .chunk || self == .probeChunk || self == .prepareChunk }
  /// The step comes when all chunks are stored.
  var isLast: Bool { self == .complete || self == .commit || self == .verify }
}

/// The reaction if the answer to the last chunk was lost and its repetition is refused.
enum AmbiguousLast: String, Sendable, Hashable, CaseIterable {
  case resend, probe, restart, fail
  case commitAnyway = "commit_anyway"
}

/// A name and a template: a header, a parameter, a field of a form.
struct TemplateField: Sendable, Hashable {
  var name: String
  var value: Template
  /// Left out if it renders to an empty text.
  var isOptional: Bool
}

/// A value supplied by the user or the job.
public struct ProfileInput: Sendable, Hashable {
  public var name: String
  /// Given by reference only; never stored, logged or shown.
  public var isSecret: Bool
  public var isRequired: Bool
  public var byDefault: String?
}

/// The files that the profile accepts.
struct FileRules: Sendable, Hashable {
  var minSize: Int64 = 0
  var maxSize: Int64?
  /// Digests of the whole file that are needed before the first request.
  var hashes: [ProfileHash] = []
}

/// How files are divided into chunks.
struct ChunkRules: Sendable, Hashable {
  enum Mode: String, Sendable, CaseIterable { case sequential, parallel, single }
  enum Remainder: String, Sendable, CaseIterable {
    case lastSmall = "last_small"
    case lastAbsorbs = "last_absorbs"
  }
  enum Size: Sendable, Hashable {
    /// Bytes.
    case bytes(Int64)
    /// The server chooses it when the session is opened: a value of the session.
    case session(String)
  }

  var mode = Mode.sequential
  var size = Size.bytes(8 << 20)
  /// The user cannot choose another size.
  var isFixed = false
  /// Bytes; the last chunk may be smaller.
  var minSize: Int64 = 1
  var maxSize: Int64 = 5 << 30
  var multipleOf: Int64 = 1
  var maxCount = 10_000
  var remainder = Remainder.lastSmall
  /// The number of the first chunk: 0 or 1.
  var numberBase = 1
  /// Maximum number of concurrent chunks of one file.
  var parallel = 4
  var hashes: [ProfileHash] = []
  /// The server accepts the same chunk twice.
  var isIdempotent = true
}

/// A digest that templates can use.
enum ProfileHash: String, Sendable, Hashable, CaseIterable {
  case crc32, crc32c, md5, sha1, sha256, quickxor
  /// CRC-64/NVME, under both names.
  case crc64, crc64nvme

  var algorithm: DigestAlgorithm {
    switch self {
    case .crc32: .crc32
    case .crc32c: .crc32c
    case .crc64, .crc64nvme: .crc64nvme
    case .md5: .md5
    case .sha1: .sha1
    case .sha256: .sha256
    case .quickxor: .quickxor
    }
  }
}

/// How requests are authorised.
struct ProfileAuth: Sendable, Hashable {
  /// Sent with every step without `auth: off`, and only to the servers that the profile names.
  var headers: [TemplateField] = []
  /// Fetches new secrets; run by the rule action `refresh_auth`.
  var refresh: ProfileStep?
}

/// How long a session can be resumed.
struct SessionRules: Sendable, Hashable {
  /// Milliseconds after it was opened; nil for no limit.
  var ttlMs: Int64?
  /// A value of the session that contains its expiry time.
  var ttlFrom: String?

  /// The expiry time in the latest answer: some servers change it with each chunk.
  func expiresAtMs(_ notes: SessionNotes) -> Int64? {
    guard let name = ttlFrom, case .time(let ms)? = notes.sessionValues[name] else { return nil }
    return ms
  }
}
