package selfupdate

// byHand is how a program without releases is brought up to date.
const byHand = "put the new version in its place as you installed it (go install, or its file), and /restart"

// Every word of this package that a user may read.
const (
	textIsThere   = "ollim-bot %s is released; %s is installed."
	textNewest    = "ollim-bot %s is installed, and nothing newer is released (%s)."
	textInstalled = "ollim-bot %s is in place (%s). %s is kept as %s."

	textNoPath   = "the file of this program cannot be found: %w"
	textPackage  = "%s belongs to the Debian package ollim-bot: install the newer package (sudo apt install ./ollim-bot_VERSION_ARCH.deb), and /restart"
	textNoKey    = "ollim-bot %s was built without the public key of releases, so it cannot tell a true one and does not update itself: " + byHand
	textNoSource = "ollim-bot %s knows no place of releases: set update_source to a directory or an address (ollim-bot config, or /config). Without one, " + byHand
	textBadKey   = "the public key that this program was built with is none: build it anew with the second line of minisign's public key file (%w)"

	textRead      = "read %s of the release in %s: %w; nothing was changed"
	textTooLong   = "%s in %s is too long to be a release's: is update_source right? Nothing was changed"
	textSignature = "the signature of the release in %s does not fit the key of this program (%016X): it is damaged, or somebody else's. " +
		"Nothing was changed; do not install it by hand either before you know why"
	textBadSums    = "the list of sums has a line that is none (%q): the release was made wrongly; nothing was changed"
	textNoPrograms = "the release has no programs in it: is update_source right? Nothing was changed"
	textNoPlatform = "the release has no program for %s, only for %s; nothing was changed"
	textOlder      = "the release is %s, older than the installed %s: nothing was changed. To go back, ollim-bot upgrade --rollback " +
		"takes what the last upgrade replaced, and --force takes the release"
	textSum          = "%s in %s is not the file that was signed: damaged on the way, or replaced by somebody; nothing was changed"
	textWillNotRun   = "%s does not run here (%w): nothing was changed"
	textOtherVersion = "%s says that it is version %s: the release was made wrongly; nothing was changed"
	textNoVersion    = "it does not say its version but %q"

	textBusy     = "another upgrade of %s is running: try again when it has finished"
	textFull     = "no room in %s (%w): free some space and try again; the program is as it was"
	textReadOnly = "%s cannot be replaced by you (%w): update it as the one who installed it, with sudo or with the tool that installed it; it is as it was"
	textPlace    = "replace %s: %w; it is as it was"

	textNothingKept = "there is nothing to go back to: no upgrade has kept an older program as %s"
)
