package service

// Messages for the user.
const (
	textLineBreak = "the path of the program or the data directory contains a line break; rename it"

	textNoUserManager = "systemd is running, but not for user %s (%s): log in as that user (not with su or sudo), " +
		"or have an administrator run `loginctl enable-linger %[1]s`, then try again"
	textOtherBot = "a bot is already running on %s (process %d): stop it, then install the service again"
	textOther    = "another bot is running on the directory (process %d)"

	textAlready = "%s is installed and running (process %d); nothing to do"
	textEdited  = "%s was edited by hand and is not changed. Your own changes are safest in a drop-in: systemctl --user edit %s. " +
		"--replace rewrites the file and keeps yours as %s.edited"
	textKeeps  = "%s was edited by hand: it is rewritten, and yours is kept as %s.edited"
	textRenews = "changes in %s:"
	textWrites = "writes %s:"
	textDry    = "nothing was changed (--dry-run)"

	textSeeLogs    = "`ollim-bot service logs` may show why; `ollim-bot service uninstall` undoes everything"
	textNotRunning = "%s was installed but is not running (%s): `ollim-bot service logs` may show why"
	textRuns       = "%s is running (process %d); see ollim-bot service status and ollim-bot service logs"

	textNotInstalled = "%s is not installed; run ollim-bot service install"
	textRemoves      = "removes %s"
	textMoves        = "%s was edited by hand: renames it to %s.edited"
	textGone         = "%s was removed; your data is still in %s"

	textWasEdited   = "edited by hand"
	textMoved       = "starts a different program than this one, %s; ollim-bot service install changes that"
	textNotByItself = "not automatically; ollim-bot service install enables that"

	textLingers = "from boot on, even while you are logged out (lingering is enabled)"
	textLogout  = "only while you are logged in, because systemd stops a user's services with their last session. " +
		"To keep them running, and start them at boot: loginctl enable-linger %s"
	textAgent = "while you are logged in on this Mac; launchd starts it at login"

	textWithout = "neither systemd nor launchd is running here. The bot runs in the foreground, stops within ten seconds on SIGTERM, " +
		"and reloads its settings on SIGHUP:\n  %s"
	textInContainer = "\nThis looks like a container: make this its command."
	textInOpenRC    = "\nFor OpenRC, put into /etc/init.d/ollim-bot below #!/sbin/openrc-run:\n" +
		"  supervisor=supervise-daemon\n  command=%s\n  command_args=\"%s\"\n  command_user=%s"
	textInRunit = "\nFor runit, as the `run` file:\n  #!/bin/sh\n  exec chpst -u %s %s"
	textInCron  = "\nTo start it at boot with cron, add this line with crontab -e:\n  @reboot %s >/dev/null 2>&1"
	textInTmux  = "\nTo keep it running in tmux, with its dashboard:\n  tmux new-session -d -s ollim-bot %s"
	textInShell = "\nTo keep it running until the machine shuts down:\n  nohup %s >/dev/null 2>&1 &"
)
