import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct CredentialRequestsTests {
  private static let role = AWSRole(
    arn: "arn:aws:iam::123456789012:role/up", externalID: "x/y", durationSeconds: 900)

  private static func key(_ token: String? = nil) -> Credential {
    .aws(accessKey: "AKIDEXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", sessionToken: token)
  }

  private static func body(_ request: TransferRequest) -> String {
    if case .bytes(let bytes) = request.body { String(decoding: bytes, as: UTF8.self) } else { "" }
  }

  /// Expected: what botocore 1.44.5 (`SigV4Auth`) signs for the same request at the same time.
  @Test(arguments: [
    (nil, "bb74dd487d4dd26de6df195784c3f1c014333afdf579e6695b2964613069ca3e"),
    ("a/token==", "2ba40bbaff6070851305f4312485613b9da6281140cbf47e7855a9e62728d6e1"),
  ])
  func rolesAreSignedAsBotocoreDoes(_ token: String?, _ signature: String) throws {
    let endpoint = try TokenServiceEndpoint(named: nil, region: "eu-west-1")
    let time = try #require(CivilTime(year: 2026, month: 11, day: 24, hour: 6, minute: 30)).wallMs
    let request = try CredentialRequests.assumeRole(
      Self.role, sessionName: "night", with: Self.key(token), endpoint, wallMs: time)
    #expect(request.url == "https://sts.eu-west-1.amazonaws.com/" && request.method == .post)
    let body = Self.body(request)
    #expect(
      body == "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fup"
        + "&RoleSessionName=night&DurationSeconds=900&ExternalId=x%2Fy")
    #expect(request.fields[.authorization]?.hasSuffix("Signature=\(signature)") == true)
    #expect(request.fields[HTTPField.Name("x-amz-date")!] == "20261124T063000Z")
    #expect(request.fields[HTTPField.Name("x-amz-security-token")!] == token)
  }

  @Test func webIdentityIsInTheBodyAndNothingIsSigned() throws {
    let request = CredentialRequests.assumeRole(
      AWSRole(arn: "r", sessionName: "mine"), sessionName: "night", webIdentity: "e.y/J",
      try TokenServiceEndpoint(named: nil, region: nil))
    #expect(request.url == "https://sts.amazonaws.com/" && request.fields[.authorization] == nil)
    #expect(Self.body(request).hasSuffix("&RoleSessionName=mine&WebIdentityToken=e.y%2FJ"))
  }

  @Test func endpointsFollowTheRegion() throws {
    #expect(try TokenServiceEndpoint(named: nil, region: "cn-north-1").origin.host == "sts.cn-north-1.amazonaws.com.cn")
    #expect(try TokenServiceEndpoint(named: "http://127.0.0.1:9", region: nil).origin.authority == "127.0.0.1:9")
    #expect(throws: TransferError.self) { try TokenServiceEndpoint(named: nil, region: "a.evil.example/") }
    #expect(throws: TransferError.self) { try TokenServiceEndpoint(named: "ftp://x", region: nil) }
    let session = AWSSingleSignOn(account: "1", role: "a b", region: "eu-west-1", startURL: "https://s/")
    let request = try CredentialRequests.roleCredentials(of: session, token: "t", endpoint: nil)
    #expect(
      request.url
        == "https://portal.sso.eu-west-1.amazonaws.com/federation/credentials?role_name=a%20b&account_id=1")
    var elsewhere = session
    elsewhere.region = "evil.example/"
    #expect(throws: CredentialFault.self) {
      try CredentialRequests.roleCredentials(of: elsewhere, token: "t", endpoint: nil)
    }
  }

  private static func reply(_ status: Int, _ body: String) -> TransferReply {
    var reply = TransferReply()
    (reply.status, reply.body) = (status, Array(body.utf8))
    return reply
  }

  private static let answer = """
    <AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
    <Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s/+</SecretAccessKey>
    <SessionToken>t==</SessionToken><Expiration>2026-11-24T07:30:00Z</Expiration></Credentials>
    </AssumeRoleResult></AssumeRoleResponse>
    """

  @Test func answersOfTheTokenServiceAreRead() throws {
    let found = try CredentialRequests.credential(of: Self.reply(200, Self.answer))
    #expect(found.credential == .aws(accessKey: "ASIA", secretKey: "s/+", sessionToken: "t=="))
    #expect(found.expiresAtMs == CivilTime(year: 2026, month: 11, day: 24, hour: 7, minute: 30)?.wallMs)
  }

  /// The cause, and whether a retry may help.
  @Test(arguments: [
    (403, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>", false),
    (400, "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>", true),
    (503, "busy", true), (200, "<html>", false), (302, "", false),
    (200, "<A><AssumeRoleResult><Credentials/></AssumeRoleResult></A>", false),
  ])
  func otherAnswersAreNoCredential(_ status: Int, _ body: String, _ isTransient: Bool) {
    do throws(CredentialFault) {
      Issue.record("\(try CredentialRequests.credential(of: Self.reply(status, body)))")
    } catch {
      #expect(error.isTransient == isTransient, "\(error)")
      if status == 403 { #expect(error.cause.contains("AccessDenied: no")) }
    }
  }

  @Test func documentsOfProgramsAndEndpointsAreRead() throws {
    let process = try TemporaryCredential(
      ofProcess: Array(#"{"Version":1,"AccessKeyId":"A","SecretAccessKey":"S"}"#.utf8))
    #expect(process == TemporaryCredential(.aws(accessKey: "A", secretKey: "S", sessionToken: nil)))
    let instance = try TemporaryCredential(
      ofEndpoint: Self.reply(
        200,
        #"{"Code":"Success","AccessKeyId":"A","SecretAccessKey":"S","Token":"T","Expiration":"2026-11-24T07:30:00Z"}"#))
    #expect(instance.credential == .aws(accessKey: "A", secretKey: "S", sessionToken: "T"))
    #expect(instance.expiresAtMs != nil)
    let signedOn = try TemporaryCredential(
      ofSingleSignOn: Self.reply(
        200,
        #"{"roleCredentials":{"accessKeyId":"A","secretAccessKey":"S","sessionToken":"T","expiration":1795505400000}}"#
      ))
    #expect(signedOn.expiresAtMs == 1_795_505_400_000)
  }

  @Test(arguments: [
    "", "[]", #"{"Version":2,"AccessKeyId":"CANARY","SecretAccessKey":"CANARY"}"#,
    #"{"Version":1,"AccessKeyId":"CANARY"}"#, #"{"Version":1,"AccessKeyId":"CANARY","SecretAccessKey":7}"#,
    #"{"Version":1,"AccessKeyId":"CANARY","SecretAccessKey":"CANARY","Expiration":"tomorrow"}"#,
  ])
  func wrongOutputIsNamedAndNotQuoted(_ text: String) {
    do throws(CredentialFault) {
      Issue.record("\(try TemporaryCredential(ofProcess: Array(text.utf8)))")
    } catch {
      #expect(!error.cause.contains("CANARY") && !error.isTransient, "\(error)")
    }
  }

  @Test func endpointsMayRefuse() {
    for (status, body) in [
      (200, #"{"Code":"AssumeRoleUnauthorizedAccess","Message":"m"}"#), (404, ""),
      (200, #"{"Code":"Success","AccessKeyId":"A","SecretAccessKey":"S","Expiration":"2026-11-24T07:30:00Z"}"#),
    ] {
      #expect(throws: CredentialFault.self) { try TemporaryCredential(ofEndpoint: Self.reply(status, body)) }
    }
    do throws(CredentialFault) { _ = try TemporaryCredential(ofSingleSignOn: Self.reply(401, "")) } catch {
      #expect(error.cause.contains("aws sso login"))
    }
  }

  @Test func loginsExpire() throws {
    let text = #"{"accessToken":"tok","expiresAt":"2026-11-24T06:30:00UTC"}"#
    let end = try #require(CivilTime(year: 2026, month: 11, day: 24, hour: 6, minute: 30)).wallMs
    #expect(try SingleSignOnLogin(Array(text.utf8)).validToken(wallMs: end - 1) == "tok")
    #expect(throws: CredentialFault.self) { try SingleSignOnLogin(Array(text.utf8)).validToken(wallMs: end) }
    #expect(throws: CredentialFault.self) { try SingleSignOnLogin(Array("{}".utf8)) }
  }

  @Test(arguments: [
    ("http://169.254.170.2/x", true), ("http://127.9.0.1:80/x?y", true), ("http://localhost/", true),
    ("http://[::1]:9/", true), ("https://any.example/", true), ("http://any.example/", false),
    ("http://127.0.0.1.evil.example/", false), ("http://127.0.0.1@evil.example/", false),
    ("http://169.254.170.2.evil.example", false), ("file:///etc/passwd", false), ("http://127.1/", false),
  ])
  func containersAreAskedOnThisMachineOnly(_ url: String, _ isAllowed: Bool) {
    let found = try? ContainerEndpoint.url(relative: nil, full: url)
    #expect(found == (isAllowed ? url : nil))
  }

  @Test func relativeEndpointsAreThoseOfECS() throws {
    #expect(try ContainerEndpoint.url(relative: "/v2/c", full: "http://x/") == "http://169.254.170.2/v2/c")
    #expect(throws: CredentialFault.self) { try ContainerEndpoint.url(relative: "@evil.example/", full: nil) }
    #expect(try ContainerEndpoint.url(relative: nil, full: nil) == nil)
  }

  /// Expected: `shlex.split` of Python 3.11.
  @Test(arguments: [
    (#"/bin/x  a 'b c' "d \"e\" \n f" g\ h "#, ["/bin/x", "a", "b c", #"d "e" \n f"#, "g h"]),
    (#"a''b """#, ["ab", ""]), ("$(id) `id` *", ["$(id)", "`id`", "*"]), ("", []), ("x 'y", nil), (#"x\"#, nil),
  ])
  func commandsAreSplitAsByAShell(_ text: String, _ words: [String]?) {
    #expect(ShellWords.split(text) == words)
  }
}
