package tools

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestASubagentIsWhatItsFileSays(t *testing.T) {
	g := newGround(t, map[string]string{
		".claude/agents/reader.md": "---\nname: mail-reader\ndescription: Reads mail.\nmodel: haiku\ntools:\n  - \"Bash(ollim-bot gmail *)\"\n---\nYou read mail.\n",
		".claude/agents/plain.md":  "---\ndescription: Plain.\nmodel: inherit\ntools: Read, Grep\n---\nPlain.\n", ".claude/agents/bare.md": "no front matter",
		".claude/agents/none.md": "---\nname: none\ntools: []\n---\nNothing.\n", "secret": "marigold",
	})
	g.link("../../secret", ".claude/agents/link.md")
	g.refused("Agent", with{"description": "x", "prompt": "y"}, "Subagents are not available here")
	var got []Subagent
	g.open(Options{Dir: g.dir, Agent: func(_ context.Context, s Subagent) Result {
		got = append(got, s)
		return Result{Text: "done by " + s.Type}
	}})
	for _, of := range []any{"mail-reader", "PLAIN", "none", nil, "general-purpose"} {
		fields := with{"description": "look at\nmail", "prompt": "Look."}
		if of != nil {
			fields["subagent_type"] = of
		}
		g.does("Agent", fields)
	}
	want := []Subagent{
		{"mail-reader", "look at mail", "Look.", "You read mail.", "haiku", []string{"Bash(ollim-bot gmail *)"}},
		{"plain", "look at mail", "Look.", "Plain.", "", []string{"Read", "Grep"}},
		{"none", "look at mail", "Look.", "Nothing.", "", []string{}},
		{general, "look at mail", "Look.", "", "", nil},
		{general, "look at mail", "Look.", "", "", nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	g.refused("Agent", with{"description": "x", "prompt": "y", "subagent_type": "link"}, "- mail-reader: Reads mail.")
	g.refused("Agent", with{"description": "x", "prompt": "y", "isolation": "worktree"}, "isolation is no field")
}

func TestASearchAsksTheProvider(t *testing.T) {
	g := newGround(t, nil)
	var asked []Query
	g.open(Options{Dir: g.dir, Search: func(_ context.Context, q Query) Result {
		asked = append(asked, q)
		return Result{Text: "found"}
	}})
	g.does("WebSearch", with{"query": "plums", "allowed_domains": []any{"example.org"}})
	g.does("WebSearch", with{"query": "figs"})
	g.refused("WebSearch", with{"query": "x y", "allowed_domains": []any{"a.org"}, "blocked_domains": []any{"b.org"}}, "not both")
	if fmt.Sprint(asked) != "[{plums [example.org] []} {figs [] []}]" {
		t.Errorf("%v", asked)
	}
	want := `{"type":"web_search_20250305","name":"web_search","max_uses":8,"allowed_domains":["example.org"]}`
	if got := string(asked[0].Definition("web_search_20250305")); got != want {
		t.Errorf("%s", got)
	}
}
