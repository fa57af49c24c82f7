import Testing
import TransferModel

@testable import TransferLog

@Suite struct NoteTests {
  /// The key of the tests of golang.org/x/mod/sumdb/note, and a note that it signs.
  private let secret = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
  private let verifier = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
  private let text = """
    If you think cryptography is the answer to your problem,
    then you don't know what your problem is.

    """
  private let line =
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="

  @Test func aPublishedNoteIsSignedAndVerified() throws {
    let key = try #require(SigningKey(secretText: secret))
    #expect(key.verifier.description == verifier && key.secretText == secret)
    let note = SignedNote(signing: text, with: key)
    #expect(note.description == text + "\n" + line + "\n")
    let read = try #require(SignedNote(note.description))
    #expect(read == note && read.outcome(of: key.verifier) == .valid)
  }

  /// RFC 8032 section 7.1, test 1.
  @Test func aPublishedSeedHasItsPublicKey() throws {
    let seed = try #require(bytesFromHex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    let key = try #require(SigningKey(name: "n", seed: seed))
    #expect(hexText(key.verifier.bytes) == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
  }

  @Test func whatWasChangedOrIsOfAnotherKeyIsNotValid() throws {
    let key = try #require(SigningKey(secretText: secret))
    let note = SignedNote(signing: text, with: key).description
    let changed = try #require(SignedNote(note.replacing("answer", with: "anzwer")))
    #expect(changed.outcome(of: key.verifier) == .invalid)
    let other = try #require(SigningKey.make(name: "PeterNeumann"))
    #expect(try #require(SignedNote(note)).outcome(of: other.verifier) == .unknown)
  }

  @Test(arguments: [
    "", "\n", "text\n", "text\n\n", "text\n\nno signature\n", "text\n\n— name AAAA\n", "text\n\n— name\n",
    "text\n\n— name AAAAAAAA", "te\u{1}xt\n\n— name AAAAAAAA\n", "text\n\n— name AAAAAAA\n",
    "text\n\n— name AAAAAAAA\n— x\n", "text\n\n" + String(repeating: "— name AAAAAAAA\n", count: 101),
  ])
  func whatIsNoNoteIsRefused(_ text: String) { #expect(SignedNote(text) == nil) }

  @Test(arguments: [
    "", "PRIVATE+KEY+", "PRIVATE+KEY+a+00000000+AQ==",
    "PRIVATE+KEY+PeterNeumann+c74f20a4+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz",
  ])
  func whatIsNoKeyIsRefused(_ text: String) { #expect(SigningKey(secretText: text) == nil) }

  @Test(arguments: ["", "a b", "a+b", "a\n", "a\u{2003}b"])
  func aNameHasNoSpaceAndNoPlus(_ name: String) { #expect(SigningKey.make(name: name) == nil) }

  @Test func aCheckpointIsReadAsItIsWritten() throws {
    let text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
    let checkpoint = try #require(Checkpoint(text))
    #expect(checkpoint.origin == "example.com/behind-the-sofa" && checkpoint.size == 20_852_163)
    #expect(checkpoint.text == text)
    #expect(Checkpoint(text + "extension\n") == checkpoint)
    for wrong in ["", "a\n1\n", "a\n01\n" + text.suffix(45), "a\n-1\n" + text.suffix(45), "a\n1\nAAAA\n", text + "\n"] {
      #expect(Checkpoint(wrong) == nil, "\(wrong)")
    }
  }
}
