/// What `config example` prints: every part of a configuration, with what it is for. A test checks that it is right.
enum ConfigExample {
  static let text = """
    # The configuration of transfers: ~/.config/transfers/config.yaml, or /etc/transfers/config.yaml for all users.
    # Check it with "transfers config check"; "transfers config show --origin" tells what counts.
    # What is typed wins over TRANSFERS_<FLAG> in the environment, that over the file of the user, that over the file
    # of the system. Nobody else may be able to write the file. No secret stands in it: auth names where one is.

    # Options of the commands that move files, for when nothing else says them. "-" of an option is "_" here.
    defaults:
      rate: 40MiB/s
      # The ledger; by default ~/.local/state/transfers/transfers.db.
      # store: /var/lib/transfers/transfers.db
      # Jobs write one line a run to the system's log.
      syslog: true

    # Where files go: transfers push DIR archive:sub/path
    destinations:
      archive:
        url: s3://box/in/
        endpoint_url: https://s3.example
        region: eu-central-1
        workers: 8
      # Fields in a URL: {date} {year} {month} {day} (UTC), {job}, {batch} (--name), {label.KEY} (--label); and of web
      # URLs {path} and {name}, the path and the name of each file. A field with a day makes a new place each day: what
      # lies in the source then is sent to it again.
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

    # What runs again and again, from cron or a systemd timer: transfers job run nightly
    jobs:
      nightly:
        from: [/data/out]
        # What exclude leaves out is left out of what include takes.
        include: ["**/*.bam", "**/*.bai"]
        exclude: ["**/.*", "**/*.part"]
        to: archive:nightly
        labels: {site: lab-3}
        priority: 5
        # When "transfers daemon" runs it: every: 5m, from one start to the next, or cron: "30 2 * * *", as crontab(5)
        # writes times, in local time. Cron and timers of the system take no notice of this.
        every: 5m
        # The daemon also runs it within a second or two after something has appeared in "from".
        watch: true
        # While another engine owns the ledger: skip (it sends the files; the default), wait, or fail.
        if_locked: skip
        # Who is told of files and runs: programs, webhooks, a dead man's switch.
        # on_failed: ["exec:/usr/local/bin/page-me"]
        # on_result: [webhook:https://hooks.example/jobs]
        # webhook_key: file:/etc/transfers/hook.key
        # ping: file:/etc/transfers/ping-url
        # One mail, by sendmail, for each run that does not end with ok; mail_on: result mails each run.
        # mail: [ops@example.org]
        # For the textfile collector of Prometheus.
        # prom_file: /var/lib/node_exporter/textfile/transfers_nightly.prom
      reference:
        direction: download
        from: [genomes:reference/hs1.fa.gz]
        to: /data/reference
        overwrite: true

    """
}
