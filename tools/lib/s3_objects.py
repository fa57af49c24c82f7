"""s3_objects.py URL BUCKET PREFIX INTO: writes the objects of an S3 that checks no signatures (tools/servers start
moto), whose keys begin with PREFIX, into a folder."""

import os
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree

url, bucket, prefix, into = sys.argv[1:]
SPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"
SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"}
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(path):
    with opener.open(urllib.request.Request(f"{url}/{bucket}{path}", headers=SIGNED)) as answer:
        return answer.read()


token = ""
while True:
    query = {"list-type": "2", "encoding-type": "url", "prefix": prefix} | ({"continuation-token": token} if token else {})
    page = xml.etree.ElementTree.fromstring(get("?" + urllib.parse.urlencode(query)))
    for element in page.iter(SPACE + "Key"):
        key = urllib.parse.unquote_plus(element.text)
        target = os.path.join(into, key.removeprefix(prefix))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(get("/" + urllib.parse.quote(key, safe="")))
    token = page.findtext(SPACE + "NextContinuationToken") or ""
    if not token:
        break
