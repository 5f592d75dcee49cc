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

// server is the name of the MCP server with the bot's tools.
const server = "discord"

// offered lists the CLI's own tools for a model, sorted by name. All others are left out
// (schedulers, task lists, terminal questions, background work), including those of later versions.
// Glob and Grep exist only if they are listed. The list is the same for every run, because forks
// share the prompt cache only if their prefixes are equal.
var offered = []string{"Agent", "Bash", "Edit", "Glob", "Grep", "Read", "Skill", "WebFetch", "WebSearch", "Write"}

// overrides returns settings that have no environment variable: they disable a skill that remains
// when bundled skills are off (2.1.330).
func overrides(dir string) string {
	below := literal(filepath.Clean(dir)) + "/!(.claude)/**/"
	text, _ := json.Marshal(map[string]any{ // all values can be encoded
		"skillOverrides":   map[string]string{"plugin-authoring": "off"},
		"claudeMdExcludes": []string{below + "CLAUDE.md", below + "CLAUDE.local.md", below + ".claude/**"},
	})
	return string(text)
}

// literal escapes a path so that the pattern matches only that path.
func literal(path string) string { return globSigns.Replace(path) }

var globSigns = strings.NewReplacer(
	`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, "(", `\(`, ")", `\)`, "!", `\!`, "+", `\+`, "@", `\@`, "|", `\|`,
)

// args returns the flags of a process. They do not restrict the run: its hooks, its permission
// callback and the bot's tools do. The system prompt is sent in the handshake, because every user
// of the machine can read the flags.
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
	// A session resumed without a model would use the one in its history, which older versions
	// store without its long context (2.1.197).
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

// permissionMode returns the CLI's mode. The bot's own callback implements bypassPermissions,
// because the CLI refuses that mode to root.
func permissionMode(mode string) string {
	if mode == "" || mode == "bypassPermissions" {
		return "default"
	}
	return mode
}

// adaptiveTokens is the CLI's own default budget. Adaptive models ignore it.
const adaptiveTokens = 31999

// thinkingTokens returns the value of set_max_thinking_tokens for a setting, 0 for none. Its null
// would restore the process's initial value.
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

// content returns a message as blocks: images, text, then sessionfile.LastBlock, so that the last
// block is never the user's. A command of the engine is sent alone on one line.
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
