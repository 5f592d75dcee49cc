package frontmatter

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
)

// TestWhatIsSpliced sets keys of a file of testdata, or of a text, and prints the lines that change. Line ends of Windows change nothing.
func TestWhatIsSpliced(t *testing.T) {
	plays(t, "splice.txt", func(t *testing.T, step string) string {
		var data []byte
		text, sets, is := strings.Cut(step, "⏎ ")
		if is {
			data = written(text + "⏎")
		} else {
			var err error
			text, sets, _ = strings.Cut(step, " ")
			data, err = os.ReadFile("testdata/" + text + ".md")
			testkit.Must(t, err)
		}
		var entries []Entry
		for _, one := range regexp.MustCompile(`(\S+?)=("[^"]*"|\[.*?\]|\S+)`).FindAllStringSubmatch(sets, -1) {
			entries = append(entries, Entry{one[1], valueOf(t, one[2])})
		}
		got, err := Splice(data, entries)
		if err != nil {
			var se *SyntaxError
			if got != nil || !errors.As(err, &se) {
				t.Errorf("%s: %q, %v", step, got, err)
			}
			return err.Error()
		}
		crlf := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")) }
		if windows, err := Splice(crlf(data), entries); err != nil || !bytes.Equal(windows, crlf(got)) {
			t.Errorf("%s, with line ends of Windows: %q, %v", step, windows, err)
		}
		return changes(string(data), string(got))
	})
}

func valueOf(t *testing.T, text string) any {
	var value any
	testkit.Must(t, json.Unmarshal([]byte(text), &value))
	switch v := value.(type) {
	case []any:
		list := []string{}
		for _, one := range v {
			list = append(list, one.(string))
		}
		return list
	case float64:
		return int(v)
	}
	return value
}

// changes are the lines between the part that two texts begin with and the one they end with.
func changes(before, after string) string {
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	out := ""
	for _, line := range old {
		out += "- " + line + "\n"
	}
	for _, line := range now {
		out += "+ " + line + "\n"
	}
	return out
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
		{"none", nil},
		{"empty", ""},
		{"off", false},
		{"tags", []string{"a", "\x01\u0085\t\r\n\u2028"}},
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
empty: ""
off: false
tags:
  - "a"
  - "\x01\x85\t\r\n\u2028"
---
Hello
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
