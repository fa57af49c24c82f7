import Testing
import TransferModel

/// A server that reports success in a form that cannot be used: the body is sent once more, because a gateway that
/// restarts may answer so, and not again if that happens each time.
@Suite struct UnusableSuccessTests {
  static let longTag = "ETag: \"" + String(repeating: "a", count: 2_000) + "\"\r\n"
  static let longDate = "Date: " + String(repeating: "b", count: 200) + "\r\n"

  /// libcurl refuses a line of 100 KB.
  static let longLine = "X-Debug: " + String(repeating: "d", count: 150_000) + "\r\n"
  static let longHeader = String(repeating: "X-Debug: " + String(repeating: "d", count: 9_000) + "\r\n", count: 40)

  @Test(
    arguments: [
      ("", longTag), ("", longDate), ("", longLine), ("", longHeader), ("dav+", longTag), ("s3://bucket/in/", longTag),
      ("s3://bucket/in/", ""),
    ])
  func theBodyIsSentTwiceAtMost(_ destination: String, fields: String) throws {
    let scene = try RefusedScene(destination, answer: FixedAnswerServer.answer("201 Created", fields))
    try scene.add(count: 1)
    _ = try scene.run()
    #expect(try scene.states() == ["failed"])
    #expect((1...2).contains(scene.server.bodies))
  }

  @Test(arguments: [("", longTag), ("s3://bucket/in/", "")])
  func suchAnAnswerIsNotFinalTheFirstTime(_ destination: String, fields: String) throws {
    let scene = try RefusedScene(
      destination, answer: FixedAnswerServer.answer("200 OK", "ETag: \"abc\"\r\n"),
      first: FixedAnswerServer.answer("201 Created", fields))
    try scene.add(count: 1)
    #expect(try scene.run().done == 1)
    #expect(scene.server.bodies == 2)
  }

  @Test func aLongLineIsNotCalledLackOfMemory() throws {
    let scene = try RefusedScene("", answer: FixedAnswerServer.answer("201 Created", Self.longLine))
    try scene.add(count: 1)
    _ = try scene.run()
    #expect(try scene.causes() == ["proto.bad_reply"])
  }

  /// It may have created an upload each time.
  @Test(arguments: ["tus+", "resumable+"]) func anUploadIsCreatedOnce(_ destination: String) throws {
    let location = "Location: /" + String(repeating: "c", count: 9_000) + "\r\n"
    let scene = try RefusedScene(destination, answer: FixedAnswerServer.answer("201 Created", location))
    try scene.add(count: 1)
    _ = try scene.run()
    #expect(try scene.states() == ["failed"])
    #expect(scene.server.requests == 1)
  }
}
