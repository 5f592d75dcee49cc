package prompt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
)

func TestAQuoteIsCutAt500CharactersAndEmptyOnesAreNone(t *testing.T) {
	long := strings.Repeat("é", 501)
	for _, tt := range []struct{ replied, want string }{
		{"", "hi"},
		{" \n\x1b[2J", "hi"},
		{"a", "> a\n\nhi"},
		{"a\r\n\nb", "> a\n> \n> b\n\nhi"},
		{long[:1000], "> " + long[:1000] + "\n\nhi"},
		{long, "> " + long[:1000] + "...\n\nhi"},
		{QuoteEmbed(post.Embed{}), "hi"},
		{QuoteEmbed(post.Embed{Fields: []post.Field{{Name: "a", Value: "b"}}}), "> **a**: b\n\nhi"},
	} {
		if got := Quote(tt.replied, "hi"); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.replied, got, tt.want)
		}
	}
}

func TestPropertyNoQuotedLineBeginsInTheFirstColumn(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		replied := rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune("\n\r\u2028\x1b[a >")), rapid.Rune())).Draw(t, "replied")
		got := Quote(replied, "MESSAGE")
		quote, ok := strings.CutSuffix(got, "MESSAGE")
		if !ok {
			t.Fatalf("%q lost the message", got)
		}
		if quote == "" {
			return
		}
		quote, ok = strings.CutSuffix(quote, "\n\n")
		lines := strings.Split(quote, "\n")
		for _, line := range lines {
			if !strings.HasPrefix(line, "> ") {
				t.Fatalf("%q has a line %q", got, line)
			}
		}
		if n := utf8.RuneCountInString(quote) - 2*len(lines); !ok || n > maxQuoted+len("...") {
			t.Fatalf("%d characters are quoted", n)
		}
	})
}
