package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/skill"
	"ollimbot/routines"
)

// Provenance is where this guard notes who writes tasks.
func (g *Guard) Provenance() *Provenance { return g.provenance }

// TaskWaits is why a task does not fire until the user says so; "" for all that
// may: what the user has written, what is within its writer's rights, and what the
// user has allowed.
func (g *Guard) TaskWaits(t *routines.Task) string {
	o, byAgent := g.origin(t.Path, t.Digest)
	if !byAgent && !g.unknown(t.Path, t.Digest) {
		return ""
	}
	return waitsWords(o, Excess(o.Writer, g.base(), TaskGrants(*t, g.skill)))
}

// SkillWaits is TaskWaits for a skill: it is not loaded for any task.
func (g *Guard) SkillWaits(s skill.Skill) string {
	o, byAgent := g.origin(s.Path, s.Digest)
	if !byAgent && !g.unknown(s.Path, s.Digest) {
		return ""
	}
	return waitsWords(o, Excess(o.Writer, g.base(), skillGrants(s)))
}

func waitsWords(o Origin, excess []string) string {
	switch {
	case len(excess) == 0:
		return ""
	case o.At.IsZero():
		return fmt.Sprintf(waitsUnknown, joined(excess))
	}
	return fmt.Sprintf(waitsFor, joined(excess))
}

// origin is who has written a version that the user has not allowed; false for all
// others. A version that is not known, and that came while a session's command ran,
// is that session's.
func (g *Guard) origin(rel, digest string) (Origin, bool) {
	if digest == "" {
		return Origin{}, false
	}
	o, known := g.provenance.Find(digest)
	if !known && g.commands.any() {
		if info, err := os.Stat(g.dir.Path(rel)); err == nil {
			if s := g.commands.who(changedAt(info)); s != nil {
				s.claim(rel)
				o, known = g.provenance.Find(digest)
			}
		}
	}
	return o, known && o.Approved.IsZero()
}

// unknown reports a version from before the record of writers was lost.
func (g *Guard) unknown(rel, digest string) bool {
	lost := g.provenance.Lost()
	if _, known := g.provenance.Find(digest); known || lost.IsZero() || digest == "" {
		return false
	}
	info, err := os.Stat(g.dir.Path(rel))
	return err == nil && info.ModTime().Before(lost)
}

// Trusted reports whether a task keeps its tools when it has read what strangers
// write, because its user says so.
func (g *Guard) Trusted(t routines.Task) bool {
	_, byAgent := g.origin(t.Path, t.Digest)
	return t.TrustInput && !byAgent && !g.unknown(t.Path, t.Digest)
}

// Usable are the skills that a task takes along, of those that it names: not those
// that wait for the user, nor those whose words an agent has written that had
// fewer rights than the task.
func (g *Guard) Usable(t routines.Task, skills []skill.Skill) []skill.Skill {
	var out []skill.Skill
	for _, s := range skills {
		if g.SkillLeft(t, s) == "" {
			out = append(out, s)
		}
	}
	return out
}

// SkillLeft is why a task goes without a skill, or "".
func (g *Guard) SkillLeft(t routines.Task, s skill.Skill) string {
	if why := g.SkillWaits(s); why != "" {
		return why
	}
	o, byAgent := g.origin(s.Path, s.Digest)
	if !byAgent {
		return ""
	}
	more := Excess(o.Writer, g.base(), TaskGrants(t, g.skill))
	if len(more) == 0 && !t.Background && o.Writer.Alone && g.LimitOf(t) == nil {
		more = []string{excessTalk}
	}
	if len(more) == 0 {
		return ""
	}
	return fmt.Sprintf(waitsSkill, joined(more))
}

// Bound is what the run of a task may do: what every run begins with, and what the
// task and its skills name, but of a version that an agent has written and the user
// has not allowed no more than its writer had.
func (g *Guard) Bound(t routines.Task, skills []skill.Skill) Rules {
	base := g.base()
	named, not := Merge(t.Allowed, skill.Tools(skills)), t.Disallowed
	if DelegatesTo(Rules{Allowed: Merge(base, named), Disallowed: not}, UserProxy) {
		named = Merge(named, []string{historyTool})
	}
	if o, byAgent := g.origin(t.Path, t.Digest); byAgent || g.unknown(t.Path, t.Digest) {
		have, within := o.Writer.rules(base).Allowed, []string(nil)
		for _, p := range named {
			if Covers(have, p) {
				within = append(within, p)
			}
		}
		named = within
		if len(o.Writer.Disallowed) > 0 {
			not = Merge(not, o.Writer.Disallowed)
		}
	}
	return Rules{Allowed: Strip(Merge(base, named)), Disallowed: not}
}

// UserProxy is the subagent that a run asks for the user's taste. It answers from
// what was said, which it reads with the run's rights: so a run that may ask it has
// those.
const (
	UserProxy   = "user-proxy"
	historyTool = "Bash(ollim-bot history *)"
)

// DelegatesTo reports whether rules let a session start a subagent.
func DelegatesTo(r Rules, subagent string) bool {
	call := agent.ToolUse{Name: "Agent", Input: json.RawMessage(`{"subagent_type":"` + subagent + `"}`)}
	return Compile("/", r).Allows(call)
}

// LimitOf is what the conversation may do for the turn of a foreground task, where
// that is less than it may otherwise: a run that nobody sits in front of has
// written the task. Nil does not limit.
func (g *Guard) LimitOf(t routines.Task) *Limit {
	o, byAgent := g.origin(t.Path, t.Digest)
	if t.Background || !byAgent || !o.Writer.Alone {
		return nil
	}
	return g.NewLimit(o.Writer.rules(g.base()), false)
}

// Inherit gives the next check of a chain the origin of the one before it, with the
// user's word on it.
func (g *Guard) Inherit(from, rel string, data []byte) error {
	o, known := g.provenance.Find(from)
	if !known {
		return nil
	}
	o.Path, o.At = rel, time.Now()
	return g.provenance.Record(routines.Digest(data), o)
}

// Written notes that a session's tool is about to write a file, with the rights of
// that session.
func (g *Guard) Written(w Writer, rel string, data []byte) error {
	grants, ok := GrantsOf(rel, data, g.skill)
	if !ok {
		return nil
	}
	excess := Excess(w, g.base(), grants)
	err := g.provenance.Record(routines.Digest(data), Origin{Path: rel, Writer: w, At: time.Now(), Excess: excess})
	if err == nil && len(excess) > 0 {
		g.waits(rel, grants.Ask(excess))
	}
	return err
}
