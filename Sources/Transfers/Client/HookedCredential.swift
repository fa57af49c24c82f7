import TransferEngine
import TransferModel
import TransferProtocols

/// Obtains the credential from the hook of the program, or if that returns nil, from what is recorded with the batch.
final class HookedCredential: CredentialSource {
  private let hook: CredentialHook
  private let recorded: any CredentialSource
  private let destination: String
  private let kind: CredentialRequest.Kind
  private let cache: CredentialCache

  init(
    _ hook: @escaping CredentialHook, for destination: String, _ kind: CredentialRequest.Kind,
    otherwise recorded: any CredentialSource, clock: any TransferClock = SystemClock()
  ) {
    (self.hook, self.destination, self.kind) = (hook, destination, kind)
    self.recorded = recorded
    // The validity that the program states is used unchanged.
    cache = CredentialCache(clock, aheadMs: 0)
  }

  /// Contains the destination, so that connections are not shared with other destinations.
  var label: String { "the program, for \(destination)" }

  func refresh() {
    cache.forget()
    recorded.refresh()
  }

  var held: HeldCredential? { cache.held }

  func credential(isOver: @escaping @Sendable () -> Bool) throws(Failure) -> Credential? {
    try cache.credential(isOver: isOver) { reason in
      let request = CredentialRequest(destination: destination, kind: kind, reason: reason)
      do throws(Failure) {
        return checked(try call(request, isOver), request, isOver)
      } catch {
        return (.failure(error), nil)
      }
    }
  }

  /// Runs the hook in a Swift task. This thread does not belong to Swift's pool and may wait for it.
  private func call(
    _ request: CredentialRequest, _ isOver: () -> Bool
  ) throws(Failure) -> Result<SuppliedCredential?, any Error> {
    let box = Mailbox<Result<SuppliedCredential?, any Error>>()
    let task = Task { [hook] in
      do { box.put(.success(try await hook(request))) } catch { box.put(.failure(error)) }
    }
    do throws(Failure) { return try box.take(until: isOver) } catch {
      task.cancel()
      throw error
    }
  }

  private func checked(
    _ supplied: Result<SuppliedCredential?, any Error>, _ request: CredentialRequest,
    _ isOver: @escaping @Sendable () -> Bool
  ) -> (CredentialCache.Answer, CredentialCache.Fresh?) {
    do throws(Failure) {
      guard let given = try Self.value(supplied) else {
        return (.success(try recorded.credential(isOver: isOver)), nil)
      }
      let credential = try request.checked(given)
      let fresh = CredentialCache.Fresh(credential: credential, validMs: given.validFor?.milliseconds)
      return (.success(credential), fresh)
    } catch {
      return (.failure(error), nil)
    }
  }

  /// Reports only the type of a foreign error, because its text may contain a secret.
  private static func value(
    _ supplied: Result<SuppliedCredential?, any Error>
  ) throws(Failure) -> SuppliedCredential? {
    switch supplied {
    case .success(let value): return value
    case .failure(let error as TransferError): throw Failure(.authMissing, error.cause)
    case .failure(let error):
      throw Failure(.authMissing, "the program could not supply a credential: \(type(of: error))")
    }
  }
}

extension Duration {
  /// Rounded down, and limited to what the integer can represent.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooMuch) = seconds.multipliedReportingOverflow(by: 1_000)
    return isTooMuch ? (seconds < 0 ? .min : .max) / 2 : whole + attoseconds / 1_000_000_000_000_000
  }
}
