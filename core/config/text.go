package config

// Every word of this package that a user may read.
const (
	msgEnvRead    = "read %s: %w"
	msgEnvLine    = "%s, line %d: not a NAME=value line; correct it, put values with spaces in quotes, or put # in front of it"
	msgEnvMode    = "%s (mode %#o) can be read by others on this machine: run chmod 600 %s"
	msgEnvDataDir = "OLLIM_DATA_DIR in %s has no effect: set it in the environment, or give --data-dir"
	msgZone       = "%s: there is no time zone %q; use a name such as Europe/Berlin or America/Los_Angeles"
	msgSystemZone = "%s names the unknown time zone %q: set OLLIM_TIMEZONE, for example to Europe/Berlin"

	msgRuntime = "state/config.json: %s is %s, which is not accepted; %s. The default %s is used"

	acceptModel    = "write opus, sonnet or haiku, or null for the default"
	acceptThinking = "write off, adaptive or a number of tokens"
	acceptMode     = "write acceptEdits, bypassPermissions, default or dontAsk"
	acceptBool     = "write true or false"
	acceptInt      = "write a whole number from %d to %d"
	acceptQuiet    = "write begin and end such as 22:00-07:30, or nothing to switch it off"
	acceptMemory   = "write a size such as 4GB or 512MB, at least 64MB"
)
