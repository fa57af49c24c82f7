import Testing
import TransferModel

@testable import Receiver

@Suite struct RegistryTests {
  private final class Session: UploadSession {
    let protocolName = "test"
    let id: String
    let expiresAtMs: Int64

    init(_ id: Int, expiresAtMs: Int64 = .max) { (self.id, self.expiresAtMs) = ("\(id)", expiresAtMs) }
  }

  /// At ten thousand sessions, those that expired long ago are dropped, and live ones stay.
  @Test func dropsWhatNobodyAsksForAnyMore() {
    let registry = UploadRegistry()
    for number in 0..<9_999 { registry.add(Session(number, expiresAtMs: number < 9_000 ? 0 : .max)) }
    #expect(registry.count == 9_999)
    registry.end("9500", Session.self)
    registry.add(Session(9_999))
    #expect(registry.count == 1_000)
    #expect(registry.find("1", Session.self) == nil)
    #expect(registry.find("9500", Session.self) != nil)
  }

  @Test func idsOfClientsAreForgottenForGood() throws {
    let registry = UploadRegistry()
    let made = try registry.findOrMake("1") { Session(1) }
    #expect(made?.isNew == true)
    #expect(try registry.findOrMake("1") { Session(1) }?.isNew == false)
    #expect(try registry.findOrMake("1", isUsable: { _ in false }) { Session(1) }?.isNew == true)
    registry.forget("1", Session.self)
    #expect(try registry.findOrMake("1") { Session(1) } == nil)
    #expect(registry.isForgotten("1", Session.self) && registry.find("1", Session.self) == nil)
  }

  @Test func jsonIsReadAndWritten() {
    let text = #"{"a":[1,-2,true,null,"ä\"\n"],"b":{"c":"d"}}"#
    let json = JSON(Array(text.utf8))
    #expect(json?["a"]?.array == [1, -2, .bool(true), .null, "ä\"\n"] && json?["b"]?["c"]?.text == "d")
    #expect(JSON(json?.bytes ?? []) == json)
    for wrong in ["", "{", "<html>", "{\"a\":}", String(repeating: "[", count: 100_000)] {
      #expect(JSON(Array(wrong.utf8)) == nil)
    }
  }
}
