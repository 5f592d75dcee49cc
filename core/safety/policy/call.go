package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/base/visible"
	"ollimbot/core/brief/toolset"
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
