package choice

// User-visible texts.
const (
	textNoMember = "the engine %s is not available here: choose another with /config engine"
	textNoLogin  = "this engine needs no login"
	textInstead  = "%s answers in place of %s: %s"
	textBack     = "%s answers again"
	// The arguments are the new engine and the old one.
	textCarried = "Switched from %[2]s to %[1]s. The conversation was carried over as a summary; the history has it word for word."
	textRecent  = "Switched from %[2]s to %[1]s, with the newest messages only, because %[2]s could not be asked for a summary. " +
		"The history has all of them."
	textNothing = "Switched from %[2]s to %[1]s, with a new conversation: there was nothing to carry over."
)

// Texts for the models.
const (
	promptSummary = "Another model takes this conversation over from you and sees nothing of it but what you write now. " +
		"Sum it up for them, in at most 800 words: who the user is and how they like to be spoken to, what was said and decided, " +
		"what is under way, what was promised, which files and tasks it is about. Facts only; leave out what is done and settled. Use no tool."
	promptCarried = "[carried over] Until now this conversation was with another model. This is what you have to know of it:\n\n%s\n\n" +
		"Go on as if it had been you. Answer this message with nothing but: OK"
	promptFork = "[carried over] You are a branch of a conversation that was with another model. Its newest words, for you to know:\n\n%s\n\n"
	noTools    = "do not use tools; answer with the summary"
)
