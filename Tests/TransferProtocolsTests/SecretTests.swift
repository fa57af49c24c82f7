import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// A secret may appear in `Authorization` and `x-amz-security-token`, and nowhere else.
@Suite struct SecretTests {
  private let canary = "CANARY"

  @Test func requestsHideSecrets() throws {
    let s3 = try Scene.s3()
    let aws = Credential.aws(accessKey: "AK", secretKey: canary, sessionToken: "token" + canary)
    let steps: [StepRequest] = [
      .create, .probe(marker: nil), .chunk(Scene.chunk(0, "x", .crc64nvme)), .finish, .verify, .abort(remoteID: "U"),
    ]
    for step in steps {
      let request = try s3.request(step, Scene.stored(), Scene.context(aws))
      #expect(!request.url.contains(canary))
      for field in request.fields where field.value.contains(canary) {
        #expect(field.name.canonicalName == "x-amz-security-token")
      }
    }
    let put = try Scene.web("http://h/")
    let request = try put.request(steps[2], Scene.facts(), Scene.context(.bearer(token: canary)))
    #expect(!request.url.contains(canary))
    #expect(request.fields.filter { $0.value.contains(canary) }.map(\.name) == [.authorization])
  }

  /// SignatureDoesNotMatch quotes the request that it saw, its token included.
  @Test func failuresQuoteOnlyCodeAndMessage() throws {
    let body =
      "<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message><CanonicalRequest>x-amz-security-token:\(canary)</CanonicalRequest></Error>"
    let meaning = try Scene.s3().interpret(Scene.reply(403, [], body), to: .create, Scene.facts(), Scene.context())
    let found = try #require(failure(meaning))
    #expect(found.message == "the server answered 403 (SignatureDoesNotMatch: no)")
  }

  @Test func wrongCredentialsAreNotQuoted() throws {
    let web = try Scene.web("http://h/")
    for credential in [Credential.bearer(token: "a b" + canary), .basic(user: "a:" + canary, password: canary)] {
      do throws(Failure) {
        _ = try web.request(.chunk(Scene.chunk()), Scene.facts(), Scene.context(credential))
        Issue.record("taken")
      } catch {
        #expect(!error.message.contains(canary))
      }
      #expect(!"\(credential)".contains(canary))
    }
  }
}
