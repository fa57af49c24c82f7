internal import CCurl

/// The callbacks of libcurl, called on the thread of the pool while it performs the request.
enum ExchangeCallbacks {
  /// The exchange must stay alive until its handle is removed from the multi handle.
  static func set(for exchange: Exchange) {
    let (easy, user) = (exchange.easy, Unmanaged.passUnretained(exchange).toOpaque())
    easy.set(CURLOPT_PRIVATE, pointer: user)
    easy.set(CURLOPT_READDATA, pointer: user)
    easy.set(CURLOPT_SEEKDATA, pointer: user)
    easy.set(CURLOPT_HEADERDATA, pointer: user)
    easy.set(CURLOPT_WRITEDATA, pointer: user)
    easy.set(CURLOPT_PREREQDATA, pointer: user)
    easy.set(CURLOPT_OPENSOCKETDATA, pointer: user)
    easy.note(ccurl_set_read(easy.raw, onRead))
    easy.note(ccurl_set_seek(easy.raw, onSeek))
    easy.note(ccurl_set_header(easy.raw, onHeader))
    easy.note(ccurl_set_write(easy.raw, onBody))
    easy.note(ccurl_set_prereq(easy.raw, onRequest))
    easy.note(ccurl_set_open_socket(easy.raw, onOpenSocket))
  }

  /// The exchange of a handle that finished.
  static func exchange(of raw: UnsafeMutableRawPointer) -> Exchange? {
    ccurl_info_private(raw).map { from($0) }
  }

  private static func from(_ user: UnsafeMutableRawPointer) -> Exchange {
    Unmanaged<Exchange>.fromOpaque(user).takeUnretainedValue()
  }

  private static let onRequest: ccurl_prereq_callback = { user, _, _, _, _ in
    guard let user, ExchangeCallbacks.from(user).mayBegin() else { return CURL_PREREQFUNC_ABORT }
    return CURL_PREREQFUNC_OK
  }

  private static let onOpenSocket: ccurl_open_socket_callback = { user, _, address in
    guard let user, let address else { return -1 }
    return ExchangeCallbacks.from(user).openSocket(address)
  }

  private static let onRead: ccurl_read_callback = { buffer, size, count, user in
    guard let user else { return Int(CURL_READFUNC_ABORT) }
    return ExchangeCallbacks.from(user).fill(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
  }

  private static let onSeek: ccurl_seek_callback = { user, target, origin in
    guard let user, origin == 0, ExchangeCallbacks.from(user).seek(to: Int64(target)) else { return CURL_SEEKFUNC_FAIL }
    return CURL_SEEKFUNC_OK
  }

  private static let onHeader: ccurl_write_callback = { data, size, count, user in
    guard let user else { return 0 }
    let line = UnsafeRawBufferPointer(start: data, count: size * count)
    return ExchangeCallbacks.from(user).take(line: line) ? line.count : ExchangeCallbacks.refusing(line.count)
  }

  private static let onBody: ccurl_write_callback = { data, size, count, user in
    guard let user else { return 0 }
    let piece = UnsafeRawBufferPointer(start: data, count: size * count)
    guard let isTaken = ExchangeCallbacks.from(user).take(body: piece) else { return Int(CURL_WRITEFUNC_PAUSE) }
    return isTaken ? piece.count : ExchangeCallbacks.refusing(piece.count)
  }

  /// Any count except the given one ends the transfer; 0 would not do so for an empty piece.
  private static func refusing(_ count: Int) -> Int { count == 0 ? 1 : 0 }
}
