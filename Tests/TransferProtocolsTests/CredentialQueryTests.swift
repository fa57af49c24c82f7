import Testing

@testable import TransferProtocols

/// Which queries are stored: URLs are shown and logged.
@Suite struct CredentialQueryTests {
  /// The name of a parameter says it.
  @Test(arguments: [
    "sig=a", "X-Amz-Signature=a", "access_token=a", "a=1&X-Goog-Credential=b", "api%5Fkey=a", "JWT=a", "verify=1-a",
    "hdnts=a", "hdnea=a", "__gda__=a", "appid=a", "x=1;token=a", "key-pair-id=a",
    "rlkey=a", "resourcekey=0-a", "wskeyhash=a", "wsSecret=a", "txSecret=a", "tempauth=a", "temp_url_sig=a", "Policy=a",
    "auth_info=a", "q-sign-algorithm=sha1&q-signature=a", "sign=a", "_upt=a", "GoogleAccessId=a", "X-Tos-Signature=a",
  ])
  func aNameSaysIt(_ query: String) { #expect(CredentialQuery.isOne(query)) }

  /// Only what somebody signed can expire, whatever the parameter of the signature is called.
  @Test(arguments: [
    "md5=a&expires=12", "Expires=1795723456&s=a", "e=1795723456&st=a", "s=a&exp=1795723456", "x_expiry=1",
    "validuntil=1795723456&h=a", "a=b&ttl=60&h=c",
  ])
  func whatExpiresIsSigned(_ query: String) { #expect(CredentialQuery.isOne(query)) }

  /// Parameters inside the value of another one.
  @Test(arguments: ["x=st=1~exp=1795723456~acl=/*~mac=a", "x=exp%3D1795723456%7Ehmac%3Da", "u=a%26token%3Db"])
  func valuesHaveParametersToo(_ query: String) { #expect(CredentialQuery.isOne(query)) }

  /// A long random value is a secret, unless the parameter names content.
  @Test(arguments: [
    "md5=4nGX2N-xUhEyrPQe5jHEFg", "s=9e107d9d372bb6826bd81d3542a419d6", "k=AIzaSyD4t0hEx4mpl3K3yF0rT3sts0nlyABC",
    "9e107d9d372bb6826bd81d3542a419d6", "h=c7u4Zp1oVq8bN0sX%2B%2F6y3A%3D%3D",
  ])
  func aRandomValueIsASecret(_ query: String) { #expect(CredentialQuery.isOne(query)) }

  /// A digest beside a time, whatever the two are called.
  @Test(arguments: ["h=aaaaaaaa00000000&t=1795723456", "time=1795723456&k=00000000aaaaaaaa"])
  func aHashBesideATimeIsASignature(_ query: String) { #expect(CredentialQuery.isOne(query)) }

  @Test(arguments: [
    "", "a", "download", "download=1", "v=2", "format=csv&year=2026", "path=/data/2026/11/a%20b.tar.gz",
    "file=S2A_MSIL2A_20230105T103421_N0509_R108_T32UMD_20230105T145800.zip", "name=my-long-file-name-2023-final.tar",
    "id=1YkQ7x0hP3bVZr9mT2cLw8eNfGjU4sAaD", "ref=9e107d9d372bb6826bd81d3542a419d6826bd81d",
    "versionId=3HL4kqtJvjVBH40Nrjfkd", "uuid=0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "t=1795723456", "e=12",
    "persistentId=doi:10.7910/DVN/TJCLKP", "from=2026-11-26T22:00:00Z&to=2026-11-27T22:00:00Z",
    "q=TheQuickBrownFoxJumpsOverTheLazyDog", "bbox=12.3456789,47.1234567,13.4567890,48.2345678",
    "file=GCA_000001405.15_GRCh38.p14_genomic.fna.gz", "experiment=a", "texture=1", "sha256=9e107d9d372bb6826bd81d35",
  ])
  func whatDescribesContentIsNone(_ query: String) { #expect(!CredentialQuery.isOne(query)) }
}
