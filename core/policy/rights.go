package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/skill"
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

// Grants is what a file lets the runs do that it starts, beyond what every run of
// its kind may do.
type Grants struct {
	What     string   // "routine", "reminder", "webhook", "skill"
	Tools    []string // patterns, those of its skills too
	Commands []string // that stand in its skills' texts and run without asking
	Trusts   bool     // it keeps its tools when it has read what strangers write
	Outside  bool     // a webhook: whoever has the secret starts it
	Alone    bool     // it runs where nobody sits in front of it
}

// Skills finds a skill by the name that tasks use.
type Skills func(name string) (skill.Skill, bool)

// GrantsOf reads what a task file, a skill or a webhook grants from its bytes, as
// they are parsed where they count: cleaned, with whatever line ends. False for a
// path that is none of these, and for a file that nothing would follow from.
func GrantsOf(rel string, data []byte, find Skills) (Grants, bool) {
	folder, name := path.Split(rel)
	switch strings.ToLower(strings.SplitN(rel, "/", 2)[0]) {
	case routines.RoutineFolder:
		if r, problems := routines.ParseRoutine(rel, data); folderFile(folder, name) && !routines.HasErrors(problems) {
			return TaskGrants(r.Task, find), true
		}
	case routines.ReminderFolder:
		if r, problems := routines.ParseReminder(rel, data, time.UTC); folderFile(folder, name) && !routines.HasErrors(problems) {
			return TaskGrants(r.Task, find), true
		}
	case webhookFolder:
		if folderFile(folder, name) {
			return Grants{What: string(routines.KindWebhook), Outside: true, Alone: true}, true
		}
	case skill.Folder:
		if s, ok := skill.Parse(path.Base(folder), data); ok && strings.EqualFold(name, skill.File) {
			return skillGrants(s), true
		}
	}
	return Grants{}, false
}

// webhookFolder is where webhooks lie; their package knows more of it.
const webhookFolder = "webhooks"

// folderFile reports whether a name is one that tasks may have, in a folder that
// lies right in the data directory.
func folderFile(folder, name string) bool {
	return strings.Count(folder, "/") == 1 && routines.IsTaskFile(name)
}

// TaskGrants is what a task grants. A foreground task has the tools of the
// conversation, whatever its file lists.
func TaskGrants(t routines.Task, find Skills) Grants {
	g := Grants{What: string(t.Kind), Trusts: t.TrustInput, Outside: t.Kind == routines.KindWebhook, Alone: t.Background}
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

func skillGrants(s skill.Skill) Grants {
	return Grants{What: "skill", Tools: skill.Tools([]skill.Skill{s}), Commands: skill.Commands(s.Body), Alone: true}
}

// Excess is what a file grants and its writer does not have, each in a few words;
// nothing where the file is within its writer's rights. base are the patterns
// that every background run begins with: those are nobody's to grant.
func Excess(w Writer, base []string, g Grants) []string {
	var out []string
	have := w.rules(base).Allowed
	for _, p := range g.Tools {
		if !Covers(have, p) {
			out = append(out, fmt.Sprintf(excessTool, clean.Cut(clean.Line(p), 80)))
		}
	}
	for _, c := range g.Commands {
		if slices.Contains(w.Kept, c) {
			continue
		}
		if c = strings.TrimSpace(c); !simple(c) || strings.Contains(c, "*") || !Covers(have, "Bash("+c+")") {
			out = append(out, fmt.Sprintf(excessCommand, clean.Cut(clean.Line(c), 80)))
		}
	}
	if g.Trusts {
		out = append(out, excessTrust)
	}
	if g.Outside {
		out = append(out, excessOutside)
	}
	return out
}

// Ask is the excess as a sentence: "This routine may use Bash(rm *) alone, in the
// background; its writer may not."
func (g Grants) Ask(excess []string) string {
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
