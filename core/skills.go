package core

import (
	"context"

	"ollimbot/core/policy"
	"ollimbot/core/prompt"
	"ollimbot/core/skill"
	"ollimbot/routines"
)

// loadSkills reads the skills that a task names. What cannot be used is left
// out, as the task may well do without, and so is what waits for the
// user's word; the log knows of it.
func (b *Bot) loadSkills(t routines.Task) []skill.Skill {
	skills := b.guard.Usable(t, skill.Load(b.dir, t.Skills))
	if len(skills) < len(t.Skills) {
		b.log.Debug("a task names skills that are missing, unusable or named twice", "id", t.ID, "named", len(t.Skills), "loaded", len(skills))
	}
	return skills
}

// expandSkills runs the commands in the texts of the skills and gives what
// stands in the prompt. It blocks for at most skill.TotalTime.
func (b *Bot) expandSkills(ctx context.Context, skills []skill.Skill) []prompt.Skill {
	if len(skills) == 0 {
		return nil
	}
	if err := b.dir.Trusted(); err != nil {
		b.log.Error("commands of skills do not run", "error", err)
		return plainSkills(skills)
	}
	ctx, cancel := context.WithTimeout(ctx, skill.TotalTime)
	defer cancel()
	// What the user has put into a skill may ask the bot whatever the agent may.
	token := b.o.Control.Issue()
	defer token.Revoke()
	token.Bind(b.guard.Session(policy.Scope{
		Kind: policy.Background, Session: "skill", Rules: policy.Rules{Allowed: []string{"Bash(ollim-bot *)"}},
	}).Command(b.o.Commands))
	how := skill.How{Zone: b.o.Env.ZoneName, Env: token.Env()}
	if b.o.Sandbox != nil {
		how.Sandbox = b.o.Sandbox.Command
	}
	out := make([]prompt.Skill, 0, len(skills))
	for _, s := range skills {
		out = append(out, prompt.Skill{Name: s.Name, Body: skill.Expand(ctx, b.dir, how, s.Body)})
	}
	return out
}

// plainSkills are the texts with their commands as they are written.
func plainSkills(skills []skill.Skill) []prompt.Skill {
	out := make([]prompt.Skill, 0, len(skills))
	for _, s := range skills {
		out = append(out, prompt.Skill{Name: s.Name, Body: s.Body})
	}
	return out
}
