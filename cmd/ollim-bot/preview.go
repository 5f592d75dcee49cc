package main

type previewCmd struct {
	ID   string `arg:"" help:"The id of a routine or reminder."`
	At   string `placeholder:"TIME" help:"As if it fired at this moment instead of now."`
	Busy bool   `help:"As if you were in a conversation."`
}

// Run prints the prompt to the byte, with one line break at its end.
func (c *previewCmd) Run(p *process) error {
	at, err := p.open()
	if err != nil {
		return err
	}
	now, err := at.moment("--at", c.At)
	if err != nil {
		return err
	}
	bot, err := p.bot(at)
	if err != nil {
		return err
	}
	ctx, cancel := p.context()
	defer cancel()
	text, err := bot.Preview(ctx, c.ID, now, c.Busy)
	if err != nil {
		return err
	}
	return p.lines(text)
}
