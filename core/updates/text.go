package updates

// Every word of this package that a user or the agent may read.
const (
	textGone      = "that update is no longer pending: the main session took it, or it was discarded before"
	textUnsettled = "it is not known yet whether the message before arrived"
	textEmpty     = "an update needs a text: nothing readable is in it"
	// textSentinel stands for updates that the cap dropped; the original writes
	// the same words.
	textSentinel = "(%d earlier update(s) omitted — cap reached)"
)
