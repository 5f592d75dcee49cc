package main

import (
	"errors"
	"fmt"

	"ollimbot/core"
	claudeproc "ollimbot/core/agent/claude/process"
	"ollimbot/core/command"
	"ollimbot/core/config"
	selfupdate "ollimbot/core/update"
)

type updateCmd struct {
	Check    bool   `xor:"what" help:"Only look whether there is a newer release."`
	Rollback bool   `xor:"what" help:"Go back to the program that the last update replaced."`
	Force    bool   `help:"Install the release also where it is older than what is installed, or the same."`
	From     string `placeholder:"PLACE" help:"Where releases are, a directory or an address, in place of the setting update_source."`
	asJSON
}

// replacedAnswer is the JSON answer.
type replacedAnswer struct {
	Message   string `json:"message"`
	Installed string `json:"installed"` // the version that stands in the place
	Changed   bool   `json:"changed"`
}

// Run brings the program's file up to date, or back. A bot that runs goes on as it is.
func (c *updateCmd) Run(p *process, at dataDir) error {
	if p.getenv(claudeproc.MarkName) != "" {
		return errors.New(textUsersOnly)
	}
	settings, _, err := config.LoadRuntime(at.dir)
	if c.From != "" {
		err = config.Try(&settings, "update_source", c.From)
	}
	if err != nil {
		return err
	}
	program, err := selfupdate.Here(version, settings.UpdateSource)
	if err != nil {
		return err
	}
	ctx, cancel := p.context()
	defer cancel()
	r, err := program.Do(ctx, selfupdate.Order{Check: c.Check, Rollback: c.Rollback, Force: c.Force})
	if err != nil {
		return err
	}
	lines := []string{r.Text}
	if _, running := at.dir.Running(); running && r.Changed {
		lines = append(lines, fmt.Sprintf(textStillRuns, at.dir.Display()))
	}
	return p.answer(c.JSON, replacedAnswer{r.Text, r.Installed, r.Changed}, lines)
}

type restartCmd struct{ asJSON }

// Run lets the bot that runs begin anew; by itself it finds none.
func (c *restartCmd) Run(p *process, at dataDir, bot *core.Bot) error {
	if p.live == nil {
		return fmt.Errorf(textNoneRuns, at.dir.Display())
	}
	return p.doing(bot, c.asJSON, command.Slash{Line: "/restart"})
}
