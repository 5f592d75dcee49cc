package service

// Words for people.
const (
	textLineBreak = "the path of the program or of the data directory holds a line break: give it another name"

	textNoUserManager = "systemd runs here, but not for user %s (%s): log in as that user (not with su or sudo), " +
		"or let an administrator say `loginctl enable-linger %[1]s`, then try again"
	textOtherBot = "a bot runs on %s already (process %d): end it, then install the service again"
	textOther    = "a bot runs on the directory beside the service (process %d)"

	textAlready = "%s is installed and runs (process %d): nothing to do"
	textEdited  = "%s was edited by hand and stays as it is. Changes of your own are safest in a drop-in: systemctl --user edit %s. " +
		"With --replace it is written anew, and yours is kept as %s.edited"
	textKeeps  = "%s was edited by hand: it is written anew, and yours is kept as %s.edited"
	textRenews = "%s is there already; what changes in it:"
	textWrites = "writes %s:"
	textDry    = "nothing was changed (--dry-run)"

	textSeeLogs    = "`ollim-bot service logs` may say why; `ollim-bot service uninstall` takes everything back"
	textNotRunning = "%s was installed and does not run (%s): `ollim-bot service logs` may say why"
	textRuns       = "%s runs (process %d). See it: ollim-bot service status, ollim-bot service logs"

	textNotInstalled = "%s is not installed: run ollim-bot service install"
	textRemoves      = "removes %s"
	textMoves        = "%s was edited by hand: moves it to %s.edited"
	textGone         = "%s is removed; your data stays in %s"

	textWasEdited   = "edited by hand"
	textMoved       = "it starts another program than this one, %s: ollim-bot service install changes that"
	textNotByItself = "not by itself: ollim-bot service install switches that on"

	textLingers = "also when you are logged out, from the start of the machine on (lingering is on)"
	textLogout  = "only while you are logged in: systemd ends a user's services with their last session. " +
		"Lingering keeps them, and starts them with the machine: loginctl enable-linger %s"
	textAgent = "while you are logged in at this Mac; launchd starts it with your login"

	textWithout = "neither systemd nor launchd runs here. The bot runs anywhere in the foreground, ends within ten seconds on SIGTERM " +
		"and reads its settings again on SIGHUP:\n  %s"
	textInContainer = "\nThis looks like a container: make that its command."
	textInOpenRC    = "\nOpenRC runs it as a service: in /etc/init.d/ollim-bot, below #!/sbin/openrc-run,\n" +
		"  supervisor=supervise-daemon\n  command=%s\n  command_args=\"%s\"\n  command_user=%s"
	textInRunit = "\nrunit runs it as a service: in a `run` file,\n  #!/bin/sh\n  exec chpst -u %s %s"
	textInCron  = "\ncron starts it with the machine: crontab -e, and this line:\n  @reboot %s >/dev/null 2>&1"
	textInTmux  = "\ntmux keeps it, with its dashboard, while the machine runs:\n  tmux new-session -d -s ollim-bot %s"
	textInShell = "\nA shell keeps it until the machine is switched off:\n  nohup %s >/dev/null 2>&1 &"
)
