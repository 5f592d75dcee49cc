package chat

const (
	textTitle     = "Chat"
	textName      = "Chat     "
	textAnswering = "answering"
	textSilence   = "nothing said yet"
	textReadOnly  = "read-only: messages cannot be sent here"

	textEmpty = "Nothing said yet."
	textTeach = "Write to the bot here. What background runs send you appears too."

	textPrompt   = "writes a message"
	textKeys     = "enter sends · alt+enter breaks the line · esc leaves"
	textCritical = "critical"
	textTools    = "used "
	textLocked   = "read-only"
)
