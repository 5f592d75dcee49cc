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

// Taint is whether a run has read what strangers write: from then on it keeps no
// tool that writes tasks or files, sends files or runs commands. A stranger's words
// may have talked it into anything; nobody sits in front of it who would notice.
// The zero Taint has read nothing. It is safe for concurrent use.
type Taint struct {
	// Trusted says that the user's own file lets the run keep its tools.
	Trusted bool
	// Changed is called once, with what was read; it must not block. Nil is fine.
	Changed func(why string)

	mu  sync.Mutex
	why string
}

// NewTaint is the taint of a run that begins with strangers' words.
func NewTaint(why string) *Taint { return &Taint{why: why} }

// Why is what was read, "" while nothing was.
func (t *Taint) Why() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.why
}

// read notes what a run is about to read.
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

// tainted is why a run may not do something any more, or "".
func (g *Guard) tainted(t *Taint, x call) string {
	why := t.Why()
	if why == "" || t.Trusted || !g.acts(x) {
		return ""
	}
	return fmt.Sprintf(answerTainted, clean.Cut(clean.Line(x.Name), 80), why)
}

// actingTools are those of the bot that a tainted run loses. It may still tell its
// user, report, and go on with its own chain.
var actingTools = []string{toolset.AddReminder, toolset.CancelReminder, toolset.UpdateNames, toolset.SendFile}

// Quiet is what a run is told that begins with strangers' words: what it may use
// without the tools that it will be refused.
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
	default: // a tool that is not known here may do anything
		return writes(x.tool) || !known
	}
}

// readingCommands are the bot's own commands that change nothing. Mail may be read
// on by who has read mail.
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

// strange is what a call reads of strangers, in a few words; "" for nothing.
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

// downloadFolder is where files lie that others have sent.
const downloadFolder = "downloads"

// downloaded reports whether a path or a glob reaches into downloads/, by its name
// or where its links lead.
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
