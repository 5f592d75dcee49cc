package routines

import (
	"bytes"
	"encoding/json"
	"strings"

	"ollimbot/core/storage/frontmatter"
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

// forModels are the keys that have no meaning where no model is asked.
var forModels = []string{"model", "thinking", "isolated", "skills", "subagent", "allowed-tools", "disallowed-tools"}

// says reads whether the check prints the message. What contradicts it is an error: a task that
// asked a model instead would cost money that the user did not mean to spend.
func (p *File) says(t Task) bool {
	if p.kind != KindRoutine || p.Choice("say", "", "check") == "" {
		return false
	}
	f, sound := p.Field("say"), len(p.problems)
	if p.Field("check").Value.Kind == frontmatter.Null {
		p.AddAt(Error, f, msgSayAlone)
	}
	if !t.Background {
		p.AddAt(Error, f, msgSayFront)
	}
	if !t.AllowPing {
		p.AddAt(Error, p.Field("allow-ping"), msgSaySilent)
	}
	for _, key := range forModels {
		if of := p.Field(key); of.Key != "" {
			p.AddAt(Error, of, msgSayModel, key, key)
		}
	}
	return len(p.problems) == sound
}

// Ours says what the original program does otherwise with the routine, one sentence each. Keys that
// only make it fire more often there are not mentioned.
func (r *Routine) Ours() (list []string) {
	if zone := r.Schedule.Ours(); zone != "" {
		list = append(list, zone)
	}
	if r.Says {
		list = append(list, msgSayOurs)
	}
	return list
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
