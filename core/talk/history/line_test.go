package history

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/storage/jsonl"
)

// A truncated line is invalid, whatever it contains.
func TestATornLineIsNone(t *testing.T) {
	data := answers(noon, "hi")
	for cut := range data {
		if _, ok := readLine([]byte(data[:cut])); ok {
			t.Fatalf("%q is whole", data[:cut])
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range []string{`{"a":"\\"}`, `{`, `"`, `{"type":"user","message":{"content":"x"}}`, `[1,]`, `{"type":7,"message":[],"timestamp":"x"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, ok := readLine(data)
		if json.Valid(data) && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && !ok {
			t.Errorf("%q counts as torn", data)
		}
		l.entries()
	})
}

func TestWhatALineIs(t *testing.T) {
	for _, tt := range []struct {
		data   string
		kind   kind
		counts bool
	}{
		{headed(noon, "hello"), prompt, true},
		{`{"type":"user","message":{"role":"user","content":"typed"}}`, prompt, true},
		{answers(noon, "hi"), answer, true},
		{calls(noon, "Bash", map[string]any{"type": "text"}), answer, false},
		{gives(noon, "done", false), result, false},
		{`{"type":"attachment","attachment":{"type":"queued_command","prompt":"in between"}}`, prompt, true},
		{`{"type":"attachment","attachment":{"type":"skill_listing","content":"user"}}`, other, false},
		{lineOf(noon, "user", "user", "Stop hook feedback", `,"isMeta":true`), prompt, false},
		{lineOf(noon, "user", "user", "This session is being continued", `,"isCompactSummary":true`), prompt, false},
		{`{"type":"user","isSidechain":true,"message":{"content":"to a subagent"}}`, other, false},
		{`{"type":"user"}`, other, false},
		{`{"type":"assistant","message":7}`, other, false},
		{queued(noon), other, false},
	} {
		l, ok := readLine([]byte(tt.data))
		if !ok || l.kind != tt.kind || l.counts() != tt.counts {
			t.Errorf("%s: whole %v, kind %d, counts %v", tt.data, ok, l.kind, l.counts())
		}
	}
	if l, ok := readLine([]byte(queued(noon))); !ok || !l.at.Equal(noon) {
		t.Errorf("the time is %s", l.at)
	}
}

func TestAResultShowsItsTextsAndNamesItsOtherBlocks(t *testing.T) {
	for content, want := range map[string]string{
		`"in the cellar\n"`: "in the cellar",
		`[{"type":"text","text":"in the"},{"type":"text","text":"cellar"}]`: "in the\ncellar",
		`[{"type":"text","text":"see"},{"type":"image"}]`:                   "see\n(image)",
		`[]`: "", `7`: "",
	} {
		if got := resultText(json.RawMessage(content)); got != want {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
	}
}

func TestAReaderHasNoLineLimit(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	var lengths []int
	err := jsonl.EachLine(strings.NewReader("a\n"+long+"\nlast"), func(line []byte) bool {
		lengths = append(lengths, len(line))
		return true
	})
	if diff := cmp.Diff([]int{2, len(long) + 1, 4}, lengths); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if l, ok := readLine([]byte(answers(time.Time{}, long))); !ok || len(l.entries()) != 1 || len(l.entries()[0].Text) != len(long) {
		t.Error("a long message was not read")
	}
}
