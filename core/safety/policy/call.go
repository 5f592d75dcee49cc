package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ollimbot/core/agent"
	"ollimbot/core/base/visible"
	"ollimbot/core/brief/skill"
	"ollimbot/core/brief/toolset"
	"ollimbot/routines"
)

// call is a tool call as patterns see it.
type call struct {
	agent.ToolUse
	digest string // of the call as the engine will run it
	tool   string
	arg    string // the argument that this tool's patterns match
	path   string // the same for tools that touch a file; "" if it is unclear which file
	// folder is where a search begins.
	folder string
	// args are the arguments of a skill.
	args string
	// apart means that a subagent is to work on a copy of the repository.
	apart bool
	// command is the shell command that a tool would run: Bash, or what other engines call it
	// (Monitor, PowerShell).
	command string
	keys    []string // the names of all arguments
	// others are the paths in the input of an unknown tool, which may write them.
	others []string
}

// argumentOf names the input field that a tool's patterns match.
var argumentOf = map[string]string{
	"Bash": "command", "Read": "file_path", "Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path",
	"NotebookEdit": "notebook_path", "Glob": "pattern", "Grep": "glob", "WebFetch": "url", "WebSearch": "query",
	"Skill": "skill", "Task": "subagent_type",
}

// call parses a call. A call of a server's tool through the tool search counts as that tool's. A
// search that names a file searches that file, whatever its glob says.
func (t tree) call(u agent.ToolUse) call {
	digest := u.Digest()
	u = toolset.Unwrap(u)
	x := call{ToolUse: u, digest: digest, tool: toolName(u.Name)}
	var input map[string]any
	if json.Unmarshal(u.Input, &input) != nil {
		return x
	}
	x.keys = slices.Collect(maps.Keys(input))
	text := func(key string) string { s, _ := input[key].(string); return s }
	x.arg = text(argumentOf[x.tool])
	_, known := argumentOf[x.tool]
	switch {
	case x.tool == "Glob" || x.tool == "Grep":
		x.folder = text("path")
		x.path = searched(x.tool, x.folder, x.arg)
		if info, err := os.Stat(t.absolute(x.folder)); x.folder != "" && err == nil && !info.IsDir() {
			x.path = x.folder
		}
	case touchesFiles(x.tool):
		x.path = x.arg
	case x.tool == "Bash":
		x.command = x.arg
	case x.tool == "Task":
		x.apart = text("isolation") != ""
	case x.tool == "Skill":
		if x.arg == "" {
			x.arg = text("command")
		}
		x.args = text("args")
	case !known && !strings.HasPrefix(u.Name, "mcp__"):
		x.command = text("command")
		for _, key := range []string{"file_path", "notebook_path", "path"} {
			if p := text(key); p != "" {
				x.others = append(x.others, p)
			}
		}
	}
	return x
}

// exact returns the rule for this one command, or empty for a call that runs none. The command's
// description and timeout do not count.
func (x call) exact() string {
	var input map[string]json.RawMessage
	if x.command == "" || json.Unmarshal(x.Input, &input) != nil {
		return ""
	}
	delete(input, "description")
	delete(input, "timeout")
	rule, err := json.Marshal(input)
	if err != nil {
		return ""
	}
	return x.tool + " " + string(rule)
}

// allow returns the decision that lets exactly this call run.
func (x call) allow() agent.Decision { return agent.Decision{Allow: true, Digest: x.digest} }

// unclear returns why a call cannot be judged by what a person would see of it, or "".
func (x call) unclear() string {
	parts := append([]string{x.command, x.path, x.folder}, x.others...)
	if x.tool == "WebFetch" || x.tool == "Glob" || x.tool == "Grep" {
		parts = append(parts, x.arg)
	}
	for _, part := range parts {
		if what := visible.Hidden(part); what != "" {
			return fmt.Sprintf(answerHidden, what)
		}
	}
	seen := map[string]bool{}
	for _, key := range x.keys {
		if key = strings.ToLower(key); seen[key] {
			return fmt.Sprintf(answerTwice, visible.Line(key))
		}
		seen[key] = true
	}
	return ""
}

// request returns the approval request for a call.
func (t tree) request(x call, session string) Request {
	asks, text := toolset.Question(x.Name, x.Input, t.shown)
	return Request{
		Question: asks, Text: text, Call: toolset.Label(x.Name, x.Input), Digest: x.digest, Tool: x.Name, Command: x.exact(), Session: session,
	}
}

// searched returns the only path that a search can visit, or "" if the glob may match several or
// leads elsewhere: lists, alternatives with "..", exclusions.
func searched(tool, folder, glob string) string {
	if tool == "Grep" && (strings.ContainsAny(glob, " \t\r\n,{}") || strings.HasPrefix(glob, "!")) {
		return ""
	}
	if strings.Contains(glob, "{") && strings.Contains(glob, "..") {
		return ""
	}
	if filepath.IsAbs(glob) || strings.HasPrefix(glob, "~") {
		return glob
	}
	return filepath.Join(folder, glob)
}

// toolName maps both names of the delegation tool to one.
func toolName(name string) string {
	if name == "Agent" {
		return "Task"
	}
	return name
}

func writes(tool string) bool {
	return slices.Contains([]string{"Write", "Edit", "MultiEdit", "NotebookEdit"}, tool)
}

func touchesFiles(tool string) bool {
	return writes(tool) || slices.Contains([]string{"Read", "Glob", "Grep"}, tool)
}

const (
	// mostCommand is how long a command without a known end counts as running: no engine lets a
	// foreground command run longer.
	mostCommand = 10 * time.Minute
	// stampSlack is how far a file system's time stamp may lag behind the clock.
	stampSlack = 20 * time.Millisecond
)

// commands are the running shell commands of sessions. Files that change while one runs count as
// its work, because a shell can write anywhere. A user who saves a powerful task at that moment is
// asked about it unnecessarily.
type commands struct {
	mu sync.Mutex
	// by is the start of each. A command that fails does not report its end, so it is forgotten
	// with its turn, or after mostCommand.
	by map[command]time.Time
	// texts are the task files as they were before the running commands, by path.
	texts map[string][]byte
}

type command struct {
	of   *Session
	call string
}

func (c *commands) begin(s *Session, call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[command]time.Time{}
	}
	if _, runs := c.by[command{s, call}]; !runs {
		c.by[command{s, call}] = time.Now()
	}
}

// end forgets commands.
func (c *commands) end(which func(command) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.by, func(one command, _ time.Time) bool { return which(one) })
	if len(c.by) == 0 {
		c.texts = nil
	}
}

// now returns a copy of the running commands.
func (c *commands) now() map[command]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.by)
}

// wrote returns a session whose command may have written what was just read from a file, or nil. Of several it is one that
// may not do what the file grants, if there is one: a run with more rights does not vouch for what another one writes
// meanwhile.
func (g *Guard) wrote(rel string, data []byte) (s *Session) {
	at, ok := g.reach.changedAt(rel) // after the read, because it may have changed since
	if !ok {
		return nil
	}
	for one, from := range g.commands.now() {
		if at.Before(from.Add(-stampSlack)) || !at.Before(from.Add(mostCommand)) {
			continue
		}
		s = one.of
		if f, ok := g.drafted(s.Writer(), rel, data); ok && len(f.excess) > 0 {
			return s
		}
	}
	return s
}

// Rest ends a turn of the conversation: the files that its commands wrote are recorded, and later
// files are not attributed to them.
func (g *Guard) Rest() {
	rested := map[*Session]bool{}
	for one := range g.commands.now() {
		if one.of.scope.Kind != Background && !rested[one.of] {
			rested[one.of] = true
			one.of.claimWritten()
		}
	}
	g.commands.end(func(one command) bool { return rested[one.of] })
}

// End is Rest for the session of a finished background run.
func (s *Session) End() {
	s.claimWritten()
	s.g.commands.end(func(one command) bool { return one.of == s })
}

// claimWritten records what a session's commands have written so far.
func (s *Session) claimWritten() {
	var since time.Time // its first command
	for one, from := range s.g.commands.now() {
		if one.of == s && (since.IsZero() || from.Before(since)) {
			since = from
		}
	}
	if since.IsZero() {
		return
	}
	for _, rel := range s.g.reach.grantingFiles() {
		at, ok := s.g.reach.changedAt(rel)
		if !ok || at.Before(since.Add(-stampSlack)) || at.After(since.Add(mostCommand)) {
			continue
		}
		data, err := s.g.o.Dir.Read(rel)
		if err != nil {
			continue
		}
		if o, known := s.g.provenance.Find(rel, routines.Digest(data)); known && (!o.approvedIn(rel) || !o.rewritten(at)) {
			continue
		}
		if by := s.g.wrote(rel, data); by != nil {
			by.claimAloud(rel, data)
		}
	}
}

// changedAt returns the change time of a file, which programs cannot set, unlike its
// modification time.
func (r *reach) changedAt(rel string) (time.Time, bool) {
	var s unix.Stat_t
	if err := unix.Stat(r.dir.Path(rel), &s); err != nil {
		return time.Time{}, false
	}
	return time.Unix(s.Ctim.Unix()), true
}

// grantingFiles returns all task files, webhooks and skills.
func (r *reach) grantingFiles() []string {
	var list []string
	for _, folder := range []string{routines.RoutineFolder, routines.ReminderFolder, webhookFolder} {
		for _, e := range r.entries(folder) {
			if routines.IsTaskFile(e.Name()) {
				list = append(list, folder+"/"+e.Name())
			}
		}
	}
	for _, e := range r.entries(skill.Folder) {
		list = append(list, path.Join(skill.Folder, e.Name(), skill.File))
	}
	return list
}

func (r *reach) entries(folder string) []os.DirEntry {
	entries, err := os.ReadDir(r.dir.Path(folder))
	if err != nil { // the folder is missing
		return nil
	}
	return entries
}
