package core

import (
	"context"
	"errors"

	"ollimbot/core/prompt"
	"ollimbot/core/skill"
)

// setupSkill is the bundled skill behind /setup. The model cannot begin it by
// itself: only the user asks to be walked through a set-up.
const setupSkill = "setup"

// slashSetup lets the agent walk the user through names, profile and routines:
// the skill's text is its message.
func (b *Bot) slashSetup(ctx context.Context, _ []string) (string, error) {
	s, ok := skill.Read(b.dir, setupSkill)
	if !ok {
		return "", errors.New(textNoSetup)
	}
	return "", b.chat.Ask(prompt.Instruction(b.expandSkills(ctx, []skill.Skill{s})[0].Body))
}

// slashUpdate says how this program is brought up to date: it is one file, which
// whoever installed it replaces, so it does not replace itself.
func (b *Bot) slashUpdate(context.Context, []string) (string, error) {
	return "ollim-bot " + b.o.Version + " runs. " + textUpdate, nil
}
