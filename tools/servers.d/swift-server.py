"""swift-server.py CONF_DIR proxy|account|container|object: one Swift server that reads its configuration from CONF_DIR.

Debian's start scripts read /etc/swift/swift.conf whatever the server's own file says (`swift_dir` comes too late for
the hash prefix, the storage policies and the constraints), so this script redirects the library before it reads it.
"""

import importlib
import os
import sys

from swift.common import utils

conf_dir, kind = sys.argv[1], sys.argv[2]
utils.set_swift_dir(conf_dir)

from swift.common import constraints, storage_policy  # noqa: E402
from swift.common.wsgi import run_wsgi  # noqa: E402

constraints.reload_constraints()
storage_policy.reload_storage_policies()

package = "obj" if kind == "object" else kind
server = importlib.import_module(f"swift.{package}.server")
extra = {"global_conf_callback": server.global_conf_callback} if hasattr(server, "global_conf_callback") else {}
sys.exit(run_wsgi(os.path.join(conf_dir, f"{kind}-server.conf"), f"{kind}-server", **extra))
