import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// Sources of AWS credentials. The tests check the access key that signs the requests to the bucket, and the requests
/// to the credential services.
@Suite struct AWSCredentialTests {
  /// A bucket and all services that issue credentials, at one address.
  private final class Cloud: Sendable {
    struct State {
      var requests: [ScriptedServer.Request] = []
      var handedOut = 0
      var refusals = 0
    }
    let state: Lock<State>
    let server: ScriptedServer

    /// - Parameters:
    ///   - validSeconds: how long an issued credential is valid.
    ///   - refusals: how many requests a service refuses before it issues a credential.
    ///   - refusal: the answer to a refused request.
    ///   - refusedKey: the access key that the bucket treats as expired.
    init(
      validSeconds: Int64 = 3_600, refusals: Int = 0, refusal: ScriptedServer.Reply = .init(status: 503),
      refusedKey: String = "-"
    ) throws {
      let state = Lock(State(refusals: refusals))
      self.state = state
      server = try ScriptedServer { request in
        state.withLock { state in
          state.requests.append(request)
          if request.target.hasPrefix("/bucket") { return Self.bucket(request, refusedKey) }
          return Self.service(request, &state, validSeconds, refusal)
        }
      }
    }

    private static func bucket(_ request: ScriptedServer.Request, _ refused: String) -> ScriptedServer.Reply {
      if request.headers["authorization"]?.contains("Credential=\(refused)/") == true {
        return ScriptedServer.Reply(status: 400, body: "<Error><Code>ExpiredToken</Code></Error>")
      }
      return ScriptedServer.Reply(headers: [("ETag", "\"0123456789abcdef0123456789abcdef\"")])
    }

    private static func service(
      _ request: ScriptedServer.Request, _ state: inout State, _ validSeconds: Int64, _ refusal: ScriptedServer.Reply
    ) -> ScriptedServer.Reply {
      if request.target.hasSuffix("/api/token") { return ScriptedServer.Reply(body: "metadata-token") }
      if request.target.hasSuffix("/security-credentials/") { return ScriptedServer.Reply(body: "the-role\n") }
      if state.refusals > 0 {
        state.refusals -= 1
        return refusal
      }
      if request.target == "/token" {
        return ScriptedServer.Reply(
          body: #"{"accessToken":"next-login","expiresIn":28800,"refreshToken":"next-refresh","tokenType":"Bearer"}"#)
      }
      state.handedOut += 1
      let (key, endMs) = ("ASIA\(state.handedOut)", (Int64(time(nil)) + validSeconds) * 1_000)
      let end = CivilTime(wallMs: endMs).rfc3339
      if request.method == "POST" {
        return ScriptedServer.Reply(
          body: """
            <R><AssumeRoleResult><Credentials><AccessKeyId>\(key)</AccessKeyId><SecretAccessKey>s</SecretAccessKey>\
            <SessionToken>session-\(key)</SessionToken><Expiration>\(end)</Expiration></Credentials></AssumeRoleResult></R>
            """)
      }
      if request.target.hasPrefix("/federation") {
        return ScriptedServer.Reply(
          body:
            #"{"roleCredentials":{"accessKeyId":"\#(key)","secretAccessKey":"s","sessionToken":"t","expiration":\#(endMs)}}"#
        )
      }
      return ScriptedServer.Reply(
        body:
          #"{"Code":"Success","AccessKeyId":"\#(key)","SecretAccessKey":"s","Token":"t","Expiration":"\#(end)"}"#)
    }

    var requests: [ScriptedServer.Request] { state.withLock { $0.requests } }
    var asked: [ScriptedServer.Request] { requests.filter { !$0.target.hasPrefix("/bucket") } }
    /// Access keys of the requests to the bucket, in order.
    var keys: [String] {
      requests.filter { $0.target.hasPrefix("/bucket") }.map { request in
        let text = request.headers["authorization"] ?? ""
        return String(text.split(separator: "=").dropFirst().first?.prefix { $0 != "/" } ?? "")
      }
    }
  }

  private let program: BuiltProgram
  private let source: String

  init() throws {
    program = try BuiltProgram()
    source = program.folder.path + "/source"
    #expect(mkdir(source, 0o700) == 0)
    for number in 1...3 { try writeFile("\(source)/f\(number)", Array("content \(number)".utf8)) }
  }

  /// Pushes the three files to the bucket of `cloud`.
  private func push(
    _ cloud: Cloud, config: String = "", _ environment: [String: String] = [:], _ options: [String] = []
  ) throws -> BuiltProgram.Outcome {
    let path = program.folder.path + "/config"
    try writeFile(path, Array(config.utf8))
    var variables = [
      "AWS_CONFIG_FILE": path, "AWS_ENDPOINT_URL_STS": cloud.server.url, "AWS_ENDPOINT_URL_SSO": cloud.server.url,
      "AWS_ENDPOINT_URL_SSO_OIDC": cloud.server.url,
      "AWS_EC2_METADATA_DISABLED": "true",
    ]
    variables.merge(environment) { $1 }
    let words =
      ["push", "--store", program.folder.path + "/s.db", "--workers", "1", "--endpoint-url", cloud.server.url]
      + options + [source, "s3://bucket/in/"]
    return try program.run(words.map { Array($0.utf8) }, environment: variables)
  }

  private static let role = """
    [profile up]
    role_arn = arn:aws:iam::1:role/up
    source_profile = base
    external_id = x
    [profile base]
    aws_access_key_id = AKBASE
    aws_secret_access_key = base-secret
    """

  @Test func aRoleIsTakenWithTheKeysOfItsSource() throws {
    let cloud = try Cloud()
    // The keys in the environment belong to another account: a named profile excludes them.
    let outcome = try push(
      cloud, config: Self.role, ["AWS_ACCESS_KEY_ID": "AKOTHER", "AWS_SECRET_ACCESS_KEY": "o"], ["--profile", "up"])
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(cloud.asked.count == 1 && Set(cloud.keys) == ["ASIA1"] && cloud.keys.count >= 3, "\(cloud.keys)")
    let asked = try #require(cloud.asked.first)
    #expect(asked.headers["authorization"]?.contains("Credential=AKBASE/") == true)
    #expect(String(decoding: asked.body, as: UTF8.self).contains("ExternalId=x"))
    let puts = cloud.requests.filter { $0.method == "PUT" }
    #expect(puts.allSatisfy { $0.headers["x-amz-security-token"] == "session-ASIA1" })
    let ledger = String(decoding: try readBytes(program.folder.path + "/s.db"), as: UTF8.self)
    #expect(!ledger.contains("base-secret") && !ledger.contains("session-ASIA1") && !ledger.contains("AKBASE"))
  }

  @Test func aCredentialThatTheBucketRefusesIsGotAgainOnce() throws {
    let cloud = try Cloud(refusedKey: "ASIA1")
    let outcome = try push(cloud, config: Self.role, ["AWS_PROFILE": "up"])
    #expect(outcome.code == 0, "\(outcome.err)")
    #expect(cloud.asked.count == 2 && cloud.keys.suffix(3) == ["ASIA2", "ASIA2", "ASIA2"], "\(cloud.keys)")
  }

  @Test func aServiceThatIsAwayForAMomentIsAskedAgain() throws {
    let cloud = try Cloud(refusals: 1)
    let outcome = try push(cloud, config: Self.role, ["AWS_PROFILE": "up"])
    #expect(outcome.code == 0 && cloud.asked.count == 2, "\(outcome.err)")
  }

  /// The message of the service is shown, escaped; nothing is sent, and the files wait.
  @Test func aRefusedRoleEndsTheRun() throws {
    let cloud = try Cloud(
      refusals: 9,
      refusal: ScriptedServer.Reply(
        status: 403, body: "<E><Error><Code>AccessDenied</Code><Message>no \u{9B}2J way</Message></Error></E>"))
    let outcome = try push(cloud, config: Self.role, ["AWS_PROFILE": "up"])
    #expect(outcome.code == 77 && outcome.err.contains("AccessDenied: no"), "\(outcome.err)")
    #expect(!outcome.err.unicodeScalars.contains("\u{9B}"), "\(outcome.err)")
    #expect(cloud.asked.count <= 3 && cloud.keys.isEmpty, "at most one request per file: \(cloud.asked.count)")
    let again = try push(try Cloud(), config: Self.role, ["AWS_PROFILE": "up"])
    #expect(again.code == 0, "\(again.err)")
  }

  @Test func webIdentityInstancesAndContainersAreAsked() throws {
    let token = program.folder.path + "/token"
    try writeFile(token, Array("e.y.J\n".utf8))
    let cloud = try Cloud()
    let url = cloud.server.url
    for (number, variables) in [
      ["AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:aws:iam::1:role/pod"],
      ["AWS_CONTAINER_CREDENTIALS_FULL_URI": "\(url)/v1/credentials", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token],
      ["AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": url],
    ].enumerated() {
      for file in 1...3 { try writeFile("\(source)/f\(file)", Array("content \(file) of \(number)".utf8)) }
      let outcome = try push(cloud, variables)
      #expect(outcome.code == 0, "\(outcome.err)")
      #expect(cloud.keys.last == "ASIA\(number + 1)")
    }
    let asked = cloud.asked
    #expect(asked.map(\.method) == ["POST", "GET", "PUT", "GET", "GET"])
    #expect(String(decoding: asked[0].body, as: UTF8.self).contains("WebIdentityToken=e.y.J"))
    #expect(asked[0].headers["authorization"] == nil && asked[1].headers["authorization"] == "e.y.J")
    #expect(asked.suffix(2).allSatisfy { $0.headers["x-aws-ec2-metadata-token"] == "metadata-token" })
    #expect(asked.last?.target == "/latest/meta-data/iam/security-credentials/the-role")
  }

  @Test func aProgramAndALoginGiveCredentials() throws {
    let cloud = try Cloud()
    let script = program.folder.path + "/give me"
    try writeFile(
      script,
      Array(
        "#!/bin/sh\necho secret words >&2\necho '{\"Version\":1,\"AccessKeyId\":\"AK'$1'\",\"SecretAccessKey\":\"s\"}'\n"
          .utf8))
    chmod(script, 0o700)
    let outcome = try push(
      cloud, config: "[profile p]\ncredential_process = \"\(script)\" 'PROG'\n", [:], ["--profile", "p"])
    #expect(outcome.code == 0 && Set(cloud.keys) == ["AKPROG"], "\(outcome.err)")

    let config = Self.singleSignOn
    try writeFile("\(source)/f1", Array("changed".utf8))
    let refused = try push(cloud, config: config, ["HOME": program.folder.path], ["--profile", "sso"])
    #expect(refused.code == 77 && refused.err.contains("aws sso login"), "\(refused.code) \(refused.err)")
    // SHA-1 of "corp".
    let cache = program.folder.path + "/.aws/sso/cache"
    for folder in ["/.aws", "/.aws/sso", "/.aws/sso/cache"] { mkdir(program.folder.path + folder, 0o700) }
    try writeFile(
      cache + "/ee0bfd2552fbd840c02cc48b6e823320543c450f.json",
      Array(#"{"accessToken":"login-token","expiresAt":"2999-01-01T00:00:00Z"}"#.utf8))
    let outcome2 = try push(cloud, config: config, ["HOME": program.folder.path], ["--profile", "sso"])
    #expect(outcome2.code == 0 && cloud.keys.last == "ASIA1", "\(outcome2.err)")
    let asked = try #require(cloud.asked.last)
    #expect(asked.target == "/federation/credentials?role_name=Writer&account_id=12")
    #expect(asked.headers["x-amz-sso_bearer_token"] == "login-token")
  }

  private static let singleSignOn = """
    [profile sso]
    sso_session = corp
    sso_account_id = 12
    sso_role_name = Writer
    [sso-session corp]
    sso_region = eu-west-1
    sso_start_url = https://corp.example/
    """

  /// Stores an expired login in the cache; returns its path. The name is the SHA-1 of "corp".
  private func storeLogin(registration: String = "2999-01-01T00:00:00Z") throws -> String {
    for folder in ["/.aws", "/.aws/sso", "/.aws/sso/cache"] { mkdir(program.folder.path + folder, 0o700) }
    let path = program.folder.path + "/.aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json"
    let login = #"""
      {"startUrl":"https://corp.example/","region":"eu-west-1","accessToken":"old-login",\#
      "expiresAt":"2026-01-01T00:00:00Z","clientId":"the-client","clientSecret":"client-secret",\#
      "registrationExpiresAt":"\#(registration)","refreshToken":"old-refresh"}
      """#
    try writeFile(path, Array(login.utf8))
    return path
  }

  /// As the AWS tools do: they find the next refresh token in the cache, where only its owner may read it.
  @Test func anExpiredLoginIsRenewed() throws {
    let cloud = try Cloud()
    let path = try storeLogin()
    chmod(path, 0o644)
    let outcome = try push(cloud, config: Self.singleSignOn, ["HOME": program.folder.path], ["--profile", "sso"])
    #expect(outcome.code == 0 && cloud.keys.last == "ASIA1", "\(outcome.err)")
    try #require(cloud.asked.map { $0.target.prefix(6) } == ["/token", "/feder"])
    let body = String(decoding: cloud.asked[0].body, as: UTF8.self)
    for part in ["refresh_token", "old-refresh", "the-client", "client-secret"] { #expect(body.contains(part)) }
    #expect(cloud.asked[0].headers["authorization"] == nil)
    #expect(cloud.asked[1].headers["x-amz-sso_bearer_token"] == "next-login")
    let stored = try readText(path)
    for part in ["next-login", "next-refresh", "the-client", "2999-01-01T00:00:00Z"] { #expect(stored.contains(part)) }
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let cache = program.folder.path + "/.aws/sso/cache"
    #expect(try names(in: cache).count == 1)
    let ledger = String(decoding: try readBytes(program.folder.path + "/s.db"), as: UTF8.self)
    for secret in ["next-login", "next-refresh", "client-secret"] { #expect(!ledger.contains(secret)) }
    // It is valid now.
    try writeFile("\(source)/f1", Array("changed".utf8))
    #expect(try push(cloud, config: Self.singleSignOn, ["HOME": program.folder.path], ["--profile", "sso"]).code == 0)
    #expect(cloud.asked.count { $0.target == "/token" } == 1)
  }

  /// A login that the service does not renew any more, one whose client is no longer registered, and a cache that
  /// cannot be written: a person is told what to do, and the login stays as it is.
  @Test(arguments: ["refused", "unregistered"]) func aLoginThatCannotBeRenewedStays(_ why: String) throws {
    let refusal = ScriptedServer.Reply(status: 400, body: #"{"error":"invalid_grant"}"#)
    let cloud = try Cloud(refusals: 9, refusal: refusal)
    let path = try storeLogin(registration: why == "refused" ? "2999-01-01T00:00:00Z" : "2026-01-01T00:00:00Z")
    let before = try readText(path)
    let outcome = try push(cloud, config: Self.singleSignOn, ["HOME": program.folder.path], ["--profile", "sso"])
    #expect(outcome.code == 77 && outcome.err.contains("aws sso login"), "\(outcome.code) \(outcome.err)")
    #expect(cloud.asked.count == (why == "refused" ? 1 : 0))
    #expect(try readText(path) == before)
    #expect(try names(in: program.folder.path + "/.aws/sso/cache").count == 1)
  }

  /// Nothing is sent, the files wait, and the output of the program is not shown.
  @Test func aProgramThatFailsIsNamed() throws {
    let cloud = try Cloud()
    let config = "[default]\ncredential_process = /bin/sh -c 'echo CANARY; echo CANARY >&2; exit 3'\n"
    let outcome = try push(cloud, config: config)
    #expect(outcome.code == 77 && outcome.err.contains("credential_process: the command ended with exit code 3"))
    #expect(!outcome.err.contains("CANARY") && cloud.requests.isEmpty, "\(outcome.err)")
    let status = try program.run("list", "files", "--store", program.folder.path + "/s.db", "--format", "tsv")
    #expect(status.out.split(separator: "\n").filter { $0.contains("pending") }.count == 3, "\(status.out)")
  }

  /// No other identity replaces a requested one that does not exist.
  @Test func aProfileThatIsNotThereIsNoReasonToTakeAnother() throws {
    let cloud = try Cloud()
    let instance = ["AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": cloud.server.url]
    let outcome = try push(
      cloud, config: "[profile prod]\nregion=x\n", instance.merging(["AWS_PROFILE": "prdo"]) { $1 })
    #expect(outcome.code == 77 || outcome.code == 78, "\(outcome.code) \(outcome.err)")
    #expect(outcome.err.contains("prdo") && cloud.requests.isEmpty, "\(outcome.err)")
  }

  /// Anybody on the network path could read the keys of the role.
  @Test func aRoleIsNotTakenOverPlainHTTP() throws {
    let cloud = try Cloud()
    let outcome = try push(
      cloud, config: Self.role,
      ["AWS_PROFILE": "up", "AWS_ENDPOINT_URL_STS": "http://sts.example.invalid:9000"])
    #expect(outcome.code == 77 && outcome.err.contains("over plain HTTP"), "\(outcome.err)")
    #expect(cloud.requests.isEmpty)
  }

  /// The program reports by its exit code that it has no credential yet. The files wait for it, and one call serves all
  /// batches of one account.
  @Test func aProgramThatHasNoneYetIsAskedAgain() throws {
    let cloud = try Cloud()
    let (script, mark) = (program.folder.path + "/later", program.folder.path + "/mark")
    let text = """
      #!/bin/sh
      echo asked >>'\(mark)'
      [ $(wc -l <'\(mark)') -gt 1 ] || exit 75
      echo '{"Version":1,"AccessKeyId":"AKLATER","SecretAccessKey":"s"}'
      """
    try writeFile(script, Array(text.utf8))
    chmod(script, 0o700)
    let store = program.folder.path + "/s.db"
    for name in ["one", "two"] {
      let words = [
        "add", "--store", store, "--name", name, "--endpoint-url", cloud.server.url, source, "s3://bucket/\(name)/",
      ]
      #expect(try program.run(words.map { Array($0.utf8) }).code == 0)
    }
    let config = program.folder.path + "/config"
    try writeFile(config, Array("[default]\ncredential_process = \(script)\n".utf8))
    let outcome = try program.run(
      ["run", "--store", store].map { Array($0.utf8) },
      environment: ["AWS_CONFIG_FILE": config, "AWS_EC2_METADATA_DISABLED": "true"])
    #expect(outcome.code == 0 && Set(cloud.keys) == ["AKLATER"], "\(outcome.err)")
    #expect(try readText(mark) == "asked\nasked\n")
  }

  /// A secret from a command, and a secret from a systemd credential.
  @Test func secretsComeFromCommandsAndServices() throws {
    let cloud = try Cloud()
    try writeFile(program.folder.path + "/token", Array("from-service\n".utf8))
    for (auth, field) in [
      ("bearer=command:/bin/sh -c 'echo \"from-command\"'", "Bearer from-command"),
      ("bearer=credential:token", "Bearer from-service"),
    ] {
      try writeFile("\(source)/f1", Array(auth.utf8))
      let outcome = try program.run(
        ["push", "--store", program.folder.path + "/w.db", "--auth", auth, source, cloud.server.url + "/bucket/"].map {
          Array($0.utf8)
        }, environment: ["CREDENTIALS_DIRECTORY": program.folder.path])
      #expect(outcome.code == 0, "\(outcome.err)")
      #expect(cloud.requests.last?.headers["authorization"] == field)
    }
    for auth in ["bearer=command:relative/x", "bearer=credential:../x", "bearer=command:'x"] {
      let outcome = try program.run("push", "--auth", auth, source, cloud.server.url + "/bucket/")
      #expect(outcome.code == 64, "\(outcome.err)")
    }
  }
}
