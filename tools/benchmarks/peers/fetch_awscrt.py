"""fetch_awscrt.py HOST:PORT BUCKET LIST FOLDER: fetches the objects that the lines of LIST name into files of these
names, with the S3 client of awscrt; unsigned, with its own choice of parts and connections."""

import os
import sys

from awscrt import http, io, s3

host, bucket, listed, folder = sys.argv[1:]
loops = io.EventLoopGroup()
client = s3.S3Client(
    bootstrap=io.ClientBootstrap(loops, io.DefaultHostResolver(loops)), region="us-east-1", tls_mode=s3.S3RequestTlsMode.DISABLED
)


def fetch(name):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    request = http.HttpRequest("GET", f"/{bucket}/{name}", http.HttpHeaders([("Host", host)]))
    return client.make_request(type=s3.S3RequestType.GET_OBJECT, request=request, recv_filepath=path).finished_future


with open(listed) as lines:
    for done in [fetch(line.rstrip("\n")) for line in lines]:
        done.result()
