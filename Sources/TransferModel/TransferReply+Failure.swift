#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension TransferReply {
  /// Why there is no answer to interpret; nil when the final status arrived.
  ///
  /// A status takes precedence over the CURLcode: a server that answers without reading the body and closes produces 55
  /// or 56 together with a valid status. Only a body that could not be read takes precedence over a status, because
  /// then the request was not the intended one; and a success that arrived before the whole body was sent does not
  /// answer the request. Source: libcurl-errors(3).
  package var transportFailure: Failure? {
    if let bodyFailure { return bodyFailure }
    if isAnswered { return nil }
    if isCancelled { return Failure(.policyCancelled, "stopped before an answer arrived") }
    if isEarlySuccess {
      return Failure(
        .protoBadReply,
        "the server answered \(status) before it had received the whole body; the state of the file is not known")
    }
    if let overlongField { return Failure(.protoBadReply, overlongField) }
    if proxyStatus != 0 { return proxyFailure }
    return Failure(transportErrorCode, failureText, systemError: systemError == 0 ? nil : systemError)
  }

  /// Why the body of an answer was interrupted after its header; nil if it is complete.
  package var answerFailure: Failure? {
    guard isAnswered, curlCode != 0 else { return nil }
    if isCancelled { return Failure(.engineInterrupted, "stopped while the answer was being received") }
    return Failure(transportErrorCode, failureText, systemError: systemError == 0 ? nil : systemError)
  }

  /// There is no tunnel: the proxy requires authentication, does not allow the destination, or could not reach the
  /// server.
  private var proxyFailure: Failure {
    switch proxyStatus {
    case 401, 407:
      let text = "the proxy asks for credentials (\(proxyStatus) to CONNECT); put user and password into https_proxy"
      return Failure(.authRefused, text)
    case 400..<500 where ![408, 425, 429].contains(proxyStatus):
      let text = "the proxy does not allow this destination (\(proxyStatus) to CONNECT); see https_proxy and no_proxy"
      return Failure(.http403, text)
    default: return Failure(.netUnreachable, "the proxy could not make a connection (\(proxyStatus) to CONNECT)")
    }
  }

  private var transportErrorCode: ErrorCode {
    if isAddressRefused { return .httpRedirect }
    if isLocalShortage { return .localFDLimit }
    return switch curlCode {
    case 0, 8, 23, 61, 63, 100: .protoBadReply
    // The code for an unknown scheme is also used for an answer that is not HTTP/1.
    case 1: requestMayHaveArrived ? .protoBadReply : .protoUnsupported
    case 3: .protoUnsupported
    case 5, 6: .netDNS
    case 7: connectErrorCode
    case 16, 92: .netHTTP2
    case 18, 52, 55, 56, 95, 96: .netReset
    case 27, 99: .localIO
    case 28: timeoutErrorCode
    case 35, 53, 54, 58, 59, 64, 66, 80: .netTLS
    // Our own aborts are handled before: the remaining case is a request that libcurl tried to send a second time,
    // which is not allowed.
    case 42: .netReset
    case 47: .httpRedirect
    case 60, 77, 82, 83, 90, 91: .netCert
    case 67, 94, 98: .authRefused
    case 97: .netUnreachable
    default: .engineBug
    }
  }

  private var connectErrorCode: ErrorCode {
    switch systemError {
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: .localFDLimit
    case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EACCES, EPERM: .netUnreachable
    case ETIMEDOUT: .netConnectTimeout
    default: .netRefused
    }
  }

  /// Before the first byte of the request, the timeout occurred in the lookup, the connection or the TLS handshake.
  private var timeoutErrorCode: ErrorCode {
    if isStalled { return .netStalled }
    return requestMayHaveArrived ? .netTimeout : .netConnectTimeout
  }

  private var failureText: String {
    if curlCode == 0 { return "the server sent no answer" }
    if isLocalShortage { return curlMessage }
    return curlMessage.isEmpty ? "libcurl error \(curlCode)" : "\(curlMessage) (libcurl error \(curlCode))"
  }
}
