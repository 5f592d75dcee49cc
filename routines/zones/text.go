package zones

// User-visible texts.
const (
	textBuiltIn = "built in"
	textDated   = "of %s at the latest"
	textIn      = "%s in %s"
	textOlder   = "%s (%s is not newer)"
	textOld     = "the time zone data are of %s, and clocks have been changed since: update the system's tzdata, or ollim-bot"
	textDiffers = "%s: other programs, and the agent's commands, show another time on %d of the next %d days: update tzdata, here %s"
)
