package main

import (
	"fmt"
	"strings"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/command"
)

type updateCmd struct{ console.AsJSON }

// Run compares the running bot, which executes this command (handOver), with the program's file. Without a bot, it
// describes the file.
func (c *updateCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	if p.Live != nil {
		return p.doing(bot, c.AsJSON, command.Slash{Line: "/update"})
	}
	if err := p.UsersOnly(); err != nil {
		return err
	}
	ctx, cancel := p.Context()
	defer cancel()
	text, err := p.program().Compare(ctx)
	if err != nil {
		return err
	}
	text += fmt.Sprintf("\nNo bot is running in %s.", at.Dir.Display())
	return p.Answer(c.JSON, map[string]string{"message": text}, strings.Split(text, "\n"))
}

// program returns this process's program. A bot asks for it when it starts.
func (p *process) program() command.Program {
	return command.ThisProgram(p.Executable, versionLine(), builtBy)
}

type restartCmd struct{ console.AsJSON }

// Run restarts the running bot, which executes this command (handOver).
func (c *restartCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	if p.Live == nil {
		return fmt.Errorf(textNoneRuns, at.Dir.Display())
	}
	return p.doing(bot, c.AsJSON, command.Slash{Line: "/restart"})
}
