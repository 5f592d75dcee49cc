package main

import (
	"fmt"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/selfupdate"
)

type upgradeCmd struct {
	Check    bool   `xor:"what" help:"Only check whether there is a newer release."`
	Rollback bool   `xor:"what" help:"Go back to the program that the last upgrade replaced."`
	Force    bool   `help:"Install the release even if it is older than this program, or the same."`
	From     string `placeholder:"PLACE" help:"Directory or address of the releases, instead of the setting update_source."`
	console.AsJSON
}

// Run installs a newer release, or restores the previous one. A running bot is not
// affected until it restarts.
func (c *upgradeCmd) Run(p *process, at console.DataDir) error {
	if err := p.UsersOnly(); err != nil {
		return err
	}
	settings, _, err := config.LoadRuntime(at.Dir)
	if c.From != "" {
		if err := config.Try(&settings, "update_source", c.From); err != nil {
			return console.Usagef("%v", err)
		}
	}
	if err != nil {
		return err
	}
	program, err := selfupdate.Here(version, settings.UpdateSource)
	if err != nil {
		return err
	}
	ctx, cancel := p.Context()
	defer cancel()
	r, err := program.Do(ctx, selfupdate.Order{Check: c.Check, Rollback: c.Rollback, Force: c.Force})
	if err != nil {
		return err
	}
	lines := []string{r.Text}
	if _, running := at.Dir.Running(); running && r.Changed {
		lines = append(lines, fmt.Sprintf(textStillRuns, at.Dir.Display()))
	}
	return p.Answer(c.JSON, r, lines)
}

type restartCmd struct{ console.AsJSON }

// Run restarts the running bot, which executes this command (handOver).
func (c *restartCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	if p.Live == nil {
		return fmt.Errorf(textNoneRuns, at.Dir.Display())
	}
	return p.doing(bot, c.AsJSON, command.Slash{Line: "/restart"})
}
