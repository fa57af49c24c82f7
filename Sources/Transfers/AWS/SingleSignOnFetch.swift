import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Obtains the credential of a role from the login of a person (IAM Identity Center). Blocking.
struct SingleSignOnFetch {
  let session: AWSSingleSignOn
  let fetch: AWSCredentialFetch

  private var nowMs: Int64 { fetch.clock.civilMs }

  func credential() throws(CredentialFault) -> TemporaryCredential {
    let token = try login().validToken(wallMs: nowMs)
    let request = try CredentialRequests.roleCredentials(
      of: session, token: token, endpoint: Environment.value("AWS_ENDPOINT_URL_SSO"))
    return try fetch.patiently { () throws(CredentialFault) in
      try TemporaryCredential(ofSingleSignOn: fetch.exchange(request, isLocal: false))
    }
  }

  /// The login in the cache, renewed if it is to be, as the AWS tools do for a profile with an `sso-session`. It must
  /// be written back: a refresh token may be valid only once, and those tools need the next one.
  private func login() throws(CredentialFault) -> SingleSignOnLogin {
    let cache = SingleSignOnCache(session)
    let known = try cache.read()
    guard session.session != nil, known.isToBeRenewed(wallMs: nowMs) else { return known }
    do throws(CredentialFault) { return try renewed(known, cache) } catch {
      // Another program may have renewed it at the same moment.
      let now = try cache.read()
      if now.expiresAtMs > nowMs { return now }
      throw error
    }
  }

  private func renewed(
    _ login: SingleSignOnLogin, _ cache: SingleSignOnCache
  ) throws(CredentialFault) -> SingleSignOnLogin {
    let place = try cache.prepare()
    let request = try login.renewalRequest(session, endpoint: Environment.value("AWS_ENDPOINT_URL_SSO_OIDC"))
    let renewed: SingleSignOnLogin
    do throws(CredentialFault) {
      renewed = try fetch.patiently { () throws(CredentialFault) in
        // One that another program has made the refresh token of this one worthless.
        if let other = try? cache.read(), other != login { return other }
        return try login.renewed(by: fetch.exchange(request, isLocal: false), wallMs: nowMs)
      }
    } catch {
      place.discard()
      throw error
    }
    place.keep(renewed.file(of: session))
    return renewed
  }
}

/// The file of a login in the cache of the AWS tools.
private struct SingleSignOnCache {
  /// A new file beside it, which takes its place. It is made before the request, because an answer that could not be
  /// stored would be lost with the only refresh token.
  final class Replacement {
    private let path: String
    private let temporary: String
    private let descriptor: Int32

    init(_ path: String) throws(CredentialFault) {
      self.path = path
      temporary = "\(path).\(UID.make(wallMs: 0)).tmp"
      descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        throw CredentialFault("the login has to be renewed, and its cache cannot be written: \(path)")
      }
      // A process of root leaves it to its owner.
      var status = stat()
      if stat(path, &status) == 0, status.st_uid != geteuid() { _ = fchown(descriptor, status.st_uid, status.st_gid) }
    }

    /// A disk that is full leaves the old file.
    func keep(_ bytes: [UInt8]) {
      let isWritten = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == bytes.count
      guard isWritten, fsync(descriptor) == 0, rename(temporary, path) == 0 else { return discard() }
      close(descriptor)
    }

    func discard() {
      unlink(temporary)
      close(descriptor)
    }
  }

  let path: String

  init(_ session: AWSSingleSignOn) {
    let key = hexText(RunningDigest.of(Array(session.cacheKey.utf8), .sha1).bytes)
    path = "\(Environment.value("HOME") ?? "")/.aws/sso/cache/\(key).json"
  }

  func read() throws(CredentialFault) -> SingleSignOnLogin {
    guard let bytes = FileText.bytes(path) else {
      throw CredentialFault("no SSO login is stored in \(path); run \"aws sso login\"")
    }
    return try SingleSignOnLogin(bytes)
  }

  func prepare() throws(CredentialFault) -> Replacement { try Replacement(path) }
}
