package policy

import (
	"slices"
	"strings"
	"sync"

	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
)

// Taint is the label of everything that a session has read. A session with a label may not write
// tasks or files, send files or run commands, because the text may have talked it into anything.
// The zero Taint has read nothing. It is safe for concurrent use.
type Taint struct {
	// Trusted means that the user's own file lets a run keep its tools.
	Trusted bool
	// Changed is called when a label is added or, with "", cleared, before the labeled text
	// is read. It may write a file, and may be nil.
	Changed func(label.Label)

	mu    sync.Mutex
	label label.Label
	// approved are tools whose next call the user has approved.
	approved []string
}

// NewTaint returns the taint of a session that starts with a label.
func NewTaint(l label.Label) *Taint { return &Taint{label: l} }

// Label returns the label of what was read, or "" if it was only the user's own text.
func (t *Taint) Label() label.Label {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.label
}

// Read records what a session is about to read.
func (t *Taint) Read(l label.Label) {
	t.mu.Lock()
	first := t.label == "" && l != ""
	t.label = label.Join(t.label, l)
	t.mu.Unlock()
	if first && t.Changed != nil {
		t.Changed(l)
	}
}

// Clear forgets the label: the user has seen what was read and answered it.
func (t *Taint) Clear() {
	t.mu.Lock()
	had := t.label != ""
	t.label, t.approved = "", nil
	t.mu.Unlock()
	if had && t.Changed != nil {
		t.Changed("")
	}
}

// approve records that the user has approved one call of a tool.
func (t *Taint) approve(tool string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.approved = append(t.approved, tool)
}

// LabelOf returns the label of what a call of the tool writes. A call that the user has
// approved writes the user's own text, once.
func (t *Taint) LabelOf(tool string) label.Label {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.approved, tool); i >= 0 {
		t.approved = slices.Delete(t.approved, i, i+1)
		return ""
	}
	return t.label
}

// limits returns the label that limits a call, or "".
func (s *Session) limits(x call) label.Label {
	if s.taint.Trusted || s.turn().Trusted {
		return ""
	}
	if l, ok := s.judged.of(x); ok {
		return l
	}
	return s.taint.Label()
}

// judgements are the labels that limited calls when the hook allowed them. The permission check
// that follows must not count what the call itself is about to read. The zero value is empty.
type judgements struct {
	mu sync.Mutex
	by map[string]label.Label
}

func (j *judgements) of(x call) (l label.Label, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l, ok = j.by[x.key()]
	return l, ok
}

func (j *judgements) note(x call, l label.Label) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.by == nil || len(j.by) >= maxJudged {
		j.by = map[string]label.Label{}
	}
	j.by[x.key()] = l
}

func (j *judgements) forget(x call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.by, x.key())
}

// key identifies a call of a session.
func (x call) key() string { return x.ID + "\x00" + x.Name + "\x00" + string(x.Input) }

// actingTools are the bot's tools that a tainted run loses. It may still ping, report and continue
// its own chain.
var actingTools = []string{toolset.AddReminder, toolset.CancelReminder, toolset.UpdateNames, toolset.SendFile}

// Quiet returns the tool lists for the prompt of a run that starts with untrusted text,
// without the tools that would be refused.
func Quiet(allowed, disallowed []string) (may, mayNot []string) {
	for _, s := range allowed {
		p := parsePattern(tree{"/"}, s)
		if p.tool != "Bash" || p.arg != "" && (onlyReads(p.arg) || onlyReads(strings.TrimSuffix(strings.TrimSuffix(p.arg, "*"), ":"))) {
			may = append(may, s)
		}
	}
	mayNot = Merge(disallowed)
	for _, name := range []string{"Write", "Edit", "NotebookEdit"} {
		may = slices.DeleteFunc(may, func(s string) bool { return parsePattern(tree{"/"}, s).tool == name })
	}
	for _, name := range actingTools {
		mayNot = Merge(mayNot, []string{toolset.Prefix + name})
		may = slices.DeleteFunc(may, func(s string) bool { return s == toolset.Prefix+name })
	}
	return may, mayNot
}

// acts reports whether a call writes, sends files or runs a command.
func acts(x call) bool {
	switch _, known := argumentOf[x.tool]; {
	case x.tool == "Bash":
		return !onlyReads(x.arg)
	case strings.HasPrefix(x.Name, toolset.Prefix):
		return slices.Contains(actingTools, strings.TrimPrefix(x.Name, toolset.Prefix))
	case strings.HasPrefix(x.Name, docsPrefix), x.Name == toolset.Find:
		return false
	default: // an unknown tool may do anything
		return writes(x.tool) || !known
	}
}

// readingCommands are the bot's own commands that change nothing. A run that has read mail
// may read more mail.
var readingCommands = []string{
	"Bash(ollim-bot help)", "Bash(ollim-bot help *)", "Bash(ollim-bot history *)",
	"Bash(ollim-bot routine list *)", "Bash(ollim-bot reminder list *)", "Bash(ollim-bot webhook list *)",
	"Bash(ollim-bot tasks list *)", "Bash(ollim-bot tasks show *)",
	"Bash(ollim-bot cal today *)", "Bash(ollim-bot cal upcoming *)", "Bash(ollim-bot cal show *)",
	"Bash(ollim-bot gmail unread *)", "Bash(ollim-bot gmail read *)", "Bash(ollim-bot gmail search *)", "Bash(ollim-bot gmail labels *)",
}

func onlyReads(command string) bool {
	u := call{tool: "Bash", arg: command}
	return slices.ContainsFunc(readingCommands, func(p string) bool { return parsePattern(tree{"/"}, p).allows(u, tree{"/"}) })
}
