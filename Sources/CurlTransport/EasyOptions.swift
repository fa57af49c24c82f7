internal import CCurl
internal import HTTPTypes
internal import TransferModel

/// The options of one request, except those that call back (``ExchangeCallbacks``).
struct EasyOptions {
  let request: TransferRequest
  /// Its connection serves no other request.
  let isGuest: Bool
  let configuration: CurlConfiguration

  /// Sets all of them; the handle has been reset before, and ``EasyHandle/refused`` tells afterwards whether libcurl
  /// refused one. Returns the header fields, which must live as long as the handle uses them.
  func set(on easy: EasyHandle) -> FieldList {
    setSafety(easy)
    setLimits(easy)
    let fields = setFields(easy)
    setMethodAndBody(easy)
    return fields
  }

  private func setSafety(_ easy: EasyHandle) {
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
    if isGuest {
      easy.set(CURLOPT_FRESH_CONNECT, true)
      easy.set(CURLOPT_FORBID_REUSE, true)
    }
  }

  /// libcurl interprets a connect limit of 0 as its default of 300 s, so "no limit" is 24 days.
  private func setLimits(_ easy: EasyHandle) {
    let limits = request.limits
    easy.set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(limits.connectMs > 0 ? limits.connectMs : .max))
    easy.set(CURLOPT_TIMEOUT_MS, Self.milliseconds(limits.totalMs))
  }

  private static func milliseconds(_ value: Int64) -> Int { Int(min(max(0, value), Int64(Int32.max))) }

  private func setFields(_ easy: EasyHandle) -> FieldList {
    let fields = FieldList(request.fields)
    if fields.isIncomplete { easy.note(CURLE_OUT_OF_MEMORY) }
    easy.note(ccurl_set_list(easy.raw, CURLOPT_HTTPHEADER, fields.first))
    easy.set(CURLOPT_USERAGENT, configuration.userAgent)
    return fields
  }

  private func setMethodAndBody(_ easy: EasyHandle) {
    easy.set(CURLOPT_URL, request.url)
    if request.sink != nil { easy.set(CURLOPT_BUFFERSIZE, configuration.receiveBuffer) }
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
