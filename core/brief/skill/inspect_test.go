package skill

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
)

func TestWhatASkillDoesIsSeen(t *testing.T) {
	for _, tt := range []struct {
		name, text         string
		commands, mentions []string
	}{
		{"words", "Write to a@example.com, `@here` and !important `x`.", nil, nil},
		{"a command", "It is !`date` now.", []string{"!`date`"}, nil},
		{"hidden marks", "!\x07`a` !\x1b[1m`b` !\u200b`c`", []string{"!`a`", "!`b`", "!`c`"}, nil},
		{"a block", "x\n```!\nls\n```", []string{"```!"}, nil},
		{"a block in a line", "x ```! ls```", []string{"```!"}, nil},
		{"mentions", "See @.env, (@a/b) and @\"c d\".", nil, []string{".env,", "a/b)", "c d"}},
		{"a mention of a line", "\n@.env#L3", nil, []string{".env#L3", ".env"}},
		{"behind other spaces", "x\u00a0@.env\ufeff@b", nil, []string{".env", "b", ".env@b"}},
	} {
		in := Inspect([]byte(tt.text))
		if diff := cmp.Diff(tt.commands, unique(in.Commands)); diff != "" {
			t.Errorf("%s: commands %s", tt.name, diff)
		}
		run := slices.DeleteFunc(slices.Clone(tt.commands), func(c string) bool { return !strings.HasPrefix(c, marked) })
		if got := Commands(clean.Text(tt.text)); strings.Join(run, "") != strings.Join(marker().FindAllString(marked+strings.Join(got, "`"+marked)+"`", -1), "") {
			t.Errorf("%s: %q would run", tt.name, got)
		}
		if diff := cmp.Diff(tt.mentions, unique(in.Mentions)); diff != "" {
			t.Errorf("%s: mentions %s", tt.name, diff)
		}
	}
}

func TestAnAgentMayNotWriteASkillThatReachesPastTheRules(t *testing.T) {
	reaches := func(key string) string {
		return key + " in a skill's front matter reaches past the bot's rules, so only the user may write it: leave it out, and say what it would be for"
	}
	for keys, want := range map[string]string{
		"name: x": "", "hooks: x": reaches("hooks"), "mcp_servers: x": reaches("mcp-servers"), "PermissionMode: x": reaches("PermissionMode"), "<<: {a: b}": reaches("<<"),
		"allowed-tools: Read": "allowed-tools must be a list; write each pattern on its own line after a hyphen (the skill is used without tools)", "tools: [Read, Bash(ls)]": "", "tools:": "",
		"tools: [Read, Bash(*)]": `"Bash(*)" is too broad: it allows every command; name the command, for example Bash(ollim-bot tasks *) (it is left out)`, "tools: [[Read]]": "empty tool pattern; write a tool's name, or delete the entry (it is left out)",
	} {
		if got := Inspect([]byte("---\n" + keys + "\n---\nText")); got.Problem != want || got.Head == "" {
			t.Errorf("%s: %q with the head %q, want %q", keys, got.Problem, got.Head, want)
		}
	}
	if got := Inspect([]byte("Text")); got.Problem != textUnwritable || got.Head != "" {
		t.Errorf("without front matter: %+v", got)
	}
}

func unique(list []string) (out []string) {
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			out = append(out, s)
		}
		seen[s] = true
	}
	return out
}

// Expand runs nothing that Inspect does not report, whatever the file contains.
func TestNothingRunsThatWasNotSeen(t *testing.T) {
	testkit.Alone(t)
	dir := t.TempDir()
	made := filepath.Join(dir, "made")
	piece := rapid.SampledFrom([]string{
		"!", "`", "!`", "touch made", "\n", "\r\n", "\a", "\x1b[1m", "\x1b]", "\u200b", "\ufeff", "---\n", "name: x\n", "description: x\n", " ", "\\", "\x9b", "\x00",
	})
	testkit.Check(t, func(t *rapid.T) {
		data := "---\nname: x\ndescription: x\n---\n" + strings.Join(rapid.SliceOfN(piece, 1, 12).Draw(t, "pieces"), "")
		s, _, ok := Parse("x", []byte(data))
		if !ok {
			return
		}
		expander{dir: dir, each: eachTime, total: TotalTime}.expand(context.Background(), s.Body)
		if _, err := os.Stat(made); err != nil {
			return
		}
		if err := os.Remove(made); err != nil {
			t.Fatal(err)
		}
		for _, c := range Inspect([]byte(data)).Commands {
			if strings.Contains(clean.Line(c), "touch made") {
				return
			}
		}
		t.Fatalf("a command ran that was not seen: %q", data)
	})
}
