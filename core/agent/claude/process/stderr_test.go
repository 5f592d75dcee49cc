package process

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
)

// tailOf returns the tail of texts that are written one after another.
func tailOf(t testing.TB, env []string, texts ...string) string {
	t.Helper()
	tail := &tail{hide: secrets(env)}
	for _, text := range texts {
		if n, err := tail.Write([]byte(text)); n != len(text) || err != nil || len(tail.raw) > 2*maxRaw {
			t.Fatalf("Write: %d, %v, %d bytes are kept", n, err, len(tail.raw))
		}
		if got := tail.String(); len(got) > maxTail || !utf8.ValidString(got) || clean.Line(got) != got {
			t.Fatalf("%d bytes, not clean: %q", len(got), got)
		}
	}
	return tail.String()
}

func TestTheTailIsOneCleanLineWithoutSecrets(t *testing.T) {
	env := []string{
		"ANTHROPIC_API_KEY=sk-ant-0123456789", "ANTHROPIC_CUSTOM_HEADERS=Authorization: Bearer abcdefghij",
		"HTTPS_PROXY=http://me:hunter2hunter2@proxy:8080", "HOME=/home/somebody", "SHORT_TOKEN=1234567",
	}
	early := strings.Repeat("early words\n", 2*maxRaw/12+1)
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                        {"", ""},
		"only blanks":                    {"\n \n\t\n\r\n", ""},
		"lines":                          {"boom\n\n  bang\r\n", "boom | bang"},
		"escapes":                        {"\x1b[31mboom\x1b[0m\x07\x1b]0;title\x07\n", "boom"},
		"a byte that is no character":    {"a\xffb\n", "a\uFFFDb"},
		"a crash, whose source is short": {"3211 | " + strings.Repeat("x", 1000) + "\nerror: Stream closed\n", "3211 | " + strings.Repeat("x", 32) + "… | error: Stream closed"},
		"a number that is no source":     {"40 | 2", "40 | 2"},
		"a long line":                    {strings.Repeat("ä", 500), strings.Repeat("ä", maxLine-1) + "…"},
		"the end of much":                {early + "late words\n", strings.Repeat("early words | ", (maxTail-len("late words | "))/14) + "late words"},
		"no line without its beginning":  {strings.Repeat("x", 2*maxRaw) + "y\nlate words", "late words"},
		"a key":                          {"bad key sk-ant-0123456789, sorry", "bad key [hidden], sorry"},
		"a key in colour":                {"bad key sk-\x1b[1mant-0123456789!", "bad key [hidden]!"},
		"a key in a header":              {"header Bearer abcdefghij", "header Bearer [hidden]"},
		"a password in an address":       {"via me:hunter2hunter2@proxy", "via [hidden]@proxy"},
		"a key that has only begun":      {"the first part: sk-ant-0", "the first part: [hidden]"},
		"a word of a key":                {"the first part: sk-ant-", "the first part: sk-ant-"},
		"what is no secret or too short": {"/home/somebody and 1234567 stay", "/home/somebody and 1234567 stay"},
		"a key without its beginning":    {strings.Repeat("\x1b[0m", (2*maxRaw-8)/4) + "sk-ant-0123456789", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tailOf(t, env, c.text); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestASecretThatContainsAnotherIsHiddenCompletely(t *testing.T) {
	env := []string{"ANTHROPIC_API_KEY=sk-ant-0123456789", "ANTHROPIC_AUTH_TOKEN=sk-ant-0123456789-and-more"}
	for range 2 {
		if got := tailOf(t, env, "bad token sk-ant-0123456789-and-more, sorry"); got != "bad token [hidden], sorry" {
			t.Errorf("with %q: %q", env, got)
		}
		slices.Reverse(env)
	}
}

func TestTheTailIsTheSameHoweverTheOutputIsCut(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "\n", "\r\n", "12 | ", "ü", "\xf0\x9f", "\x1b[3", "m", " ", "sk-ant-0123456789", strings.Repeat("long ", 100)})
	env := []string{"ANTHROPIC_API_KEY=sk-ant-0123456789"}
	testkit.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(words, 0, 200).Draw(r, "text"), "")
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(r, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
			if got := tailOf(t, env, pieces...); strings.Contains(got, "sk-ant-0123456789") {
				r.Fatalf("a key on the way: %q", got)
			}
		}
		if got, want := tailOf(t, env, pieces...), tailOf(t, env, text); got != want {
			r.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}
