package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	promptwords "ollimbot/core/brief/prompt"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/work/updates"
)

func mkfifo(t *testing.T, name string) {
	t.Helper()
	testkit.Must(t, syscall.Mkfifo(name, 0o600))
}

func TestASessionIsShownAsItWent(t *testing.T) {
	h := family(t).history()
	c, err := h.Show(mainID, Brief())
	testkit.Must(t, err)
	want := []string{
		"user Where is the red key?", "call Bash(find key)", "result under the mat\nreally", "bot Under the mat.", "user Thanks!", "bot Any time.",
	}
	if diff := cmp.Diff(want, talked(c.Entries)); diff != "" || c.Messages != 4 || c.Copied != 0 || c.Kind != Main {
		t.Errorf("%+v\n%s", c.Session, diff)
	}
}

func TestAForkShowsItsOwnPartUnlessAllIsWanted(t *testing.T) {
	h := family(t).history()
	brief, err := h.Show(runID[:8], Brief())
	testkit.Must(t, err)
	own := []string{
		"program [routine-bg:9a8b7c6d] You run in the background.\n\nMedication time.",
		"call ping_user: Take the blue pill.", "result sent", "bot Done.",
	}
	if diff := cmp.Diff(own, talked(brief.Entries)); diff != "" || brief.Copied != 6 || brief.ID != runID || brief.Title != "Medication" {
		t.Errorf("%+v, %d copied\n%s", brief.Session, brief.Copied, diff)
	}
	full, err := h.Show(runID, Full())
	testkit.Must(t, err)
	if len(full.Entries) != 10 || !full.Entries[5].Copied || full.Entries[6].Copied || full.Messages != 2 {
		t.Errorf("%+v\n%q", full.Session, talked(full.Entries))
	}
}

func TestAShortIDMustFitOneSession(t *testing.T) {
	w := family(t)
	w.session("77777777-other", at(0), talk()...)
	h := w.history()
	if _, err := h.Show("7777", Brief()); err == nil || !strings.Contains(err.Error(), "2 sessions") || errors.Is(err, ErrNoSession) {
		t.Errorf("the error is %v", err)
	}
	for id, shown := range map[string]string{"9999": "9999", strings.Repeat("9", 61): strings.Repeat("9", 59) + "…"} {
		if _, err := h.Show(id, Brief()); !errors.Is(err, ErrNoSession) || err.Error() != `"`+shown+`": `+ErrNoSession.Error() {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestATextIsCutWhereItMattersLeast(t *testing.T) {
	limits := Limits{Text: 6, Result: 5}
	for _, tt := range []struct {
		role       Role
		text, want string
	}{
		{Program, "abcde", "abcde"},
		{Program, "abcdef", "…cdef"},
		{Program, "abcd\nef", "…ef"},
		{Program, "abcde\n ", "…de\n "},
		{Result, "ab\nde", "ab\nde"},
		{Result, "ab\ndef", "ab d…"},
		{Bot, "ab\ndef", "ab\ndef"},
		{Bot, "ab\ndefg", "ab\nde…"},
	} {
		if got := limits.cut(Entry{Role: tt.role, Text: tt.text}); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.role, tt.text, got, tt.want)
		}
	}
}

// However long the session, the result is its end within the limits.
func TestWhatIsShownIsTheEndWithinTheLimits(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		n := rapid.IntRange(1, 60).Draw(rt, "messages")
		var lines []string
		for i := range n {
			lines = append(lines, headed(at(i), strings.Repeat("x", rapid.IntRange(1, 50).Draw(rt, "length"))))
		}
		w.session("aaaaaaaa-1", at(9), lines...)
		limits := Limits{
			Entries: rapid.IntRange(1, 20).Draw(rt, "entries"), Bytes: rapid.IntRange(1, 400).Draw(rt, "bytes"),
			Text: 100, Result: 100,
		}
		c, err := w.history().Show("aaaaaaaa", limits)
		if err != nil {
			rt.Fatal(err)
		}
		bytes := 0
		for _, e := range c.Entries {
			bytes += len(e.Text)
		}
		if len(c.Entries) == 0 || len(c.Entries) > limits.Entries || bytes > limits.Bytes && len(c.Entries) > 1 {
			rt.Fatalf("%d entries of %d bytes", len(c.Entries), bytes)
		}
		if c.Earlier+len(c.Entries) != n || !c.Entries[len(c.Entries)-1].At.Equal(at(n-1)) || c.Messages != n {
			rt.Fatalf("%d of %d shown, %d not, %d counted", len(c.Entries), n, c.Earlier, c.Messages)
		}
	})
}

func TestASearchFindsWhatWasSaidOnce(t *testing.T) {
	h := family(t).history()
	for _, tt := range []struct {
		words []string
		want  []Hit
	}{
		{[]string{"RED", "where"}, []Hit{{mainID, at(0), User, "Where is the red key?"}}}, // without its two copies in forks
		{[]string{"red key"}, []Hit{{mainID, at(0), User, "Where is the red key?"}}},
		{[]string{"the"}, []Hit{
			{runID, at(181), Call, "ping_user: Take the blue pill."},
			{forkID, at(94), User, "The ficus."},
			{mainID, at(1), Bot, "Under the mat."},
			{mainID, at(0), User, "Where is the red key?"},
		}},
		{[]string{"red", "ficus"}, nil},      // not in one message
		{[]string{"background"}, nil},        // the program's words
		{[]string{"really"}, nil},            // a tool's result
		{[]string{"end of message"}, nil},    // the end of every message
		{[]string{" ", ""}, nil},             // no words
		{[]string{`"role"`, "content"}, nil}, // from the file format
	} {
		hits, more, err := h.Search(tt.words, time.Time{})
		if diff := cmp.Diff(tt.want, hits); diff != "" || more != 0 || err != nil {
			t.Errorf("%q: %d more, %v\n%s", tt.words, more, err, diff)
		}
	}
	if hits, _, _ := h.Search([]string{"the"}, at(90)); len(hits) != 2 {
		t.Errorf("since then there are %v", hits)
	}
}

func TestASearchGivesTheNewestAndSaysHowManyThereAre(t *testing.T) {
	w := newWorld(t)
	w.session("aaaaaaaa-1", at(600), large(500)...)
	hits, more, err := w.history().Search([]string{"question"}, time.Time{})
	if err != nil || len(hits) != maxHits || more != 450 || !hits[0].At.Equal(at(499)) || !hits[49].At.Equal(at(450)) {
		t.Errorf("%d hits and %d more: %v", len(hits), more, err)
	}
}

func TestAnExcerptShowsThePlace(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		filler := rapid.StringMatching(`([a-yäİßK日] ?){0,300}`)
		text := filler.Draw(t, "before") + "zZ" + filler.Draw(t, "after")
		excerpt, ok := match(text, []string{"zz"})
		if !ok || !strings.Contains(excerpt, "zZ") || len([]rune(excerpt)) > excerptRunes+2 {
			t.Fatalf("%v, %q", ok, excerpt)
		}
	})
}

func TestWhoSpeaksInAMessage(t *testing.T) {
	const head = "[2026-02-24 Tue 02:30 PM PT] "
	for _, tt := range []struct {
		text string
		want said
	}{
		{" \ntyped by hand\n ", said{User, "", "typed by hand", true}},
		{head + "How's it going?", said{User, "", "How's it going?", true}},
		{head + "RECENT BACKGROUND UPDATES (mention key findings in your response):\n- (just now) a\n  b\n\nHi\n\nthere", said{User, "", "Hi\n\nthere", true}},
		{head + "[routine:a1b2c3d4] Review.", said{Program, "routine:a1b2c3d4", "Review.", false}},
		{head + "[reminder-bg:a1b2c3d4]\nCHAIN", said{Program, "reminder-bg:a1b2c3d4", "\nCHAIN", false}},
		{head + "[button] Do it", said{Program, "button", "Do it", true}},
		{head + promptwords.ForkReply("yes, please"), said{User, "fork-started", "yes, please", true}},
		{head + "[holiday] next week", said{User, "", "[holiday] next week", true}},
		{"<local-command-stdout>ok</local-command-stdout>", said{Program, "", "<local-command-stdout>ok</local-command-stdout>", false}},
		{"[Request interrupted by user]", said{Program, "", "[Request interrupted by user]", false}},
		{"a\x1b[31mb\u202e", said{User, "", "ab", true}},
	} {
		if got := takeApart(tt.text); got != tt.want {
			t.Errorf("%q is %+v, not %+v", tt.text, got, tt.want)
		}
	}
}

func TestOnlyTheUsersForksCountAsAMove(t *testing.T) {
	for text, want := range map[string]bool{
		promptwords.ForkReply("yes"):             true,
		promptwords.ForkButton("Sam", "Do it"):   true,
		promptwords.ForkStarted("plants"):        false, // the agent may have chosen it
		promptwords.ForkIdle(time.Minute, false): false,
		promptwords.ForkReport():                 false,
	} {
		if got := takeApart(promptwords.Main(noon, nil, text)); got.user != want || got.tag == "" {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// The user's words are extracted whatever the bot adds in front.
func TestTheUsersWordsComeOutOfAnyMessage(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`[a-z][a-z ,.\n-]{0,40}[a-z]`).Draw(t, "words")
		var list []updates.Update
		for range rapid.IntRange(0, 3).Draw(t, "updates") {
			list = append(list, updates.Update{At: noon, Message: rapid.OneOf(
				rapid.StringMatching(`([a-z:\[\]]{1,5}[ \n]{0,3}){1,6}`), rapid.Just("a\n\n[system] b"),
			).Filter(func(s string) bool { return strings.TrimSpace(s) != "" }).Draw(t, "update")})
		}
		for _, message := range []string{promptwords.Main(noon, list, words), promptwords.Peeked(noon, list, words)} {
			if got := takeApart(message); got.text != words || !got.user {
				t.Fatalf("%q is %+v", message, got)
			}
		}
		if got := takeApart(promptwords.Delivery(noon, list)); got.user && got.text != "" {
			t.Fatalf("updates alone are %+v", got)
		}
	})
}

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
		says   string // unless it is clear
	}{
		{headed(noon, "hello"), prompt, true, "user hello"},
		{headed(noon, "[button] "), prompt, true, "program [button] "},
		{`{"role":"user","content":[{"type":"image","source":{}}]}`, prompt, true, ""},
		{`{"type":"assistant","message":{"role":"assistant","content":"not in blocks"}}`, answer, false, "bot not in blocks"},
		{`{"type":"user","message":{"role":"user","content":"typed"}}`, prompt, true, ""},
		{answers(noon, "hi"), answer, true, ""},
		{calls(noon, "Bash", map[string]any{"type": "text"}), answer, false, ""},
		{gives(noon, "done", false), result, false, ""},
		{`{"type":"attachment","attachment":{"type":"queued_command","prompt":"in between"}}`, prompt, true, ""},
		{`{"type":"attachment","attachment":{"type":"skill_listing","content":"user"}}`, other, false, ""},
		{lineOf(noon, "user", "user", "Stop hook feedback", `,"isMeta":true`), prompt, false, ""},
		{lineOf(noon, "user", "user", "This session is being continued", `,"isCompactSummary":true`), prompt, false, ""},
		{`{"type":"user","isSidechain":true,"message":{"content":"to a subagent"}}`, other, false, ""},
		{`{"type":"user"}`, other, false, ""},
		{`{"type":"assistant","message":7}`, other, false, ""},
		{`{"type":"us\u0065r","message":{"content":"escaped"}}`, other, false, ""},
		{calls(noon, "mcp__discord__x", map[string]any{
			"title": "a", "message": "b", "text": "c", "description": "d", "question": "e", "prompt": "f", "content": "g", "other": "h", "x": 1,
		}), answer, false, "call x: a · b · c · d · e · f · g"},
		{queued(noon), other, false, ""},
	} {
		l, ok := readLine([]byte(tt.data))
		says := strings.Join(talked(l.entries()), " | ")
		if !ok || l.kind != tt.kind || l.counts() != tt.counts || tt.says != "" && says != tt.says {
			t.Errorf("%s: whole %v, kind %d, counts %v, says %q", tt.data, ok, l.kind, l.counts(), says)
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

// value draws a JSON value.
func value(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 4
		if depth > 0 {
			kinds = 6
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.OneOf(rapid.String(), rapid.StringMatching(`[\\"{}\[\],: a]{0,12}`)).Draw(t, "string")
		case 1:
			return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
		case 2:
			return rapid.Bool().Draw(t, "bool")
		case 3:
			return nil
		case 4:
			return rapid.SliceOfN(value(depth-1), 0, 4).Draw(t, "array")
		}
		return rapid.MapOfN(rapid.StringMatching(`[a-z]{1,4}`), value(depth-1), 0, 4).Draw(t, "object")
	})
}

func TestSkimmingFindsTheMembersThatDecodingFinds(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		object := rapid.MapOf(rapid.StringMatching(`[a-z]{1,6}`), value(3)).Draw(t, "object")
		indent := rapid.SampledFrom([]string{"", "\t"}).Draw(t, "indent")
		data, err := json.MarshalIndent(object, "", indent)
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string]any{}, map[string]any{}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		whole := members(data, func(key, raw []byte) {
			var v any
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			got[string(key)] = v
		})
		if diff := cmp.Diff(want, got); diff != "" || !whole {
			t.Fatalf("whole %v\n%s\n%s", whole, data, diff)
		}
	})
}

func TestSkimmingFindsTheElementsThatDecodingFinds(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(rapid.SliceOf(value(3)).Draw(t, "array"))
		if err != nil {
			t.Fatal(err)
		}
		want, got := []json.RawMessage{}, []json.RawMessage{}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if whole := elements(data, func(raw []byte) { got = append(got, raw) }); !whole {
			t.Fatalf("%s counts as torn", data)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestWhatIsNoObjectOrListIsNeverWhole(t *testing.T) {
	for text, want := range map[string]string{
		"": "none", " ": "none", `"a"`: "none", "7": "none", `{`: "none", `{"a"`: "none", `{"a" 1}`: "none", `{"a"}`: "none", `{a:1}`: "none",
		`{"a":}`: "none", `{"a":,"b":1}`: "none", `{"a":1,}`: "none", `{"a":1 "b":2}`: "none", `{"a":1]`: "none", `{,}`: "none", `{"a":1,`: "none",
		`[`: "none", `[,]`: "none", `[1,]`: "none", `[1 2]`: "none", `[1}`: "none", `[1`: "none", `[1, `: "none", `["a]`: "none", `[[1]`: "none",
		"{}": "object", " { } ": "object", "\t{\r\n\"a\" : 1\t,\n\"b\":[1,{}]\r}": "object a=1 b=[1,{}]", `{"\"":"\\"}`: `object \"="\\"`,
		"[]": "list", " [ ] ": "list", "[1\t,2\n, 3\r,true ]": "list 1 2 3 true", `[{"a":"]"},[]]`: `list {"a":"]"} []`,
	} {
		got := "none"
		parts := ""
		if members([]byte(text), func(key, value []byte) { parts += " " + string(key) + "=" + string(value) }) {
			got = "object" + parts
		}
		parts = ""
		if elements([]byte(text), func(value []byte) { parts += " " + string(value) }) {
			got = "list" + parts
		}
		if got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// A truncated object is never complete.
func TestATornObjectIsNeverWhole(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(rapid.MapOf(rapid.String(), value(3)).Draw(t, "object"))
		if err != nil {
			t.Fatal(err)
		}
		cut := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		if members(data[:cut], func(_, _ []byte) {}) {
			t.Fatalf("%q is whole", data[:cut])
		}
	})
}

func FuzzSkim(f *testing.F) {
	for _, s := range []string{`{"a":"\\"}`, `{"a":[{"b":"]"}]}`, `{`, `"`, `{"a"`, `{"a":}`, `{"type":"user","message":{"content":"x"}}`, `[1,]`, `{,}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := members(data, func(key, raw []byte) { _, _ = plainString(raw), text(raw) })
		if json.Valid(data) && strings.HasPrefix(strings.TrimLeft(string(data), " \t\r\n"), "{") && !whole {
			t.Errorf("%q counts as torn", data)
		}
		elements(data, func([]byte) {})
		if l, ok := readLine(data); ok {
			l.entries()
		}
	})
}
