package sandbox

import (
	"strings"

	"ollimbot/core/clean"
)

// What a state says.
const (
	textOn     = "sandbox: %s"
	textWeaker = "sandbox: %s (%s)"
	textNone   = "no sandbox: %s; until then only the tool rules keep the model's commands in"
	textOff    = "no sandbox: it is switched off; /config sandbox auto switches it on"
)

// Why the fence is not better.
const (
	reasonInstall    = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)"
	reasonBroken     = "bubblewrap is there and cannot work (%s): allow unprivileged user namespaces, see docs/security.md"
	reasonForeign    = "the bot runs as root and its data directory belongs to somebody else: run the bot as that user, or chown -R root the directory"
	reasonSystem     = "this system has none that the bot knows"
	reasonSeatbelt   = "sandbox-exec cannot work (%s)"
	reasonOneLayer   = "one layer: a sandbox within a sandbox is refused here (%s), so commands share that of claude"
	reasonNoBash     = "one layer: there is no bash, so commands share the sandbox of claude"
	reasonSeatbelt1  = "one layer: commands share the sandbox of claude"
	reasonLandlock   = "files only: %s"
	reasonNoNetRules = "this kernel cannot keep commands from the network"
)

// What keeps a process from being started in its fence.
const (
	errLink        = "%s is a symbolic link, which a sandbox cannot protect: put the file or folder itself there, or switch it off with /config sandbox off"
	errPlaceholder = "make the empty %s that keeps commands from making one: %w"
	errScratch     = "%s is not a folder of the bot's own: remove it"
	errVisible     = "show %s to commands: %w"
)

// firstLine is the first line that says anything, for the middle of a sentence.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = clean.Line(line); line != "" {
			return clean.Cut(line, 160)
		}
	}
	return ""
}
