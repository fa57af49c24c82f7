public import TransferModel

/// Deliberate faults, read from a text file with one rule per line. Empty lines and text after `#` are ignored.
///
///     match METHOD PATH [SELECTOR…] : ACTION [ACTION…]
///
/// METHOD is `PUT`, `GET`, … or `*`. PATH is compared with the path as sent (percent-encoded, without query); `*`
/// stands for any bytes. A word that contains blanks is enclosed in double quotes. Each rule counts the requests that
/// its METHOD and PATH match; only the first rule in the file that hits a request is applied to it.
///
/// Selectors (without one, every matching request is hit):
///
///     nth=N        the N-th matching request, from 1; with times=T also the T-1 after it
///     every=N      every N-th matching request
///     p=X          each with probability X (0…1), which depends only on seed, line and count: a seed repeats a run
///     per=path     counts each path for itself
///     times=T      at most T hits (allowed among the actions, too)
///
/// Actions:
///
///     latency=MS            waits before the request is processed
///     status=CODE           reads and discards the body, answers CODE
///     early-status=CODE     answers CODE before the body is read, then closes
///     late-status=CODE      carries out the request, then answers CODE, like a gateway that gave up
///     retry-after=TEXT      the Retry-After of that answer, as written
///     redirect=URL          the Location of that answer; the default CODE is 307
///     cut-after=N           closes the connection after N body bytes, or at the end of a shorter body, and keeps what
///                           the protocol keeps: the bytes so far for tus without a checksum and for resumable
///                           uploads, otherwise nothing
///     reset-after=N         the same with a TCP reset
///     stall=N,SECONDS       pauses for SECONDS after N body bytes, or at the end of a shorter body, then continues
///     slow=N                transfers N body bytes per second
///     lose-answer           carries out the request, then closes without an answer
///     truncate-answer       carries out the request, sends half of the answer, closes
///     garbage               carries out the request, answers with bytes that are not HTTP, closes
///     wrong-digest          carries out the request, answers with a wrong Repr-Digest
///
///     hold=NAME             waits, before the request is processed, until a test releases the hold with this name
///                           (letters, digits, minus signs); a release applies to all its requests, later ones too
///     late-hold=NAME        carries out the request, and waits in the same way before it answers
///     body-hold=N,NAME      waits in the same way after N body bytes, or at the end of a shorter body
///
/// A held request ends when its connection is closed, as if its client had gone. A test waits for held requests and
/// releases them by ``ReceiverServer/waitUntilHeld(_:count:timeoutMs:)`` and ``ReceiverServer/release(_:)``, or from
/// another process by GET and DELETE of `/-/holds/NAME`.
///
/// Actions for uploads that take several requests (the protocols below `/-/`):
///
///     forget-session        the upload that the request names is unknown from now on
///     wrong-offset=N        carries out the request, then discards the last N bytes of the upload and reports that
///     forget-offset         reports the offset 0 to a query; later bytes are appended to the stored ones
///     offset-past-end       announces an offset past the end of the upload
///     locked=TIMES          answers 423 to this many requests; a Nextcloud MOVE merges meanwhile
///     no-104                sends no interim answers
///     bad-location=URL      sends this as the Location, also in interim answers
///     html                  answers 200 with an HTML page and does nothing
///     token=TEXT            sends this as the token or ID of the upload; \r, \n and \\ are escapes
///     limit=N               answers 413 to bodies of more than N bytes
///
/// Actions for downloads (GET and HEAD):
///
///     version=N             answers with another version of the object, of the same length: N (1…255) decides which
///     wrong-byte=N          alters the byte at offset N of the object in every answer that contains it
///     ignore-range          answers 200 with the whole object, even if a range was requested
///     ignore-condition      sends the object whatever If-None-Match and If-Modified-Since say
///     content-range=TEXT    sends this as the Content-Range, with the bytes that were requested
///     earlier=N             begins a range N bytes before the requested one, with the matching Content-Range
///     parts=N               the object was uploaded in parts of N bytes, as to S3: its ETag ends with their number,
///                           HEAD with partNumber describes one, GET with attributes lists them
///     field=NAME:VALUE      answers with this field; it replaces a field of the same name
///     weak-etag             makes the ETag weak
///     omit=NAME,…           leaves these fields out, also of other answers: ETag, Last-Modified, Content-Range, …
///     no-length             sends no Content-Length: the body ends with the connection, in other answers too
///     chunked               sends chunks instead of a Content-Length, in other answers too
///
/// Body bytes are those of the request, for GET those of the answer.
public struct FaultScript: Sendable {
  var rules: [FaultRule]

  /// No faults.
  public init() { rules = [] }

  /// Reads a script. Throws `.config` with line and column of the first mistake; `name` is the script's name in errors.
  public init(text: String, name: String = "script") throws(TransferError) {
    rules = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      do throws(ScriptMistake) {
        var words = ScriptWords(Array(line.utf8))
        if let rule = try words.rule(line: index + 1) { rules.append(rule) }
      } catch {
        throw TransferError(
          .config, "read fault script", NameBytes(name),
          cause: "line \(index + 1), column \(error.column): \(error.text)")
      }
    }
  }

  /// Reads the script in a file.
  public static func read(path: String) throws(TransferError) -> FaultScript {
    let content = try bytes(ofFile: path, "read fault script")
    guard let text = String(validating: content, as: UTF8.self) else {
      throw TransferError(.config, "read fault script", NameBytes(path), cause: "the file is not UTF-8 text")
    }
    return try FaultScript(text: text, name: path)
  }
}

/// A mistake in a line of a script, and its position (column from 1, in bytes).
struct ScriptMistake: Error {
  var column: Int
  var text: String
}

/// The rules of a run with their counters. Called from the threads of all connections.
final class FaultBook: Sendable {
  private struct Counter {
    var count = 0
    var hits = 0
  }

  private struct Key: Hashable {
    var rule: Int
    var path: [UInt8]
  }

  private let rules: [FaultRule]
  private let seed: UInt64
  private let counters = Lock<[Key: Counter]>([:])

  init(_ script: FaultScript, seed: UInt64) {
    rules = script.rules
    self.seed = seed
  }

  /// Counts a request and returns the rule that hits it.
  func rule(method: String, path: ArraySlice<UInt8>) -> FaultRule? {
    if rules.isEmpty { return nil }
    let matching = rules.filter { $0.matches(method: method, path: path) }
    return counters.withLock { counters in
      var hit: FaultRule?
      for rule in matching {
        let key = Key(rule: rule.line, path: rule.isPerPath ? Array(path) : [])
        var counter = counters[key] ?? Counter()
        counter.count += 1
        let salt = rule.isPerPath ? UInt64(CRC32C.of(Array(path))) << 32 : 0
        if hit == nil, rule.hits(count: counter.count, hits: counter.hits, seed: seed ^ salt) {
          counter.hits += 1
          hit = rule
        }
        counters[key] = counter
      }
      return hit
    }
  }
}
