import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

@Suite struct SecretMaskTests {
  @Test func secretsDisappearFromWhatServersQuote() {
    let mask = SecretMask(.aws(accessKey: "AKIA", secretKey: "s3cr/et", sessionToken: "tok=en"))
    let text = "x s3cr/et y tok=en z ?X-Amz-Signature=abc123&a=b Authorization: Bearer abc.def, more"
    #expect(
      mask.applied(text)
        == "x [hidden] y [hidden] z ?X-Amz-Signature=[hidden]&a=b Authorization: Bearer [hidden], more")
  }

  @Test func aSecretIsHiddenBeforeAnybodyCutsTheAnswer() {
    let token = String(repeating: "t0ken", count: 100)
    var reply = TransferReply()
    reply.status = 403
    reply.body = Array("<Error><Message>bad \(token) here</Message></Error>".utf8)
    let mask = SecretMask(.aws(accessKey: "A", secretKey: "k", sessionToken: token))
    #expect(
      String(decoding: mask.applied(to: reply).body, as: UTF8.self)
        == "<Error><Message>bad [hidden] here</Message></Error>")
  }

  @Test func whatAServerGaveIsHiddenToo() {
    var learned = LearnedFacts()
    learned.discovered = ["secret.token": "abc-def-ghi", "secret.days": "7", "restarts.x": "2 12345678"]
    let mask = SecretMask(.inputs(["key": "k-1"]), [learned])
    #expect(mask.applied("k-1 abc-def-ghi 7 2 12345678") == "[hidden] [hidden] 7 2 12345678")
    #expect(SecretMask(nil, [LearnedFacts()]).applied("abc-def-ghi") == "abc-def-ghi")
  }

  @Test func basicCredentialsDisappearInBothForms() {
    let mask = SecretMask(.basic(user: "u", password: "canary"))
    #expect(mask.applied("canary and dTpjYW5hcnk=") == "[hidden] and [hidden]")
    #expect(SecretMask(nil).applied("nothing to hide") == "nothing to hide")
  }
}
