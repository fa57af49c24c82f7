import TransferEngine
import TransferLedger
import TransferModel
import Testing

@testable import Transfers

/// One delivery has one limit, with the programs that supply its URL and its key.
@Suite struct CallbackLimitTests {
  @Test(arguments: ["url", "key"]) func aProgramForASecretThatHangsTakesNoMoreThanTheLimit(of secret: String) throws {
    let scene = try Scene()
    let ledger = try Ledger.open(at: scene.storePath, mode: .create, clock: SystemClock())
    defer { ledger.close() }
    let delivery = CallbackDelivery(ledger, clock: SystemClock(), carriedBy: nil, limitMs: 300)
    defer { delivery.stop() }
    let hanging = "command:sleep 600"
    let setting = CallbackSetting(
      .succeeded, .webhook, secret == "url" ? hanging : "http://127.0.0.1:1/", secret: secret == "key" ? hanging : "")
    let callback = DueCallback(
      id: 1, receiver: 1, setting: setting, key: "k", failures: 0, file: nil, body: "{}")
    let end = delivery.deliver(callback) { false }
    #expect(end.outcome == .failed && end.message == "the command did not end within 0 s", "\(end)")
  }
}
