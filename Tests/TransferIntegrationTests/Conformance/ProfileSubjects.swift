import TransferModel
import Transfers

extension ConformanceSubject {
  /// Every built-in profile against the receiver's own endpoint for it.
  static let profiles: [ConformanceSubject] = [
    profile(
      "token-blocks", "/-/blocks", data: "POST", "/-/blocks/block*", canAbort: false, appends: true, mayBeUnknown: true),
    profile("numbered-chunks", "/-/chunks", data: "POST", "/-/chunks/upload*", canAbort: false),
    profile("numbered-chunks-form", "/-/chunks?merge=idempotent", data: "POST", "/-/chunks/upload*", canAbort: false),
    profile("resumablejs", "/-/resumablejs", data: "POST", "*", canAbort: false),
    profile("flow", "/-/flow", data: "POST", "*", canAbort: false),
    profile(
      "dropzone", "/-/dropzone", data: "POST", "/-/dropzone/upload*", canAbort: false, mayBeUnknown: true),
    profile(
      "qiniu-v1", "/-/qiniu", ["uptoken=env:PATH"], data: "POST", "/-/qiniu/mkblk/*", chunkSize: 4 << 20,
      canAbort: false, hasFixedChunks: true),
    profile(
      "qiniu-v2", "/-/qiniu", ["uptoken=env:PATH", "bucket=b"], data: "PUT", "*", chunkSize: 1 << 20, mayBeUnknown: true
    ),
    profile(
      "graph", "/-/graph", ["token=env:PATH", "drive=d"], data: "PUT", "*", chunkSize: 320 << 10,
      smallestSize: 1, appends: true),
    profile(
      "dropbox", "/-/dropbox/2/files", ["token=env:PATH"], data: "POST", "*append_v2*", canAbort: false, appends: true,
      mayBeUnknown: true),
    profile(
      "nextcloud", "/-/nextcloud/remote.php/dav", ["login=env:PATH", "user=u"], data: "PUT", "*", chunkSize: 5_000_000),
    profile("google", "/-/google/upload", data: "PUT", "*", chunkSize: 256 << 10, appends: true),
  ]

  private static func profile(
    _ name: String, _ path: String, _ inputs: [String] = [], data method: String, _ dataPath: String,
    chunkSize: Int = 64 << 10, canAbort: Bool = true, hasFixedChunks: Bool = false, smallestSize: Int = 0,
    appends: Bool = false, mayBeUnknown: Bool = false
  ) -> ConformanceSubject {
    ConformanceSubject(
      name: "profile \(name)", path: path, keptIn: "", chunkSize: chunkSize, dataMethod: method, dataPath: dataPath,
      canAbort: canAbort, smallestSize: smallestSize, hasFixedChunks: hasFixedChunks, appends: appends,
      mayBeUnknown: mayBeUnknown,
      adjust: { settings in
        do throws(TransferError) {
          settings.profile = try ProfileLibrary.settings(via: name, inputs: inputs)
        } catch {
          preconditionFailure("\(error)")
        }
      })
  }
}
