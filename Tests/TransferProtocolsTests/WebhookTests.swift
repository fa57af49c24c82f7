import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct WebhookTests {
  /// Source: the reference libraries of Standard Webhooks, "sign function works".
  @Test func itSignsAsStandardWebhooksSays() {
    let signature = Webhook.signature(
      secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", id: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330,
      body: Array(#"{"test": 2432232314}"#.utf8))
    #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test(arguments: [
    "http://h", "https://h:8443/a?b=c", "http://[::1]:80/", "https://hc-ping.com/0000",
  ]) func aReceiverIsAURL(_ url: String) { #expect(Webhook.isURL(url)) }

  @Test(arguments: [
    "", "h", "ftp://h/", "http://", "http://user:pw@h/", "http://h/a b", "http://h/a\r\nX: y", "http://h/#f",
    "http://h:x/",
    "http://h/é",
  ]) func whatIsNoneIsRefused(_ url: String) { #expect(!Webhook.isURL(url)) }

  @Test func peopleSeeWhereItLeads() {
    #expect(Webhook.origin(of: "https://hooks.example:8443/T0/secret?x") == "https://hooks.example:8443")
  }

  /// Source: healthchecks.io, "Pinging API".
  @Test func aSwitchHearsOfBeginningsAndEnds() {
    #expect(Webhook.ping("https://hc/u", .started) == "https://hc/u/start")
    #expect(Webhook.ping("https://hc/u/?create=1", .unsuccessful) == "https://hc/u/fail?create=1")
    #expect(Webhook.ping("https://hc/u", .succeeded) == "https://hc/u")
  }
}
