import Testing
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite struct TransportFailureTests {
  private func reply(_ curlCode: Int32, systemError: Int32 = 0, mayHaveArrived: Bool = true) -> TransferReply {
    var reply = TransferReply()
    reply.curlCode = curlCode
    reply.systemError = systemError
    reply.requestMayHaveArrived = mayHaveArrived
    reply.curlMessage = "text"
    return reply
  }

  @Test(
    arguments: [
      (0, .protoBadReply), (1, .protoBadReply), (3, .protoUnsupported), (5, .netDNS), (6, .netDNS),
      (8, .protoBadReply), (16, .netHTTP2), (18, .netReset), (23, .protoBadReply), (27, .localIO),
      (35, .netTLS), (42, .netReset), (43, .engineBug), (47, .httpRedirect), (52, .netReset), (55, .netReset),
      (56, .netReset), (58, .netTLS), (59, .netTLS), (60, .netCert), (63, .protoBadReply), (65, .engineBug),
      (67, .authRefused), (77, .netCert), (83, .netCert), (90, .netCert), (91, .netCert), (92, .netHTTP2),
      (97, .netUnreachable), (98, .authRefused), (9999, .engineBug),
    ] as [(Int32, ErrorCode)])
  func eachCodeHasAClass(curlCode: Int32, code: ErrorCode) {
    #expect(reply(curlCode).transportFailure?.code == code)
  }

  @Test(
    arguments: [
      (ECONNREFUSED, .netRefused), (0, .netRefused), (ENETUNREACH, .netUnreachable), (EHOSTUNREACH, .netUnreachable),
      (EACCES, .netUnreachable), (ETIMEDOUT, .netConnectTimeout), (EMFILE, .localFDLimit), (ENFILE, .localFDLimit),
    ] as [(Int32, ErrorCode)])
  func aFailedConnectionIsToldByTheSystem(systemError: Int32, code: ErrorCode) {
    let failure = reply(7, systemError: systemError).transportFailure
    #expect(failure?.code == code)
    #expect(failure?.systemError == (systemError == 0 ? nil : systemError))
    #expect(failure?.message == "text (libcurl error 7)")
  }

  @Test func anUnknownSchemeIsUnsupported() {
    #expect(reply(1, mayHaveArrived: false).transportFailure?.code == .protoUnsupported)
  }

  @Test func threeKindsOfTimeout() {
    #expect(reply(28, mayHaveArrived: false).transportFailure?.code == .netConnectTimeout)
    #expect(reply(28).transportFailure?.code == .netTimeout)
    var stalled = reply(28)
    stalled.isStalled = true
    #expect(stalled.transportFailure?.code == .netStalled)
  }

  @Test func aStatusWinsAndABodyFailureWinsOverIt() {
    var reply = reply(55)
    reply.status = 201
    #expect(reply.transportFailure == nil)
    reply.isCancelled = true
    #expect(reply.transportFailure == nil)
    reply.bodyFailure = Failure(.sourceIO, "gone")
    #expect(reply.transportFailure == Failure(.sourceIO, "gone"))
  }

  @Test func cancelledIsNoFaultOfTheServer() {
    var reply = reply(42)
    reply.isCancelled = true
    #expect(reply.transportFailure?.code == .policyCancelled)
  }
}
