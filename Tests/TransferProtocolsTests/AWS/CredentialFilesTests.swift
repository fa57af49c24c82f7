import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct CredentialFilesTests {
  private let credentials = """
    # a comment
    [default]
    aws_access_key_id = AKDEFAULT
    AWS_SECRET_ACCESS_KEY=secret/with+=signs
    ; another
    [work]
    aws_access_key_id=AKWORK ; trailing
    aws_secret_access_key=a#b
    aws_session_token = token==
    """
  private let config = """
    [default]
    region = eu-west-1
    s3 =
      max_concurrent_requests = 10
      region = nowhere
    [profile work]
    region=us-west-2
    endpoint_url = http://127.0.0.1:9000
    [profile "two words"]
    aws_access_key_id=AK2\r
    aws_secret_access_key=s2\r
    """

  private func files() throws -> CredentialFiles { try CredentialFiles(credentials: credentials, config: config) }

  @Test func profilesJoinBothFiles() throws {
    let profile = try #require(try files().profile("default"))
    #expect(profile.credential == .aws(accessKey: "AKDEFAULT", secretKey: "secret/with+=signs", sessionToken: nil))
    #expect(profile.region == "eu-west-1")
    let work = try #require(try files().profile("work"))
    #expect(work.credential == .aws(accessKey: "AKWORK", secretKey: "a#b", sessionToken: "token=="))
    #expect(work.endpointURL == "http://127.0.0.1:9000")
    #expect(try files().profile("two words")?.credential == .aws(accessKey: "AK2", secretKey: "s2", sessionToken: nil))
    #expect(try files().profile("nobody") == nil)
    #expect(try files().names == ["default", "two words", "work"])
  }

  private static let ways = """
    [default]
    aws_access_key_id = AK
    aws_secret_access_key = SK
    [profile role]
    role_arn = arn:role
    source_profile = default
    external_id = x
    duration_seconds = 900
    [profile chain]
    role_arn = arn:chain
    source_profile = role
    role_session_name = night
    [profile itself]
    role_arn = arn:itself
    source_profile = itself
    aws_access_key_id = AK3
    aws_secret_access_key = SK3
    [profile instance]
    role_arn = arn:i
    credential_source = Ec2InstanceMetadata
    [profile web]
    role_arn = arn:web
    web_identity_token_file = /token
    source_profile = nowhere
    [profile process]
    credential_process = "/opt/a b/x" --flag 'y z'
    [sso-session  "corp"]
    sso_region = eu-west-1
    sso_start_url = https://corp.example/start
    [profile sso]
    sso_session = corp
    sso_account_id = 123
    sso_role_name = Writer
    [profile legacy]
    sso_region = eu-west-1
    sso_start_url = https://old.example/start
    sso_account_id = 123
    sso_role_name = Reader
    [profile region]
    region = eu-west-1
    """

  private static let key = AWSCredentialSource.keys(.aws(accessKey: "AK", secretKey: "SK", sessionToken: nil))
  private static let role = AWSCredentialSource.role(
    AWSRole(arn: "arn:role", externalID: "x", durationSeconds: 900), key)

  @Test(
    arguments: [
      ("default", key), ("role", role), ("chain", .role(AWSRole(arn: "arn:chain", sessionName: "night"), role)),
      (
        "itself",
        .role(
          AWSRole(arn: "arn:itself"), .keys(.aws(accessKey: "AK3", secretKey: "SK3", sessionToken: nil)))
      ),
      ("instance", .role(AWSRole(arn: "arn:i"), .instance)),
      ("web", .webIdentity(AWSRole(arn: "arn:web"), tokenFile: "/token")),
      ("process", .process(["/opt/a b/x", "--flag", "y z"])),
      (
        "sso",
        .singleSignOn(
          AWSSingleSignOn(
            account: "123", role: "Writer", region: "eu-west-1", startURL: "https://corp.example/start", session: "corp"
          ))
      ),
      (
        "legacy",
        .singleSignOn(
          AWSSingleSignOn(
            account: "123", role: "Reader", region: "eu-west-1", startURL: "https://old.example/start"))
      ), ("region", nil),
    ] as [(String, AWSCredentialSource?)])
  func profilesSayWhereTheirCredentialComesFrom(_ name: String, _ source: AWSCredentialSource?) throws {
    let profile = try #require(try CredentialFiles(credentials: nil, config: Self.ways).profile(name))
    #expect(profile.source == source)
    #expect(!(source?.label.contains("SK") ?? false))
  }

  @Test(arguments: [
    ("role_arn = a\nsource_profile = b\n[profile b]\nrole_arn = c\nsource_profile = x", "circular"),
    ("role_arn = a\nsource_profile = x", "no credential"), ("role_arn = a\nsource_profile = y", "does not exist"),
    ("role_arn = a", "role_arn alone"), ("role_arn = a\nsource_profile = b\ncredential_source = c", "keep one"),
    ("role_arn = a\ncredential_source = Elsewhere", "not known"),
    ("role_arn = a\nsource_profile = x\nmfa_serial = m", "mfa_serial"),
    ("web_identity_token_file = /t", "no role_arn"), ("credential_process = a 'b", "not closed"),
    ("sso_session = nobody\nsso_account_id = 1\nsso_role_name = r", "does not exist"),
    ("sso_account_id = 1", "lacks sso_role_name"), ("login_session = l", "login_session"),
    (
      "sso_session = s\nsso_account_id = 1\nsso_role_name = r\nsso_region = a\n[sso-session s]\nsso_region = b",
      "differs"
    ),
  ])
  func waysThatCannotBeGoneAreNamed(_ text: String, _ reason: String) throws {
    do throws(TransferError) {
      let profile = try CredentialFiles(credentials: nil, config: "[profile x]\n" + text).profile("x")
      Issue.record("\(String(describing: profile?.source))")
    } catch {
      #expect(error.kind == .config && error.description.contains(reason), "\(error)")
    }
  }

  @Test(arguments: ["key = CANARY", "[default]\nCANARY", "[CANARY", "[a]\nx=1\n[b"])
  func faultsNameTheLineAndNotItsText(_ text: String) {
    do throws(TransferError) {
      _ = try CredentialFiles(credentials: text, config: nil)
      Issue.record("\(text) was read")
    } catch {
      #expect(error.description.contains("credentials line"))
      #expect(!error.description.contains("CANARY"))
    }
  }

  @Test func missingFilesHaveNoProfiles() throws {
    #expect(try CredentialFiles(credentials: nil, config: nil).profile("default") == nil)
  }

  @Test func descriptionsHideSecrets() throws {
    let profile = try #require(try files().profile("default"))
    #expect(!"\(profile)".contains("secret/with"))
    #expect(!"\(profile.credential!)".contains("secret/with"))
    #expect(!String(reflecting: profile.credential!).contains("secret/with"))
  }
}
