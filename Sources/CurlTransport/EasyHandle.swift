internal import CCurl

/// One reusable easy handle with its error text. Belongs to the thread of its pool.
final class EasyHandle {
  let raw: UnsafeMutableRawPointer
  /// The error of the first option that libcurl refused since the last reset.
  private(set) var refused = CURLE_OK
  private let errorText: UnsafeMutablePointer<CChar>

  /// `share` must outlive the handle. nil when there is no memory.
  init?(share: UnsafeMutableRawPointer?) {
    guard let raw = ccurl_easy_init() else { return nil }
    self.raw = raw
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    if let share { set(CURLOPT_SHARE, pointer: share) }
    reset()
  }

  deinit {
    ccurl_easy_cleanup(raw)
    errorText.deallocate()
  }

  /// Resets all options; connections, TLS sessions and the share are kept.
  func reset() {
    ccurl_easy_reset(raw)
    refused = CURLE_OK
    errorText[0] = 0
    set(CURLOPT_ERRORBUFFER, pointer: errorText)
  }

  /// libcurl's message for the last failure of this handle, or else its general text for `code`.
  func message(for code: CURLcode) -> String {
    errorText[0] == 0 ? Self.generalMessage(for: code) : String(cString: errorText)
  }

  static func generalMessage(for code: CURLcode) -> String { String(cString: ccurl_easy_strerror(code)) }

  func set(_ option: CURLoption, _ value: Int) { note(ccurl_set_long(raw, option, value)) }
  func set(_ option: CURLoption, _ value: Bool) { set(option, value ? 1 : 0) }
  func set(_ option: CURLoption, offset: Int64) { note(ccurl_set_offset(raw, option, curl_off_t(offset))) }
  func set(_ option: CURLoption, _ text: String) { note(ccurl_set_string(raw, option, text)) }

  /// Trusts only the certificates in `file`: libcurl has a built-in directory of certificates, which it would use
  /// besides any file.
  func trustOnly(_ file: String) {
    set(CURLOPT_CAINFO, file)
    note(ccurl_set_string(raw, CURLOPT_CAPATH, nil))
  }

  func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer) { note(ccurl_set_pointer(raw, option, pointer)) }

  func note(_ code: CURLcode) {
    if refused == CURLE_OK { refused = code }
  }

  func long(_ info: CURLINFO) -> Int { ccurl_info_long(raw, info) }
  func offset(_ info: CURLINFO) -> Int64 { Int64(ccurl_info_offset(raw, info)) }
  func text(_ info: CURLINFO) -> String { ccurl_info_string(raw, info).map { String(cString: $0) } ?? "" }
}
