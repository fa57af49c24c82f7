/// The output of `config example`: every part of a configuration, with comments. A test checks that it is valid.
enum ConfigExample {
  static let text = """
    # The configuration of transfers: ~/.config/transfers/config.yaml, or /etc/transfers/config.yaml for all users.
    # Check it with "transfers config check"; "transfers config show --origin" shows the effective values.
    # Precedence: command line, TRANSFERS_<FLAG> in the environment, the user's file, the system's file. The file
    # must not be writable by other users. It contains no secrets: auth refers to them.

    # Default options of the commands that transfer files. Write "_" for each "-" of an option.
    defaults:
      rate: 40MiB/s
      # The ledger; by default ~/.local/state/transfers/transfers.db.
      # store: /var/lib/transfers/transfers.db
      # Jobs write one line per run to the system log.
      syslog: true

    # Where files go: transfers push DIR archive:sub/path
    destinations:
      archive:
        url: s3://box/in/
        endpoint_url: https://s3.example
        region: eu-central-1
        workers: 8
        # Properties of objects by path: content_type, storage_class, headers, tags. For each the first match decides.
        rules:
          - {match: "**/*.bam", storage_class: GLACIER, tags: {kind: reads}}
          - {match: "*", content_type: auto, headers: {cache-control: no-cache}}
      # Fields in a URL: {date} {year} {month} {day} (UTC), {job}, {batch} (--name), {label.KEY} (--label); and of web
      # URLs {path} and {name}, the path and the name of each file. With a date field each day is a new destination:
      # files that are still in the source are sent again.
      intake:
        url: https://files.example/up/{label.run}/{path}
        auth: bearer=file:/etc/transfers/token
        content_type: auto
        ca_file: /etc/ssl/private-ca.pem

    # Where files come from: transfers pull genomes:2026/a.tar DIR
    sources:
      genomes:
        url: https://data.example/genomes/
        segments: 8

    # Recurring jobs, run by cron or a systemd timer: transfers job run nightly
    jobs:
      nightly:
        from: [/data/out]
        # exclude removes files from those that include selects.
        include: ["**/*.bam", "**/*.bai"]
        exclude: ["**/.*", "**/*.part"]
        # A list sends each file to all of its destinations: [archive:nightly, intake].
        to: archive:nightly
        labels: {site: lab-3}
        priority: 5
        # Schedule of "transfers daemon": every: 5m, from one start to the next, or cron: "30 2 * * *", in the format of
        # crontab(5), in local time. The system's cron and timers ignore this.
        every: 5m
        # The daemon also runs it within a second or two after something appears in "from".
        watch: true
        # Maximum bytes to send per day (week, month), over all runs; the rest waits for the next day.
        quota: 200GiB/day
        # While another engine owns the ledger: skip (it sends the files; the default), wait, or fail.
        if_locked: skip
        # Callbacks about files and runs: programs, webhooks, a dead man's switch.
        # on_failed: ["exec:/usr/local/bin/page-me"]
        # on_result: [webhook:https://hooks.example/jobs]
        # webhook_key: file:/etc/transfers/hook.key
        # ping: file:/etc/transfers/ping-url
        # A mail, by sendmail, when runs begin to fail or succeed again, and each day (mail_remind) while they fail.
        # mail: [ops@example.org]
        # For the textfile collector of Prometheus.
        # prom_file: /var/lib/node_exporter/textfile/transfers_nightly.prom
      logs:
        from: [/var/log/app]
        # A log that is rotated goes on under its new name.
        include: ["*.log", "*.log.1"]
        to: archive:logs/
        # Only what was appended to a file is sent, as an object of its own.
        growing: segments
      reference:
        direction: download
        from: [genomes:reference/hs1.fa.gz]
        to: /data/reference
        overwrite: true

    """
}
