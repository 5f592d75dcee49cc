package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/brief/skill"
	"ollimbot/routines"
)

// Writer is a session as the author of files: what it may do, and thus the most
// that a file that it writes may do.
type Writer struct {
	Kind    string `json:"kind"`              // "main session", "fork", "background run"
	Session string `json:"session,omitempty"` // a run's id
	// Alone says that nobody sits in front of it: a task that it wrote that runs in
	// the conversation keeps the writer's rights there.
	Alone      bool     `json:"alone,omitempty"`
	Allowed    []string `json:"allowed,omitempty"`
	Disallowed []string `json:"disallowed,omitempty"`
	// Kept are the commands of the user's own version of a skill that the writer has
	// left as they were.
	Kept []string `json:"kept,omitempty"`
}

// rules are what the writer may do, on top of what every run begins with.
func (w Writer) rules(base []string) Rules {
	return Rules{Allowed: Merge(base, w.Allowed), Disallowed: w.Disallowed}
}

// grants is what a file lets the runs do that it starts, beyond what every run of
// its kind may do.
type grants struct {
	What     string   // "routine", "reminder", "webhook", "skill"
	Tools    []string // patterns, those of its skills too
	Commands []string // that stand in its skills' texts and run without asking
	Trusts   bool     // it keeps its tools when it has read what strangers write
	Spends   bool     // it runs above the user's caps on money
	Outside  bool     // a webhook: whoever has the secret starts it
	Alone    bool     // it runs where nobody sits in front of it
}

// Skills finds a skill by the name that tasks use.
type Skills func(name string) (skill.Skill, bool)

// grantsOf reads what a task file, a skill or a webhook grants from its bytes, as
// they are parsed where they count: cleaned, with whatever line ends. False for a
// path that is none of these, and for a file that nothing would follow from.
func grantsOf(rel string, data []byte, find Skills) (grants, bool) {
	kind, ok := kindOf(rel)
	switch {
	case kind == routines.KindWebhook:
		return grants{What: string(kind), Outside: true, Alone: true}, true
	case ok:
		t, problems := routines.Parse(kind, rel, data, time.UTC)
		return taskGrants(t, find), !routines.HasErrors(problems)
	case isSkill(rel):
		s, ok := skill.Parse(path.Base(path.Dir(rel)), data)
		return skillGrants(s), ok
	}
	return grants{}, false
}

// webhookFolder is where webhooks lie; their package knows more of it.
const webhookFolder = "webhooks"

// kindOf is what a path would be: tasks lie right in a folder of their kind.
func kindOf(rel string) (kind routines.Kind, ok bool) {
	folder, name, _ := strings.Cut(rel, "/")
	kind, ok = map[string]routines.Kind{
		routines.RoutineFolder: routines.KindRoutine, routines.ReminderFolder: routines.KindReminder, webhookFolder: routines.KindWebhook,
	}[fold(folder)]
	if !ok || strings.Contains(name, "/") || !routines.IsTaskFile(name) {
		return "", false
	}
	return kind, true
}

// isSkill reports whether a path is that of a skill's own file.
func isSkill(rel string) bool {
	parts := strings.Split(rel, "/")
	return len(parts) == 3 && fold(parts[0]) == skill.Folder && strings.EqualFold(parts[2], skill.File)
}

// taskGrants is what a task grants. A foreground task has the tools of the
// conversation, whatever its file lists.
func taskGrants(t routines.Task, find Skills) grants {
	g := grants{What: string(t.Kind), Trusts: t.TrustInput, Spends: t.Critical, Outside: t.Kind == routines.KindWebhook, Alone: t.Background}
	if t.Background {
		g.Tools = slices.Clone(t.Allowed)
	}
	for _, name := range t.Skills {
		s, ok := find(name)
		if !ok {
			continue
		}
		of := skillGrants(s)
		g.Commands = append(g.Commands, of.Commands...)
		if t.Background {
			g.Tools = append(g.Tools, of.Tools...)
		}
	}
	g.Tools, g.Commands = Strip(Merge(g.Tools)), Merge(g.Commands)
	return g
}

func skillGrants(s skill.Skill) grants {
	return grants{What: "skill", Tools: skill.Tools([]skill.Skill{s}), Commands: skill.Commands(s.Body), Alone: true}
}

// excessOf is what a file grants and its writer does not have, each in a few words;
// nothing where the file is within its writer's rights. base are the patterns
// that every background run begins with: those are nobody's to grant.
func excessOf(w Writer, base []string, g grants) []string {
	var out []string
	have := w.rules(base).Allowed
	for _, p := range g.Tools {
		if !covers(have, p) {
			out = append(out, fmt.Sprintf(excessTool, clean.Cut(clean.Line(p), 80)))
		}
	}
	for _, c := range g.Commands {
		if slices.Contains(w.Kept, c) {
			continue
		}
		if c = strings.TrimSpace(c); !simple(c) || strings.Contains(c, "*") || !covers(have, "Bash("+c+")") {
			out = append(out, fmt.Sprintf(excessCommand, clean.Cut(clean.Line(c), 80)))
		}
	}
	if g.Trusts {
		out = append(out, excessTrust)
	}
	if g.Spends {
		out = append(out, excessSpends)
	}
	if g.Outside {
		out = append(out, excessOutside)
	}
	return out
}

// Ask is the excess as a sentence: "This routine may use Bash(rm *) alone, in the
// background; its writer may not."
func (g grants) Ask(excess []string) string {
	where := ""
	if g.Alone {
		where = excessAlone
	}
	return fmt.Sprintf(excessAsk, g.What, joined(excess), where)
}

// joined is a list in words: "a", "a and b", "a, b and c".
func joined(list []string) string {
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}

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
	return waitsWords(o, excessOf(o.Writer, g.o.Base(), taskGrants(*t, g.skill)))
}

// SkillWaits is TaskWaits for a skill: it is not loaded for any task.
func (g *Guard) SkillWaits(s skill.Skill) string {
	o, byAgent := g.origin(s.Path, s.Digest)
	if !byAgent && !g.unknown(s.Path, s.Digest) {
		return ""
	}
	return waitsWords(o, excessOf(o.Writer, g.o.Base(), skillGrants(s)))
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
	if !known && len(g.commands.now()) > 0 {
		at, _ := g.changedAt(rel)
		if s := g.commands.who(at); s != nil {
			s.claim(rel)
			o, known = g.provenance.Find(digest)
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
	info, err := os.Stat(g.o.Dir.Path(rel))
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
	more := excessOf(o.Writer, g.o.Base(), taskGrants(t, g.skill))
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
	base := g.o.Base()
	named, not := Merge(t.Allowed, skill.Tools(skills)), t.Disallowed
	if DelegatesTo(Rules{Allowed: Merge(base, named), Disallowed: not}, UserProxy) {
		named = Merge(named, []string{historyTool})
	}
	if o, byAgent := g.origin(t.Path, t.Digest); byAgent || g.unknown(t.Path, t.Digest) {
		have, within := o.Writer.rules(base).Allowed, []string(nil)
		for _, p := range named {
			if covers(have, p) {
				within = append(within, p)
			}
		}
		named = within
		not = Merge(not, o.Writer.Disallowed)
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
	return g.newLimit(o.Writer.rules(g.o.Base()), false)
}

// Inherit gives the next check of a chain the origin of the one before it, with the
// user's word on it.
func (g *Guard) Inherit(from, rel string, data []byte) error {
	o, known := g.provenance.Find(from)
	if !known {
		return nil
	}
	o.Path, o.At = rel, time.Now()
	return g.provenance.record(routines.Digest(data), o)
}

// Written notes that a session's tool is about to write a file, with the rights of
// that session.
func (g *Guard) Written(w Writer, rel string, data []byte) error {
	grants, ok := grantsOf(rel, data, g.skill)
	if !ok {
		return nil
	}
	excess := excessOf(w, g.o.Base(), grants)
	err := g.provenance.record(routines.Digest(data), Origin{Path: rel, Writer: w, At: time.Now(), Excess: excess})
	if err == nil && len(excess) > 0 {
		g.o.Waits(rel, grants.Ask(excess))
	}
	return err
}

// What a file grants beyond its writer's rights.
const (
	excessTool    = "use %s"
	excessCommand = "run `%s`"
	excessTrust   = "write files and run commands after reading what strangers wrote"
	excessSpends  = "run above your caps on money"
	excessOutside = "be started from outside"
	excessAlone   = " alone, in the background"
	excessAsk     = "This %s may %s%s; its writer may not."
	excessTalk    = "speak in the conversation, with its rights"

	taintWeb        = "the web"
	taintMail       = "mail"
	taintInvitation = "an invitation"
	taintDownloads  = "a file from downloads/"
	taintServer     = "the server %s"
	// TaintWebhook is what a webhook's run begins with.
	TaintWebhook = "the payload of a webhook"

	waitsUnknown = "it is not known any more who wrote it, and it may %s"
	waitsSkill   = "the agent wrote its words, and the task may more than it: %s"
	waitsFor     = "it may %s; its writer, the agent, may not"
)
