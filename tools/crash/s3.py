"""A small S3 client for the tests: queries the contents of the server with plain urllib and its own signatures.

It shares no code with the tested program. Path style, SigV4, signed empty payloads.
"""

import hashlib
import hmac
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ET

EMPTY = hashlib.sha256(b"").hexdigest()
# Test servers are on loopback; a proxy from the environment must not interfere.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class S3:
    def __init__(self, url, key, secret, region):
        self.url, self.key, self.secret, self.region = url, key, secret, region
        self.host = urllib.parse.urlsplit(url).netloc

    def call(self, method, bucket, key="", query=None):
        """Performs one request; returns (status, body). Status 0 never happens: no answer raises."""
        path = "/" + bucket + ("/" + urllib.parse.quote(key, safe="/~") if key else "")
        pairs = sorted((query or {}).items())
        text = "&".join(f"{quote(k)}={quote(v)}" for k, v in pairs)
        request = urllib.request.Request(self.url + path + ("?" + text if text else ""), method=method)
        for name, value in self.signed(method, path, text).items():
            request.add_header(name, value)
        try:
            with OPENER.open(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def signed(self, method, path, query):
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        scope = f"{now[:8]}/{self.region}/s3/aws4_request"
        headers = {"host": self.host, "x-amz-content-sha256": EMPTY, "x-amz-date": now}
        names = ";".join(sorted(headers))
        lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
        canonical = f"{method}\n{path}\n{query}\n{lines}\n{names}\n{EMPTY}"
        to_sign = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        secret = ("AWS4" + self.secret).encode()
        for part in (now[:8], self.region, "s3", "aws4_request"):
            secret = hmac.digest(secret, part.encode(), "sha256")
        signature = hmac.new(secret, to_sign.encode(), "sha256").hexdigest()
        headers["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.key}/{scope}, SignedHeaders={names}, Signature={signature}"
        )
        return headers

    def must(self, method, bucket, key="", query=None, accept=(200, 204)):
        status, body = self.call(method, bucket, key, query)
        if status not in accept:
            raise RuntimeError(f"{method} {bucket}/{key} {query}: {status} {body[:300]!r}")
        return body

    def make_bucket(self, bucket):
        self.must("PUT", bucket)

    def keys(self, bucket):
        """Every key of the bucket, all pages."""
        found, marker = [], ""
        while True:
            query = {"encoding-type": "url", "max-keys": "1000"} | ({"marker": marker} if marker else {})
            page = tree(self.must("GET", bucket, query=query))
            names = [urllib.parse.unquote_plus(entry.findtext("Key")) for entry in page.iter("Contents")]
            found += names
            if page.findtext("IsTruncated") != "true" or not names:
                return found
            marker = names[-1]

    def get(self, bucket, key):
        """The bytes of an object, or None if there is none."""
        status, body = self.call("GET", bucket, key)
        if status == 404:
            return None
        if status != 200:
            raise RuntimeError(f"GET {bucket}/{key}: {status} {body[:300]!r}")
        return body

    def uploads(self, bucket):
        """Open multipart uploads as (key, upload id)."""
        page = tree(self.must("GET", bucket, query={"uploads": ""}))
        return [(entry.findtext("Key"), entry.findtext("UploadId")) for entry in page.iter("Upload")]

    def empty_bucket(self, bucket):
        for key, upload in self.uploads(bucket):
            self.must("DELETE", bucket, key, {"uploadId": upload}, accept=(200, 204, 404))
        for key in self.keys(bucket):
            self.must("DELETE", bucket, key, accept=(200, 204, 404))
        self.must("DELETE", bucket, accept=(200, 204, 404, 409))


def quote(text):
    return urllib.parse.quote(text, safe="~")


def tree(body):
    """XML without its namespaces."""
    root = ET.fromstring(body)
    for node in root.iter():
        node.tag = node.tag.rpartition("}")[2]
    return root
