import Testing

/// A server that reports success in a form that cannot be used, each time: the body is not sent again for it.
@Suite struct UnusableSuccessTests {
  static let longTag = "ETag: \"" + String(repeating: "a", count: 2_000) + "\"\r\n"
  static let longDate = "Date: " + String(repeating: "b", count: 200) + "\r\n"

  @Test(
    arguments: [
      ("", longTag), ("", longDate), ("dav+", longTag), ("s3://bucket/in/", longTag), ("s3://bucket/in/", ""),
    ])
  func theBodyIsSentOnce(_ destination: String, fields: String) throws {
    let scene = try RefusedScene(destination, answer: FixedAnswerServer.answer("201 Created", fields))
    try scene.add(count: 1)
    _ = try scene.run()
    #expect(try scene.states() == ["failed"])
    #expect(scene.server.requests == 1)
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
