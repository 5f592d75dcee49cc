package routines

import "testing"

func TestAPlaceIsNamedAsTheUserKnowsIt(t *testing.T) {
	for want, p := range map[string]Problem{
		`the routine "tea", line 3`:    {File: "routines/tea.md", Line: 3, Column: 7},
		`the webhook "parcel"`:         {File: "webhooks/parcel.md"},
		`the skill "day plan", line 2`: {File: "skills/day plan/SKILL.md", Line: 2},
		"the list of keys, line 4":     {File: "~/.config/ollim-bot/keys.yaml", Line: 4},
		"the list of MCP servers":      {File: ".mcp.json"},
		"routines":                     {File: "routines"},
		"notes.md, line 1":             {File: "/home/ana/notes.md", Line: 1},
	} {
		if got := p.Place(); got != want {
			t.Errorf("%+v is in %q, want %q", p, got, want)
		}
	}
}
