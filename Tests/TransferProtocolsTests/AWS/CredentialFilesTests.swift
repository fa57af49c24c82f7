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
    [profile sso]
    sso_session = corp
    [profile role]
    role_arn = arn:aws:iam::1:role/x
    source_profile = default
    [profile process]
    credential_process = /bin/x
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
    #expect(try files().names == ["default", "process", "role", "sso", "two words", "work"])
  }

  @Test(arguments: [("sso", "sso_session"), ("role", "role_arn"), ("process", "credential_process")])
  func unsupportedWaysAreNamed(_ name: String, _ way: String) throws {
    do throws(TransferError) {
      _ = try CredentialFiles(credentials: credentials, config: config).profile(name)
      Issue.record("no error")
    } catch {
      #expect(error.kind == .config)
      #expect(error.description.contains(way))
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
