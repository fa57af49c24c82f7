internal import CCurl
internal import HTTPTypes
internal import TransferModel

extension Exchange {
  /// Sets all options of the request; the handle has been reset before. Returns the error of libcurl, or else CURLE_OK.
  func configure(_ configuration: CurlConfiguration) -> CURLcode {
    setSafety(configuration)
    setLimits()
    setFields(configuration)
    setMethodAndBody(configuration)
    setCallbacks()
    return easy.refused
  }

  private func setSafety(_ configuration: CurlConfiguration) {
    easy.set(CURLOPT_NOSIGNAL, true)
    // Otherwise, removing a request waits for an unresponsive name server.
    easy.set(CURLOPT_QUICK_EXIT, true)
    easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
    easy.set(CURLOPT_FOLLOWLOCATION, false)
    if configuration.ignoresProxies { easy.set(CURLOPT_PROXY, "") }
    easy.set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    easy.set(CURLOPT_SSL_VERIFYPEER, true)
    easy.set(CURLOPT_SSL_VERIFYHOST, 2)
    easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    if let caFile = configuration.caFile { easy.trustOnly(caFile) }
    easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    easy.set(CURLOPT_PATH_AS_IS, true)
    easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    easy.set(CURLOPT_TCP_KEEPALIVE, true)
    easy.set(CURLOPT_TCP_KEEPIDLE, 30)
    easy.set(CURLOPT_TCP_KEEPINTVL, 15)
    easy.set(CURLOPT_MAXAGE_CONN, configuration.maxIdleSeconds)
    if order.isGuest {
      easy.set(CURLOPT_FRESH_CONNECT, true)
      easy.set(CURLOPT_FORBID_REUSE, true)
    }
  }

  /// libcurl interprets a connect limit of 0 as its default of 300 s, so "no limit" is 24 days.
  private func setLimits() {
    let limits = order.request.limits
    easy.set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(limits.connectMs > 0 ? limits.connectMs : .max))
    easy.set(CURLOPT_TIMEOUT_MS, Self.milliseconds(limits.totalMs))
  }

  private static func milliseconds(_ value: Int64) -> Int { Int(min(max(0, value), Int64(Int32.max))) }

  /// Sets the caller's fields unchanged, and empty `Accept` and `Expect` fields if the caller has none, because libcurl
  /// would add its own.
  private func setFields(_ configuration: CurlConfiguration) {
    let fields = order.request.fields
    var list: UnsafeMutablePointer<curl_slist>?
    for field in fields where field.name != .contentLength {
      let value = field.withUnsafeBytesOfValue { Array($0) }
      Self.append(line(field.name.rawName, value), to: &list, easy)
    }
    if !fields.contains(.accept) { Self.append(Array("Accept:".utf8), to: &list, easy) }
    if !fields.contains(.expect) { Self.append(Array("Expect:".utf8), to: &list, easy) }
    fieldList = list
    easy.note(ccurl_set_list(easy.raw, CURLOPT_HTTPHEADER, list))
    easy.set(CURLOPT_USERAGENT, configuration.userAgent)
  }

  /// `Name;` is libcurl's way to send a field without a value; `Name:` would remove it. Source: CURLOPT_HTTPHEADER(3).
  private func line(_ name: String, _ value: [UInt8]) -> [UInt8] {
    value.isEmpty ? Array("\(name);".utf8) : Array("\(name): ".utf8) + value
  }

  private static func append(_ line: [UInt8], to list: inout UnsafeMutablePointer<curl_slist>?, _ easy: EasyHandle) {
    let longer = (line + [0]).withUnsafeBytes {
      ccurl_slist_append(list, $0.assumingMemoryBound(to: CChar.self).baseAddress)
    }
    guard let longer else { return easy.note(CURLE_OUT_OF_MEMORY) }
    list = longer
  }

  private func setMethodAndBody(_ configuration: CurlConfiguration) {
    let request = order.request
    easy.set(CURLOPT_URL, request.url)
    if request.sink != nil { easy.set(CURLOPT_BUFFERSIZE, configuration.receiveBuffer) }
    // The `Accept-Encoding` among the caller's fields is sent. Source: CURLOPT_ACCEPT_ENCODING(3).
    if request.removesCodings { easy.set(CURLOPT_ACCEPT_ENCODING, "identity") }
    if request.method == .head {
      easy.set(CURLOPT_NOBODY, true)
    } else if let length = request.body.length {
      // The upload path works for every method: it sends `Content-Length` even for 0, and adds no `Content-Type`.
      easy.set(CURLOPT_UPLOAD, true)
      easy.set(CURLOPT_INFILESIZE_LARGE, offset: length)
      let isBulk = length >= configuration.bulkThreshold
      easy.set(CURLOPT_UPLOAD_BUFFERSIZE, isBulk ? configuration.bulkUploadBuffer : configuration.smallUploadBuffer)
      if request.method != .put { easy.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
    } else if request.method != .get {
      easy.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
    }
  }
}
