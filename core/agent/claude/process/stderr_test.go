package process

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
)

// tailOf returns the tail of a text that is written at once.
func tailOf(t testing.TB, text string, env ...string) string {
	t.Helper()
	tail := &tail{hide: secrets(env)}
	if n, err := tail.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("Write: %d, %v", n, err)
	}
	return tail.String()
}

func TestTheTailIsOneCleanLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":           {"", ""},
		"only blanks":       {"\n \n\t\n\r\n", ""},
		"one line":          {"boom", "boom"},
		"two lines":         {"boom\n\n  bang\r\n", "boom | bang"},
		"escapes":           {"\x1b[31mboom\x1b[0m\x07\x1b]0;title\x07\n", "boom"},
		"bytes":             {"a\xffb\n", "a\uFFFDb"},
		"a crash":           {"3211 | " + strings.Repeat("x", 1000) + "\nerror: Stream closed\n", "3211 | " + strings.Repeat("x", 32) + "… | error: Stream closed"},
		"a number, no code": {"40 | 2", "40 | 2"},
		"a long line":       {strings.Repeat("ä", 500), strings.Repeat("ä", maxLine-1) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tailOf(t, c.text); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestTheTailKeepsTheEnd(t *testing.T) {
	got := tailOf(t, strings.Repeat("early words\n", 10_000)+"late words\n")
	if len(got) > maxTail || len(got) < maxTail-20 || !strings.HasSuffix(got, "early words | late words") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestSecretsOfTheEnvironmentAreNotShown(t *testing.T) {
	env := []string{
		"ANTHROPIC_API_KEY=sk-ant-0123456789", "ANTHROPIC_CUSTOM_HEADERS=Authorization: Bearer abcdefghij",
		"HTTPS_PROXY=http://me:hunter2hunter2@proxy:8080", "HOME=/home/somebody", "SHORT_TOKEN=abc",
	}
	for text, want := range map[string]string{
		"bad key sk-ant-0123456789, sorry":  "bad key [hidden], sorry",
		"bad key sk-\x1b[1mant-0123456789!": "bad key [hidden]!",
		"header Bearer abcdefghij":          "header Bearer [hidden]",
		"via me:hunter2hunter2@proxy":       "via [hidden]@proxy",
		"the first part: sk-ant-012":        "the first part: [hidden]",
		"/home/somebody and abc stay":       "/home/somebody and abc stay",
	} {
		if got := tailOf(t, text, env...); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	far := strings.Repeat("\x1b[0m", (maxRaw-8)/4) + "sk-ant-0123456789"
	if got := tailOf(t, far, env...); strings.Contains(got, "sk-ant") {
		t.Errorf("a key that was cut is shown: %q", got)
	}
}

func TestTheTailIsTheSameHoweverTheOutputIsCut(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "\n", "\r\n", "12 | ", "ü", "\xf0\x9f", "\x1b[3", "m", " ", "sk-ant-0123456789", strings.Repeat("long ", 100)})
	env := []string{"ANTHROPIC_API_KEY=sk-ant-0123456789"}
	testkit.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(words, 0, 200).Draw(r, "text"), "")
		want := tailOf(t, text, env...)
		tail := &tail{hide: secrets(env)}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(r, "piece")
			_, _ = tail.Write([]byte(rest[:n]))
			if got := tail.String(); len(got) > maxTail || strings.Contains(got, "sk-ant-0123456789") {
				r.Fatalf("%d bytes on the way: %q", len(got), got)
			}
			rest = rest[n:]
		}
		got := tail.String()
		if got != want {
			r.Fatalf("got  %q\nwant %q", got, want)
		}
		if len(got) > maxTail || !utf8.ValidString(got) || clean.Line(got) != got {
			r.Fatalf("%d bytes, not clean: %q", len(got), got)
		}
	})
}

func BenchmarkTail(b *testing.B) {
	block := []byte(strings.Repeat("a line of an error output that nobody has asked for\n", 10_000))
	tail := &tail{hide: []string{"sk-ant-0123456789"}}
	b.SetBytes(int64(len(block)))
	for b.Loop() {
		_, _ = tail.Write(block)
	}
}
