package routines

import (
	"bytes"
	"encoding/json"
	"strings"
)

// check reads the command or MCP tool call that decides whether a fire runs. If it is
// unusable, every fire runs: a mistake must not silence a routine.
func (p *File) check(background bool) string {
	if p.kind != KindRoutine {
		return ""
	}
	text := p.Line("check")
	f := p.Field("check")
	_, _, ok := CheckCall(text)
	switch {
	case f.Key == "":
	case text == "":
		p.AddAt(Warning, f, msgCheckEmpty)
	case !background:
		p.AddAt(Warning, f, msgCheckFront)
		return ""
	case strings.HasPrefix(text, toolPrefix) && !ok:
		p.AddAt(Error, f, msgCheckTool, show(text))
		return ""
	}
	return text
}

// toolPrefix starts the name of every MCP tool.
const toolPrefix = "mcp__"

// CheckCall parses a check that calls an MCP tool with arguments, such as
// mcp__weather__alerts {"area":"x"}. It returns false for any other check.
func CheckCall(check string) (tool string, args json.RawMessage, ok bool) {
	tool, rest, _ := strings.Cut(check, " ")
	parts := strings.SplitN(tool, "__", 3)
	if len(parts) != 3 || parts[0]+"__" != toolPrefix || parts[1] == "" || parts[2] == "" {
		return "", nil, false
	}
	if args = json.RawMessage(strings.TrimSpace(rest)); len(args) == 0 {
		return tool, json.RawMessage("{}"), true
	}
	return tool, args, bytes.HasPrefix(args, []byte("{")) && json.Valid(args)
}
