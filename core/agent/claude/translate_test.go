package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/agent/callback"
	"ollimbot/core/agent/claude/wire"
	"ollimbot/core/base/testkit"
)

// capturedTurns returns the lines written by the real command, turn by turn.
func capturedTurns(t *testing.T, name string) [][]wire.Line {
	t.Helper()
	f, err := os.Open(filepath.Join("wire", "testdata", "captures", name+".jsonl"))
	testkit.Must(t, err)
	defer f.Close()
	var input bytes.Buffer
	in := bufio.NewReader(f)
	for {
		raw, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var c struct {
			Dir  string          `json:"dir"`
			Line json.RawMessage `json:"line"`
		}
		testkit.Must(t, json.Unmarshal(raw, &c))
		if c.Dir != "cli->host" {
			continue
		}
		input.Write(append(c.Line, '\n'))
	}
	var turns [][]wire.Line
	var turn []wire.Line
	if err := wire.New(&input, io.Discard, wire.Options{Line: func(l wire.Line) {
		turn = append(turn, l)
		if l.Type == wire.TypeResult {
			turns, turn = append(turns, turn), nil
		}
	}}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return turns
}

// replay translates one captured turn.
func replay(t *testing.T, lines []wire.Line) told {
	t.Helper()
	var h told
	put := func(e agent.Event) { h.events = append(h.events, e) }
	tr := newTranslator(func(string) bool { return false }, "")
	for _, l := range lines {
		if l.Type != wire.TypeResult {
			tr.translate(l, put)
			continue
		}
		tr.text.takeBack(put)
		put(tr.result(l.Result(), false, nil))
	}
	return h
}

func TestEveryCapturedTurnIsToldWhole(t *testing.T) {
	files, err := filepath.Glob("wire/testdata/captures/*.jsonl")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d captures, %v", len(files), err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".jsonl")
		for i, turn := range capturedTurns(t, name) {
			h := replay(t, turn)
			end := h.result(t)
			text := h.text()
			// Long texts were shortened in some captures, and a prompt blocked by a hook has a
			// result without any text.
			if text != "" && !end.IsError && !end.Interrupted && !strings.HasSuffix(text, end.Text) && !strings.Contains(end.Text, "…") {
				t.Errorf("%s, turn %d: said %q, the result is %q", name, i, text, end.Text)
			}
			running := map[string]bool{}
			for _, ev := range h.events {
				switch ev := ev.(type) {
				case agent.ToolStart:
					running[ev.ID] = true
				case agent.ToolEnd:
					if !running[ev.ID] || ev.Name == "" {
						t.Errorf("%s, turn %d: the end of a call without its begin: %+v", name, i, ev)
					}
					delete(running, ev.ID)
				}
			}
			if len(running) > 0 {
				t.Errorf("%s, turn %d: calls without an end: %v", name, i, running)
			}
		}
	}
}

func TestASubagentIsToldWithItsTask(t *testing.T) {
	h := replay(t, capturedTurns(t, "l-subagent")[0])
	var got []string
	for _, s := range all[agent.ToolStart](h) {
		got = append(got, s.Name+"|"+s.Subagent)
	}
	if diff := cmp.Diff([]string{"Agent|", "Bash|do it"}, got); diff != "" {
		t.Error(diff)
	}
	if n := all[agent.Notice](h); len(n) > 0 {
		t.Errorf("the subagent's end is told besides: %v", n)
	}
	if h.text() != "delegating\nmain done" {
		t.Errorf("text %q", h.text())
	}
}

func TestABrokenStreamIsTakenBack(t *testing.T) {
	h := replay(t, capturedTurns(t, "j-tcp-drop")[0])
	if h.text() != "partial text here that breaks off in the middle of it all" {
		t.Errorf("text %q", h.text())
	}
}

func TestWhatTheCLISaysOfItselfIsANotice(t *testing.T) {
	h := replay(t, capturedTurns(t, "j-529-fallback")[0])
	if n := all[agent.Notice](h); len(n) != 1 || !strings.Contains(n[0].Text, "Switched to Haiku") {
		t.Errorf("%v", n)
	}
	if r := all[agent.Retry](h); len(r) != 3 || r[0].Reason != "overloaded" || r[0].Of != 10 || r[0].Wait < 500*time.Millisecond {
		t.Errorf("%v", r)
	}
	h = replay(t, capturedTurns(t, "j-refusal")[0])
	if n := all[agent.Notice](h); len(n) == 0 || !h.result(t).IsError {
		t.Errorf("a refusal: %v, %+v", n, h.result(t))
	}
}

func TestACallThatTheCLIRefusesByItselfIsDenied(t *testing.T) {
	var denied []bool
	for _, turn := range capturedTurns(t, "c-dontask") {
		for _, e := range all[agent.ToolEnd](replay(t, turn)) {
			denied = append(denied, e.Denied)
		}
	}
	if !slices.Contains(denied, true) {
		t.Errorf("denied: %v", denied)
	}
}

func TestALoginThatIsMissingIsKnownByItsClass(t *testing.T) {
	if end := replay(t, capturedTurns(t, "k-not-logged-in")[0]).result(t); end.Text != textLoggedOut {
		t.Errorf("%q", end.Text)
	}
	if end := replay(t, capturedTurns(t, "j-401")[0]).result(t); !strings.HasPrefix(end.Text, textBadKey) {
		t.Errorf("%q", end.Text)
	}
}

func TestAnInterruptionIsNoFailure(t *testing.T) {
	for _, name := range []string{"f-interrupt-mid-bash", "c-interrupt-while-permission-pending"} {
		if end := replay(t, capturedTurns(t, name)[0]).result(t); !end.Interrupted || end.IsError {
			t.Errorf("%s: %+v", name, end)
		}
	}
}

// However a message is streamed, broken off and repeated, the final text consists of its lines,
// each block once and on its own line.
func TestWhatIsSaidIsWhatTheLinesSay(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		var s textAccumulator
		var h told
		put := func(e agent.Event) { h.events = append(h.events, e) }
		want := ""
		for i := range rapid.IntRange(1, 6).Draw(rt, "blocks") {
			text := rapid.StringMatching(`[a-cé]{0,8}\n?`).Draw(rt, "text")
			id := string(rune('a' + i))
			if rapid.Bool().Draw(rt, "streamed") {
				s.begin(id, put)
				s.block()
				cut := rapid.IntRange(0, len(text)).Draw(rt, "cut")
				s.say(text[:cut], put)
				switch rapid.IntRange(0, 2).Draw(rt, "fate") {
				case 0: // broken off: a separate request repeats it
					id += "'"
				case 1: // streamed to its end
					s.say(text[cut:], put)
				case 2: // streamed with a different text
					s.say("zzz", put)
				}
			}
			s.finish(id, text, put)
			if text == "" {
				continue
			}
			if want != "" && !strings.HasSuffix(want, "\n") {
				want += "\n"
			}
			want += text
		}
		if h.text() != want || s.total != len(want) {
			rt.Fatalf("said %q (%d bytes), want %q", h.text(), s.total, want)
		}
	})
}

func TestALongOutputIsCutBetweenCharacters(t *testing.T) {
	got := callback.Output("x" + strings.Repeat("é", 16<<10))
	if !strings.HasPrefix(got, "xéé") || strings.Contains(got, "\uFFFD") || len(got) > 16<<10+40 || !strings.Contains(got, "more bytes") {
		t.Errorf("%d bytes, ending %q", len(got), got[len(got)-30:])
	}
}
