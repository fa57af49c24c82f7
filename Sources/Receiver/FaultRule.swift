/// One line of a fault script: which requests it matches, which of these it hits, and what happens to them.
struct FaultRule: Sendable {
  enum Selector: Sendable, Equatable {
    case all
    /// The n-th matching request and, with `times`, the ones after it; counts from 1.
    case nth(Int)
    /// The n-th, 2n-th, 3n-th … matching request.
    case every(Int)
    /// Each matching request with this probability.
    case chance(Double)
  }

  /// Line of the script, from 1.
  var line: Int
  /// nil for any.
  var method: String?
  /// Compared with the path as it was sent, percent-encoded and without query; `*` stands for any bytes.
  var pattern: [UInt8]
  var selector = Selector.all
  /// Each path has its own count.
  var isPerPath = false
  /// The maximum number of hits.
  var times: Int?
  var effect = FaultEffect()

  func matches(method: String, path: ArraySlice<UInt8>) -> Bool {
    (self.method == nil || self.method == method) && Self.glob(pattern[...], path)
  }

  /// Whether the `count`-th matching request (from 1) is hit, after `hits` earlier hits.
  func hits(count: Int, hits: Int, seed: UInt64) -> Bool {
    switch selector {
    case .all: return hits < times ?? .max
    case .nth(let n): return count >= n && hits < times ?? 1
    case .every(let n): return count % n == 0 && hits < times ?? .max
    case .chance(let p): return hits < times ?? .max && unitInterval(seed, UInt64(line), UInt64(count)) < p
    }
  }

  /// Remembers the last `*` and extends its match by one byte whenever the rest does not fit: linear in practice.
  private static func glob(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
    var (p, t) = (pattern.startIndex, text.startIndex)
    var retry: (pattern: Int, text: Int)?
    while t < text.endIndex {
      if p < pattern.endIndex, pattern[p] == 0x2A {
        retry = (p + 1, t)
        p += 1
      } else if p < pattern.endIndex, pattern[p] == text[t] {
        p += 1
        t += 1
      } else if let last = retry {
        retry = (last.pattern, last.text + 1)
        (p, t) = (last.pattern, last.text + 1)
      } else {
        return false
      }
    }
    return pattern[p...].allSatisfy { $0 == 0x2A }
  }
}

/// What a script does to one request.
struct FaultEffect: Sendable, Equatable {
  enum Ending: String, Sendable {
    case loseAnswer = "lose-answer"
    case garbage
    case truncateAnswer = "truncate-answer"
    case wrongDigest = "wrong-digest"
  }

  struct Stall: Sendable, Equatable {
    var afterBytes: Int64
    var milliseconds: Int64
  }

  struct BodyHold: Sendable, Equatable {
    var afterBytes: Int64
    var name: String
  }

  /// As written in the script, for the record.
  var text = ""
  var latencyMs: Int64 = 0
  /// A delay after the request is carried out and before it is answered.
  var lateMs: Int64 = 0
  /// Names of holds for the request: before it is processed, before its answer is sent, and within its body.
  var hold: String?
  var lateHold: String?
  var bodyHold: BodyHold?
  /// Sent instead of carrying out the request.
  var status: Int?
  /// Sent after carrying out the request.
  var lateStatus: Int?
  /// The scripted answer is sent before the body is read.
  var isEarly = false
  var retryAfter: String?
  var redirect: String?
  var cutAfter: Int64?
  var resetAfter: Int64?
  var stall: Stall?
  /// Bytes per second.
  var slow: Int64?
  var ending: Ending?
  /// Faults of uploads, see ``FaultScript``.
  var forgetsSession = false
  var regress: Int64?
  /// Reports that nothing is stored but keeps the bytes: later bodies are appended to them.
  var forgetsOffset = false
  var isOffsetPastEnd = false
  var isLocked = false
  var hidesInterim = false
  var location: String?
  var isHTML = false
  var token: String?
  var limit: Int64?
  /// Faults of downloads: another version of the object, and errors in the answer.
  var version: UInt8?
  var wrongByte: Int64?
  var ignoresRange = false
  var ignoresCondition = false
  var contentRange: String?
  var earlier: Int64 = 0
  /// Length of the parts in which the object was uploaded.
  var parts: Int64?
  var field: Answer.Field?
  var isETagWeak = false
  /// Names of fields in lower case.
  var omitted: Set<String> = []
  var framing = Answer.Framing.length

  /// The names of all its holds.
  var holds: [String] { [hold, lateHold, bodyHold?.name].compactMap(\.self) }

  /// The scripted answer; nil when the request is to be carried out.
  var answer: Answer? {
    guard lateStatus == nil, let status = status ?? (redirect == nil ? nil : 307) else { return nil }
    return scripted(status)
  }

  /// The answer that replaces the server's own for a request that was carried out; nil to keep the server's own.
  var lateAnswer: Answer? { lateStatus.map(scripted) }

  private func scripted(_ status: Int) -> Answer {
    var answer = Answer(status, text: "scripted answer")
    if status == 204 || status == 304 { answer = Answer(status) }
    if let redirect { answer.fields.append(Answer.Field("Location", redirect)) }
    answer.fields += retryAfterFields
    if status == 401 { answer.fields.append(Answer.Field("WWW-Authenticate", "Basic realm=\"receiver\"")) }
    return answer
  }

  var retryAfterFields: [Answer.Field] { retryAfter.map { [Answer.Field("Retry-After", $0)] } ?? [] }
}

/// A number in 0 ..< 1 that depends only on its arguments, spread by the finalizer of SplitMix64.
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
func unitInterval(_ seed: UInt64, _ a: UInt64, _ b: UInt64) -> Double {
  var mixed = scattered(seed &+ 0x9E37_79B9_7F4A_7C15)
  mixed = scattered(mixed ^ scattered(a &+ 0x9E37_79B9_7F4A_7C15))
  mixed = scattered(mixed ^ scattered(b &+ 0xD1B5_4A32_D192_ED03))
  return Double(mixed >> 11) * 0x1p-53
}

private func scattered(_ value: UInt64) -> UInt64 {
  var z = value
  z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
  z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
  return z ^ (z >> 31)
}
