import TransferModel

extension S3Protocol {
  static let definition = ProtocolDefinition(
    ProtocolDescription(
      name: "s3", destination: "s3://", usage: "s3://bucket/prefix/",
      about: "Amazon S3 or compatible (--endpoint-url): one PUT below 16 MiB, else multipart",
      parallel: "parts", isResumable: true, probe: "ListParts, HEAD", digest: "CRC64NVME MD5 SHA-256",
      exactlyOnce: "yes: asked first"),
    .bucket(scheme: "s3"), credential: .aws,
    options: [
      .endpointURL, .region, .awsProfile, .pathStyle, .unsignedPayload, .partSize, .ifNoneMatch, .expectContinue,
    ],
    origin: { settings, destination, region throws(TransferError) in
      try S3Settings(bucket: destination.bucket, settings, credentialsRegion: region).origin(learned: nil)
    },
    make: { settings, destination, region throws(TransferError) in
      let s3 = S3Protocol(
        settings: try S3Settings(bucket: destination.bucket, settings, credentialsRegion: region))
      // Wrong part sizes fail here, once, and not with every file.
      _ = try s3.layout(size: 0)
      return s3
    })
}
