package fork

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/toolset"
)

// permit decides which tools a background run may use: what a pattern of
// Allowed names and none of Disallowed, and never a write under state/
// (decisions, B2, B3, B4, C13). The bot's own tools decide for themselves.
type permit struct {
	root                string // the data directory
	allowed, disallowed []pattern
}

func newPermit(root string, allowed, disallowed []string) permit {
	p := permit{root: root}
	for _, s := range allowed {
		p.allowed = append(p.allowed, parsePattern(root, s))
	}
	for _, s := range disallowed {
		p.disallowed = append(p.disallowed, parsePattern(root, s))
	}
	return p
}

// preTool answers both the PreTool hook and the permission callback: patterns
// that an engine allows by itself pass the hook only.
func (r *run) preTool(_ context.Context, u agent.ToolUse) (d agent.Decision) {
	defer func() {
		if p := recover(); p != nil {
			r.m.log.Error("permission check failed", "run", r.id, "fault", fmt.Sprint(p))
			d = agent.Decision{Reason: answerNoPermit}
		}
	}()
	return r.permit().decide(u)
}

func (p permit) decide(u agent.ToolUse) agent.Decision {
	use := readUse(u)
	if writes(u.Name) && p.protected(use.path) {
		return agent.Decision{Reason: answerProtected}
	}
	for _, d := range p.disallowed {
		if d.forbids(use, p.root) {
			return agent.Decision{Reason: fmt.Sprintf(answerDisallowed, u.Name)}
		}
	}
	if strings.HasPrefix(u.Name, toolset.Prefix) {
		return agent.Decision{Allow: true}
	}
	for _, a := range p.allowed {
		if a.allows(use, p.root) {
			return agent.Decision{Allow: true}
		}
	}
	return agent.Decision{Reason: fmt.Sprintf(answerUnavailable, u.Name)}
}

// use is a tool call as patterns see it.
type use struct {
	tool string
	arg  string // the argument that patterns of this tool look at
	path string // the same for tools that touch a file
}

// argumentOf names the input field that a tool's patterns look at.
var argumentOf = map[string]string{
	"Bash": "command", "Read": "file_path", "Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path",
	"NotebookEdit": "notebook_path", "Glob": "pattern", "Grep": "glob", "WebFetch": "url", "WebSearch": "query",
	"Skill": "skill", "Task": "subagent_type",
}

func readUse(u agent.ToolUse) use {
	x := use{tool: toolName(u.Name)}
	var input map[string]any
	if json.Unmarshal(u.Input, &input) != nil {
		return x
	}
	text := func(key string) string { s, _ := input[key].(string); return s }
	x.arg = text(argumentOf[x.tool])
	switch x.tool {
	case "Read", "Write", "Edit", "MultiEdit", "NotebookEdit":
		x.path = x.arg
	case "Glob", "Grep":
		x.path = filepath.Join(text("path"), x.arg)
	case "Skill":
		if x.arg == "" {
			x.arg = text("command")
		}
	}
	return x
}

// toolName takes both names of the delegation tool for one (decisions, A17).
func toolName(name string) string {
	if name == "Agent" {
		return "Task"
	}
	return name
}

func writes(tool string) bool {
	switch tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		return true
	}
	return false
}

// protected reports whether a path lies in the data directory's state folder,
// by name or by where its symbolic links lead. A path that cannot be read is
// protected.
func (p permit) protected(path string) bool {
	if path == "" {
		return true
	}
	full := p.absolute(path)
	state := filepath.Join(p.root, "state")
	if inside(full, state) {
		return true
	}
	target, ok := resolve(full)
	if !ok {
		return true
	}
	realState, ok := resolve(state)
	if !ok || inside(target, realState) {
		return true
	}
	// The same folder under another spelling, where names ignore case.
	info, err := os.Stat(realState)
	if err != nil {
		return false
	}
	for dir := target; ; dir = filepath.Dir(dir) {
		if at, err := os.Stat(dir); err == nil && os.SameFile(at, info) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func (p permit) absolute(path string) string { return absolute(p.root, path) }

func absolute(root, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(root, path)
}

// resolve follows the symbolic links of the longest part of a path that
// exists, dangling ones too.
func resolve(path string) (string, bool) {
	rest := ""
	for range 64 {
		if followed, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(followed, rest), true
		}
		if target, err := os.Readlink(path); err == nil {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(path), target)
			}
			path = target
			continue
		}
		parent := filepath.Dir(path)
		if parent == path {
			return filepath.Join(path, rest), true
		}
		rest = filepath.Join(filepath.Base(path), rest)
		path = parent
	}
	return "", false // a loop of links
}

func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)))
}
