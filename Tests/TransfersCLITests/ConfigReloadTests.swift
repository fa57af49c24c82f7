import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// The daemon reads its configuration again while its loop goes on.
@Suite struct ConfigReloadTests {
  private let gate = Mailbox<Void>()
  private let begun = Lock(0)

  private func reload() -> ConfigReload {
    ConfigReload { [gate, begun] () throws(CommandFailure) in
      let number = begun.withLock { count in
        count += 1
        return count
      }
      _ = gate.take()
      throw CommandFailure(.config, "read \(number)")
    }
  }

  private func text(_ reload: ConfigReload) -> String? {
    guard case .failure(let failure)? = reload.take() else { return nil }
    return failure.text
  }

  @Test func readingHoldsNothingUp() {
    let reload = reload()
    #expect(text(reload) == nil)
    reload.begin()
    #expect(text(reload) == nil, "nothing is read yet")
    gate.put(())
    var read: String?
    while read == nil { read = text(reload) }
    #expect(read == "read 1")
    #expect(text(reload) == nil)
  }

  /// The files may have changed after they were read.
  @Test func whatIsAskedForMeanwhileIsReadAgain() {
    let reload = reload()
    reload.begin()
    reload.begin()
    gate.put(())
    while begun.withLock({ $0 }) < 2 { #expect(text(reload) == nil) }
    gate.put(())
    var read: String?
    while read == nil { read = text(reload) }
    #expect(read == "read 2")
  }
}
