internal import CCurl
internal import HTTPTypes

/// The header fields of a request as a list of libcurl.
final class FieldList {
  private(set) var first: UnsafeMutablePointer<curl_slist>?
  /// There was no memory for one of them.
  private(set) var isIncomplete = false

  /// The caller's fields unchanged, and empty `Accept` and `Expect` fields if the caller has none, because libcurl
  /// would add its own. `Content-Length` is left to libcurl.
  init(_ fields: HTTPFields) {
    for field in fields where field.name != .contentLength {
      append(Self.line(field.name.rawName, field.withUnsafeBytesOfValue { Array($0) }))
    }
    if !fields.contains(.accept) { append(Array("Accept:".utf8)) }
    if !fields.contains(.expect) { append(Array("Expect:".utf8)) }
  }

  deinit { ccurl_slist_free_all(first) }

  /// `Name;` is libcurl's way to send a field without a value; `Name:` would remove it. Source: CURLOPT_HTTPHEADER(3).
  private static func line(_ name: String, _ value: [UInt8]) -> [UInt8] {
    value.isEmpty ? Array("\(name);".utf8) : Array("\(name): ".utf8) + value
  }

  private func append(_ line: [UInt8]) {
    let longer = (line + [0]).withUnsafeBytes {
      ccurl_slist_append(first, $0.assumingMemoryBound(to: CChar.self).baseAddress)
    }
    guard let longer else { return isIncomplete = true }
    first = longer
  }
}
