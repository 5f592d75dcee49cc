package dispatch

import (
	"context"
	"encoding/json"
	"log/slog"

	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/skill"
	"ollimbot/core/safety/control"
	"ollimbot/core/safety/policy"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// Skills loads the skills of tasks and runs the commands in their texts.
type Skills struct {
	Dir      *store.Dir
	Log      *slog.Logger
	Guard    *policy.Guard
	ZoneName string
	Control  *control.Server // may be nil
	Commands policy.Runner   // may be nil
	Sandbox  *sandbox.Box    // may be nil
	Servers  Servers         // may be nil
}

// Servers are the MCP servers as used by checks. Its methods must be safe for concurrent
// use.
type Servers interface {
	// Ask calls a tool by its full name and blocks until it answers or ctx ends. text is
	// empty if the answer has no content.
	Ask(ctx context.Context, tool string, args json.RawMessage) (text string, err error)
	// Trusted reports whether the user trusts a server's answers like their own words.
	Trusted(server string) bool
}

// Inert returns a context in which Expand runs no commands.
func Inert(ctx context.Context) context.Context { return context.WithValue(ctx, inert{}, true) }

type inert struct{}

// Load reads the skills that a task names. Unusable skills and those awaiting approval
// are left out and logged, because the task might work without them.
func (s *Skills) Load(t routines.Task) []skill.Skill {
	skills := s.Guard.Usable(t, skill.Load(s.Dir, t.Skills))
	if len(skills) < len(t.Skills) {
		s.Log.Debug("a task names skills that are missing, unusable or named twice", "id", t.ID, "named", len(t.Skills), "loaded", len(skills))
	}
	return skills
}

// Expand runs the commands in the texts of skills and returns the texts for the prompt.
// It blocks for at most skill.TotalTime.
func (s *Skills) Expand(ctx context.Context, skills []skill.Skill) []prompt.Skill {
	if len(skills) == 0 {
		return nil
	}
	if ctx.Value(inert{}) != nil {
		return plainSkills(skills)
	}
	if err := s.Dir.Trusted(); err != nil {
		s.Log.Error("commands of skills do not run", "error", err)
		return plainSkills(skills)
	}
	ctx, cancel := context.WithTimeout(ctx, skill.TotalTime)
	defer cancel()
	how, revoke := s.how()
	defer revoke()
	out := make([]prompt.Skill, 0, len(skills))
	for _, one := range skills {
		out = append(out, prompt.Skill{Name: one.Name, Body: skill.Expand(ctx, s.Dir, how, one.Body)})
	}
	return out
}

// how returns the environment for the commands, and a function to revoke it. They may use
// the bot's own commands, as the agent may.
func (s *Skills) how() (how skill.How, revoke func()) {
	token := s.Control.Issue(s.Guard.Session(policy.Scope{
		Kind: policy.Background, Session: "skill", Rules: policy.Rules{Allowed: []string{"Bash(ollim-bot *)"}},
	}).Command(s.Commands))
	how = skill.How{Zone: s.ZoneName, Env: token.Env()}
	if s.Sandbox != nil {
		how.Sandbox = s.Sandbox.Command
	}
	return how, token.Revoke
}

// plainSkills returns the texts with their commands unexpanded.
func plainSkills(skills []skill.Skill) []prompt.Skill {
	out := make([]prompt.Skill, 0, len(skills))
	for _, s := range skills {
		out = append(out, prompt.Skill{Name: s.Name, Body: s.Body})
	}
	return out
}
