import TransferModel

extension S3Protocol {
  static let download = ProtocolDefinition(
    ProtocolDescription(
      name: "s3-get", destination: "s3://", usage: "s3://bucket/key",
      about: "download from Amazon S3 or compatible (--endpoint-url), in ranges of one version",
      parallel: "yes", isResumable: true, probe: "its first bytes", digest: "CRC64NVME MD5", exactlyOnce: "yes"),
    .bucket(scheme: "s3"), credential: .aws,
    options: [.endpointURL, .region, .awsProfile, .pathStyle, .rangeSize, .keepMode, .keepOwner],
    origin: { settings, destination, region throws(TransferError) in
      try S3Settings(bucket: destination.bucket, settings, credentialsRegion: region).origin(learned: nil)
    },
    make: { settings, destination, region throws(TransferError) in
      let s3 = S3Protocol(
        settings: try S3Settings(bucket: destination.bucket, settings, credentialsRegion: region))
      return GetProtocol(
        source: S3Source(s3: s3, keepsMode: settings.keepsMode, keepsOwner: settings.keepsOwner),
        chunkSize: try settings.partSize.map(GetProtocol.checked),
        segments: settings.download?.segments, usesRemoteNames: settings.download?.usesRemoteNames ?? false,
        usesZsync: settings.download?.usesZsync ?? false)
    })

  static let definition = ProtocolDefinition(
    ProtocolDescription(
      name: "s3", destination: "s3://", usage: "s3://bucket/prefix/",
      about: "Amazon S3 or compatible (--endpoint-url): one PUT below 16 MiB, else multipart",
      parallel: "parts", isResumable: true, probe: "ListParts, HEAD", digest: "CRC64NVME MD5 SHA-256",
      exactlyOnce: "yes: queried first"),
    .bucket(scheme: "s3"), credential: .aws,
    options: [
      .endpointURL, .region, .awsProfile, .pathStyle, .unsignedPayload, .partSize, .ifNoneMatch, .expectContinue,
      .contentType, .keepMode, .keepOwner,
    ],
    objectSettings: Set(ObjectSetting.Kind.allCases),
    origin: { settings, destination, region throws(TransferError) in
      try S3Settings(bucket: destination.bucket, settings, credentialsRegion: region).origin(learned: nil)
    },
    make: { settings, destination, region throws(TransferError) in
      let s3 = S3Protocol(
        settings: try S3Settings(bucket: destination.bucket, settings, credentialsRegion: region))
      // Invalid part sizes fail here, once, and not for each file.
      _ = try s3.layout(size: 0)
      return s3
    })
}
