package selfupdate

// byHand explains how to update a program without releases.
const byHand = "install the new version on the computer of the bot, the way you installed this one, then /restart"

// User-visible texts.
const (
	textIsThere   = "ollim-bot %s is released; %s is installed."
	textNewest    = "ollim-bot %s is installed; there is nothing newer (the release is %s)."
	textInstalled = "ollim-bot %s is in place (%s). %s is kept as %s."

	textNoPath   = "find the file of this program: %w"
	textPackage  = "%s belongs to the Debian package ollim-bot: install the newer package (sudo apt install ./ollim-bot_VERSION_ARCH.deb), then /restart"
	textNoKey    = "this ollim-bot (%s) cannot tell whether a new version is genuine, because it was built without the key for that: " + byHand
	textNoSource = "this ollim-bot (%s) does not know where new versions are found: set the update source (/config update_source, or ollim-bot config), " +
		"or " + byHand
	textBadKey = "this program was built with an invalid public key: rebuild it with the second line of minisign's public key file (%w)"

	textRead      = "read %s of the release in %s: %w; nothing was changed"
	textTooLong   = "%s in %s is too long for a release; check update_source. Nothing was changed"
	textSignature = "the signature of the release in %s does not match the key of this program (%016X): the release is damaged or not ours. " +
		"Nothing was changed; do not install it by hand either until you know why"
	textBadSums    = "the list of checksums has an invalid line (%q), so the release is broken; nothing was changed"
	textNoPrograms = "the release contains no programs; check update_source. Nothing was changed"
	textNoPlatform = "the release has no program for %s, only for %s; nothing was changed"
	textOlder      = "the release is %s, older than the installed %s; nothing was changed. ollim-bot upgrade --rollback restores " +
		"what the last upgrade replaced, --force installs the release"
	textSum          = "%s in %s is not the file that was signed: it is damaged or was replaced; nothing was changed"
	textWillNotRun   = "%s does not run here (%w); nothing was changed"
	textOtherVersion = "%s reports version %s, so the release is broken; nothing was changed"
	textNoVersion    = "instead of its version it printed %q"

	textBusy     = "another upgrade of %s is running; try again when it has finished"
	textFull     = "no space in %s (%w): free some and try again; the program is unchanged"
	textReadOnly = "you have no permission to replace %s (%w): " +
		"update it as the user who installed it, with sudo, or with the tool that installed it; it is unchanged"
	textPlace = "replace %s: %w; it is unchanged"

	textNothingKept = "there is nothing to go back to: no upgrade has left an older program in %s"
)
