package policy

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/toolset"
	"ollimbot/routines"
)

// Taint records whether a run has read untrusted text. From then on it may not write tasks
// or files, send files or run commands: the text may have talked it into anything, and no
// user is watching. The zero Taint has read nothing. It is safe for concurrent use.
type Taint struct {
	// Trusted means that the user's own file lets the run keep its tools.
	Trusted bool
	// Changed is called once, with what was read. It must not block and may be nil.
	Changed func(why string)

	mu  sync.Mutex
	why string
}

// NewTaint returns the taint of a run that starts with untrusted text.
func NewTaint(why string) *Taint { return &Taint{why: why} }

// Why returns what was read, "" for nothing.
func (t *Taint) Why() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.why
}

// read records what a run is about to read.
func (t *Taint) read(why string) {
	t.mu.Lock()
	first := t.why == ""
	if first {
		t.why = why
	}
	t.mu.Unlock()
	if first && t.Changed != nil {
		t.Changed(why)
	}
}

// tainted returns why a tainted run may not make a call, or "".
func (g *Guard) tainted(t *Taint, x call) string {
	why := t.Why()
	if why == "" || t.Trusted || !g.acts(x) {
		return ""
	}
	return fmt.Sprintf(answerTainted, clean.Cut(clean.Line(x.Name), 80), why)
}

// actingTools are the bot's tools that a tainted run loses. It may still ping, report and
// continue its own chain.
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
func (g *Guard) acts(x call) bool {
	switch _, known := argumentOf[x.tool]; {
	case x.tool == "Bash":
		return !onlyReads(x.arg)
	case strings.HasPrefix(x.Name, "mcp__"):
		return slices.ContainsFunc(actingTools, func(name string) bool { return x.Name == toolset.Prefix+name })
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

// strange describes the untrusted text that a call reads; "" for none.
func (g *Guard) strange(x call) string {
	switch x.tool {
	case "WebFetch", "WebSearch":
		return taintWeb
	case "Read", "Grep":
		if x.path != "" && g.downloaded(x.path) || x.path == "" && len(g.entries(downloadFolder)) > 0 {
			return taintDownloads
		}
	default:
		command := strings.Join(strings.Fields(x.command), " ")
		if strings.Contains(command, "ollim-bot gmail") {
			return taintMail
		}
		if strings.Contains(command, "://") || strings.HasPrefix(command, "curl ") || strings.HasPrefix(command, "wget ") {
			return taintWeb
		}
	}
	if server, ok := strings.CutPrefix(x.Name, "mcp__"); ok && !strings.HasPrefix(x.Name, toolset.Prefix) && !strings.HasPrefix(server, "docs__") {
		name, _, _ := strings.Cut(server, "__")
		return fmt.Sprintf(taintServer, clean.Cut(clean.Line(name), 40))
	}
	return ""
}

// downloadFolder contains files that others sent.
const downloadFolder = "downloads"

// downloaded reports whether a path or a glob leads into downloads/, by its name or
// through links.
func (g *Guard) downloaded(path string) bool {
	places, ok := g.tree.places(path)
	if !ok {
		return true
	}
	for _, full := range append(places, g.tree.absolute(path)) {
		rel, ok := g.tree.within(full)
		if !ok {
			continue
		}
		first, _, _ := strings.Cut(strings.ToLower(rel), "/")
		if first == downloadFolder {
			return true
		}
		if strings.ContainsAny(first, "*?[{") && routines.Glob(first).MatchString(downloadFolder) && len(g.entries(downloadFolder)) > 0 {
			return true // a search that passes through it
		}
	}
	return false
}
