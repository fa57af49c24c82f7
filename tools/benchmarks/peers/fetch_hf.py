"""fetch_hf.py URL FILE CONNECTIONS: fetches one file with hf_transfer, in ranges of 10 MiB as huggingface_hub does."""

import sys

import hf_transfer

url, path, connections = sys.argv[1:]
hf_transfer.download(url, path, int(connections), 10 << 20)
