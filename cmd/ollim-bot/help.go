package main

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command to explain, such as: budget set."`
}

// Run prints what --help prints after the same words.
func (c *helpCmd) Run(p *process) error {
	whole := len(c.Command) == 0 // parsing again empties the tree
	if whole && p.served != nil {
		return p.servedHelp()
	}
	_, err := p.parser.Parse(append(c.Command, "--help"))
	if err != nil && !p.helped {
		return usagef("%v", err)
	}
	if whole {
		return p.printf("%s", textExamples)
	}
	return nil
}
