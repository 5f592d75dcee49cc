package claude

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/agent/claude/wire"
	"ollimbot/core/base/clean"
)

// server is the name under which the bot's tools are served.
const server = "discord"

// offered are the command's own tools that a model gets, in the order of their
// names; what a version has beyond them (its schedulers, task lists, questions on
// a terminal, work in the background) stays away, of later versions too. Glob
// and Grep exist only because they are named here. The list is the same for every
// run: tools are part of the prompt's prefix, and an equal prefix is what forks
// share the prompt cache by.
var offered = []string{"Agent", "Bash", "Edit", "Glob", "Grep", "Read", "Skill", "WebFetch", "WebSearch", "Write"}

// overrides are settings that take away what no variable does: a skill of the
// command's that stays when its bundled skills are off (2.1.330), and instructions in
// folders of the data directory. A command of the model's could leave them there, and
// they would be obeyed as the user's when a file beside them is read.
func overrides(dir string) string {
	below := literal(filepath.Clean(dir)) + "/!(.claude)/**/"
	text, _ := json.Marshal(map[string]any{ // it has nothing that cannot be written
		"skillOverrides":   map[string]string{"plugin-authoring": "off"},
		"claudeMdExcludes": []string{below + "CLAUDE.md", below + "CLAUDE.local.md", below + ".claude/**"},
	})
	return string(text)
}

// literal is a path as a pattern that matches it alone.
func literal(path string) string { return globSigns.Replace(path) }

var globSigns = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, "(", `\(`, ")", `\)`, "!", `\!`, "+", `\+`, "@", `\@`, "|", `\|`)

// args are the flags of a process. What a run may do
// is no part of them: its hooks and its permission callback decide that, and the
// bot's own tools decide by themselves. The system prompt goes into the
// handshake, because flags can be read by every user of the machine.
func args(o agent.SessionOptions, id string) []string {
	a := []string{
		"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
		"--include-partial-messages", "--replay-user-messages", "--permission-prompt-tool", "stdio",
		"--strict-mcp-config", "--allowedTools", "mcp__" + server, "--permission-mode", permissionMode(o.Settings.Mode),
	}
	if o.Bare {
		a = append(a, "--tools", "", "--setting-sources=", "--disable-slash-commands", "--no-session-persistence")
	} else {
		a = append(a, "--tools", strings.Join(offered, ","), "--setting-sources=project", "--settings", overrides(o.Dir))
	}
	// A session that is resumed without a model takes the one of its history, and
	// older versions write that down without its long context (2.1.197).
	a = append(a, "--model", cmp.Or(o.Settings.Model, "default"))
	switch t := o.Settings.Thinking; t {
	case "":
	case "off":
		a = append(a, "--thinking", "disabled")
	case "adaptive":
		a = append(a, "--thinking", "adaptive")
	default:
		a = append(a, "--max-thinking-tokens", t)
	}
	if o.Resume != "" {
		a = append(a, "--resume", o.Resume)
	}
	switch {
	case o.Resume == "":
		a = append(a, "--session-id", id)
	case o.Fork:
		a = append(a, "--fork-session", "--session-id", id)
	}
	return a
}

// permissionMode is the mode for the CLI. To bypass permissions is for our own
// callback, which then allows everything: the CLI refuses that mode to root.
func permissionMode(mode string) string {
	if mode == "" || mode == "bypassPermissions" {
		return "default"
	}
	return mode
}

// adaptiveTokens is the budget that the command itself takes where nobody has set
// one. Models that measure by themselves ignore it.
const adaptiveTokens = 31999

// thinkingTokens is what set_max_thinking_tokens takes for a setting, 0 for none.
// It has a null too, which goes back to what the process was started with.
func thinkingTokens(thinking string) (tokens int, ok bool) {
	switch thinking {
	case "adaptive":
		return adaptiveTokens, true
	case "off":
		return 0, true
	}
	n, err := strconv.Atoi(thinking)
	return n, err == nil && n >= 0
}

// content is a message as blocks: images first, then its text, then
// sessionfile.LastBlock, so that the last block is never the user's.
// A command of the engine stands alone and in one line.
func content(m agent.Message) []wire.Block {
	if m.Command != "" {
		text := "/" + string(m.Command)
		if arg := strings.TrimSpace(clean.Line(m.Text)); arg != "" {
			text += " " + arg
		}
		return []wire.Block{wire.TextBlock(text)}
	}
	blocks := make([]wire.Block, 0, len(m.Images)+2)
	for _, i := range m.Images {
		blocks = append(blocks, wire.ImageBlock(i.MediaType, i.Data))
	}
	if m.Text != "" {
		blocks = append(blocks, wire.TextBlock(m.Text))
	}
	return append(blocks, wire.TextBlock(sessionfile.LastBlock))
}
