package chat

import "charm.land/bubbles/v2/key"

const (
	textTitle     = "Chat"
	textName      = "Chat     "
	textAnswering = "answering"
	textSilence   = "nothing said yet"
	textReadOnly  = "read-only: messages cannot be sent here"

	textEmpty = "Nothing said yet."
	textTeach = "Write to the bot here. What background runs send you appears too."

	textPrompt   = "writes a message"
	textCritical = "critical"
	textTools    = "used "
	textLocked   = "read-only"
)

var writingKeys = []key.Binding{
	key.NewBinding(key.WithHelp("enter", "send")),
	key.NewBinding(key.WithHelp("alt+enter", "new line")),
	key.NewBinding(key.WithHelp("esc", "keep for later")),
}
