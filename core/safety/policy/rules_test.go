package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
)

func TestOurOwnListsAreSafe(t *testing.T) {
	for name, list := range map[string][]string{"main": MainTools(), "background": BackgroundTools()} {
		if diff := cmp.Diff(list, Strip(list)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(list, Merge(list, list)); diff != "" {
			t.Errorf("%s says something twice: %s", name, diff)
		}
	}
	if !slices.Contains(MainTools(), "Skill") || BackgroundTools()[0] != "Bash(ollim-bot help)" {
		t.Error("a list lacks what it must have")
	}
}

func TestOurOwnListsNameTheToolsThatTheyAreFor(t *testing.T) {
	main, run := Compile("/x", Rules{Allowed: MainTools()}), Compile("/x", Rules{Allowed: BackgroundTools()})
	for tool, inRuns := range map[string]bool{
		toolset.AddReminder: true, toolset.ListReminders: true, toolset.CancelReminder: true,
		toolset.ProposeReminder: false, toolset.UpdateNames: false, toolset.SendFile: false,
	} {
		if u := toolUse(toolset.Prefix+tool, nil); !main.Allows(u) || run.Allows(u) != inRuns {
			t.Errorf("%s: in a conversation %t, in a run %t", tool, main.Allows(u), run.Allows(u))
		}
	}
}

func TestUnsafePatternsAreStripped(t *testing.T) {
	got := Strip([]string{"Write(**)", "Write(**.md)", "Edit(state/x)", "Edit(notes/**)", "Bash(*)", "Read(**)", "Read(*)"})
	if diff := cmp.Diff([]string{"Write(**.md)", "Edit(notes/**)", "Read(**)", "Read(*)"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMergingIsAUnionInOrder(t *testing.T) {
	list := rapid.SliceOf(rapid.SampledFrom([]string{"Read", "Glob", "Task", "", " ", "Web "}))
	testkit.Check(t, func(t *rapid.T) {
		a, b := list.Draw(t, "a"), list.Draw(t, "b")
		ab := Merge(a, b)
		var first []string // of each
		for _, p := range append(slices.Clone(a), b...) {
			if p = strings.TrimSpace(p); p != "" && !slices.Contains(first, p) {
				first = append(first, p)
			}
		}
		if !slices.Equal(first, ab) {
			t.Fatalf("%q and %q are merged to %q", a, b, ab)
		}
		if diff := cmp.Diff(ab, Merge(ab, a, b)); diff != "" {
			t.Fatalf("merging again changes it: %s", diff)
		}
		if diff := cmp.Diff(ab, Merge(Merge(a), Merge(b))); diff != "" {
			t.Fatalf("not associative: %s", diff)
		}
	})
}

// Disallowed calls stay disallowed, whatever else is allowed.
func TestDisallowedBeatsAllowed(t *testing.T) {
	root := t.TempDir()
	patterns := rapid.SliceOf(rapid.SampledFrom([]string{"Bash", "Bash(ls *)", "Read", "Read(./**)", "mcp__docs", "Task"}))
	testkit.Check(t, func(t *rapid.T) {
		r := Rules{Allowed: patterns.Draw(t, "allowed"), Disallowed: patterns.Draw(t, "disallowed")}
		u := rapid.SampledFrom([]agent.ToolUse{bash("ls -l"), file("Read", "a.md"), toolUse("mcp__docs__x", nil)}).Draw(t, "use")
		if s := Compile(root, r); s.Forbids(u) && s.Allows(u) {
			t.Fatalf("%+v both allows and forbids %s", r, u.Name)
		}
	})
}

func TestAPatternThatNeedsGoogleNamesItsCommand(t *testing.T) {
	for pattern, want := range map[string]string{
		"Bash(ollim-bot tasks *)": "tasks", "Bash(ollim-bot cal:*)": "cal", "Bash(ollim-bot gmail read *)": "gmail", "Task(gmail-reader)": "gmail",
		"Agent(gmail-reader)": "gmail", "Agent(user-proxy)": "", "Agent": "", "Bash(ollim-bot help)": "", "Bash(tasks)": "", "Read(gmail-reader)": "",
	} {
		if got := NeedsGoogle(pattern); got != want {
			t.Errorf("%s needs %q, want %q", pattern, got, want)
		}
	}
}

func TestAListenerHearsOnlyOfLabelsThatChange(t *testing.T) {
	var heard []string
	taint := &Taint{Changed: func(l label.Label) { heard = append(heard, string(l)) }}
	for _, do := range []func(){taint.Clear, func() { taint.Read("") }, func() { taint.Read("mail") }, func() { taint.Read("web page") }, taint.Clear, taint.Clear} {
		do()
	}
	if diff := cmp.Diff([]string{"mail", ""}, heard); diff != "" {
		t.Error(diff)
	}
}
