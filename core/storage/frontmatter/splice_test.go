package frontmatter

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
)

const users = `---
# my water routine
id: 12345678
cron: "0 9 * * *"   # every morning
allow_ping: true # for now
unknown-key: "a newer version wrote this"
skills:
  # first
  - a
  - b
  # about the next key

description: |
  one
  # not a comment
# the end
---

Drink.

---
 more  
`

func TestSplicingKeepsAllThatIsNotItsBusiness(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  []Entry
		old  []string // the replaced parts of the file, in pairs
	}{
		{"nothing", nil, nil},
		{"the same value", []Entry{{"cron", "0 9 * * *"}, {"allow-ping", true}, {"skills", []string{"a", "b"}}}, nil},
		{"a value with a comment", []Entry{{"cron", "0 8 * * *"}}, []string{
			`cron: "0 9 * * *"   # every morning`, `cron: "0 8 * * *" # every morning`,
		}},
		{"a key in the other style", []Entry{{"allow-ping", false}}, []string{"allow_ping: true # for now", "allow_ping: false # for now"}},
		{"a list", []Entry{{"skills", []string{"c"}}}, []string{"  - a\n  - b\n", "  - \"c\"\n"}},
		{"a list becomes empty", []Entry{{"skills", []string{}}}, []string{"skills:\n  # first\n  - a\n  - b\n", "skills: []\n  # first\n"}},
		{"a block of text", []Entry{{"description", "x\ny"}}, []string{"description: |\n  one\n  # not a comment\n", "description: \"x\\ny\"\n"}},
		{"a new key", []Entry{{"max_chain", 3}, {"allowed-tools", []string{"Bash(ls *)"}}}, []string{
			"# the end\n", "# the end\nmax-chain: 3\nallowed-tools:\n  - \"Bash(ls *)\"\n",
		}},
		{"a key goes", []Entry{{"unknown-key", nil}, {"never-there", nil}}, []string{"unknown-key: \"a newer version wrote this\"\n", ""}},
		{"a list goes", []Entry{{"skills", nil}}, []string{"skills:\n  # first\n  - a\n  - b\n", ""}},
		{"the last of two", []Entry{{"id", "a"}, {"id", "b"}}, []string{"id: 12345678", `id: "b"`}},
	} {
		for _, eol := range []string{"\n", "\r\n"} {
			t.Run(tt.name, func(t *testing.T) {
				in := strings.ReplaceAll(users, "\n", eol)
				want := strings.ReplaceAll(strings.NewReplacer(tt.old...).Replace(users), "\n", eol)
				got, err := Splice([]byte(in), tt.set)
				testkit.Must(t, err)
				if diff := cmp.Diff(want, string(got)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestSplicingRefusesWhatItCannotDoSafely(t *testing.T) {
	for name, in := range map[string]string{
		"no front matter": "text\n",
		"a flow mapping":  "---\n{id: x, cron: y}\n---\n",
		"a quoted key":    "---\n\"id\": x\n---\n",
	} {
		got, err := Splice([]byte(in), []Entry{{"id", "new"}})
		var se *SyntaxError
		if got != nil || !errors.As(err, &se) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestSplicingTheFixtureOfANewerVersionKeepsItsKey(t *testing.T) {
	data, err := os.ReadFile("testdata/data-dir/routines/sunday-reset.md")
	testkit.Must(t, err)
	got, err := Splice(data, []Entry{{"cron", "0 18 * * 0"}})
	testkit.Must(t, err)
	want := strings.Replace(string(data), "0 19 * * 0", "0 18 * * 0", 1)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestEachKindOfValueIsFormatted(t *testing.T) {
	for what, c := range map[string]struct {
		value any
		want  string
	}{
		"a text": {"no", `k: "no"`}, "an empty text": {"", `k: ""`}, "a switch": {false, "k: false"}, "a number": {0, "k: 0"},
		"a list": {[]string{"a", ""}, "k:\n  - \"a\"\n  - \"\""}, "an empty list": {[]string{}, "k: []"},
	} {
		t.Run(what, func(t *testing.T) {
			if got := string(Format([]Entry{{"k", c.value}}, "")); got != "---\n"+c.want+"\n---\n" {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestFormattingFollowsTheSpec(t *testing.T) {
	got := Format([]Entry{
		{"id", "a1b2c3d4"},
		{"cron", "0 9 * * *"},
		{"description", `say "hi" --- \o/`},
		{"background", true},
		{"allowed-tools", []string{"Bash(ollim-bot tasks *)", "Read"}},
		{"max-chain", 3},
		{"skills", []string{}},
	}, "\n Hello \n\n")
	const want = `---
id: "a1b2c3d4"
cron: "0 9 * * *"
description: "say \"hi\" --\x2d \\o/"
background: true
allowed-tools:
  - "Bash(ollim-bot tasks *)"
  - "Read"
max-chain: 3
skills: []
---
Hello
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
