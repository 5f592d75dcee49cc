package prompt

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
)

func TestForkPromptsReadAsTheGoldenFilesDo(t *testing.T) {
	for name, got := range map[string]string{
		"started":    ForkStarted(""),
		"topic":      ForkStarted(" Plan the\nmove\x1b[31m "),
		"reply":      ForkReply("What about the blue one?"),
		"button":     ForkButton("Sam", "Draft the answer to the landlord"),
		"stale":      Stale(3*time.Hour + 20*time.Minute),
		"idle":       ForkIdle(10*time.Minute+20*time.Second, false),
		"idle-hard":  ForkIdle(20*time.Minute, true),
		"idle-short": ForkIdle(30*time.Second, false),
		"report":     ForkReport(),
		"button-out": Button("Help me with the rent\n"),
		"quote":      Quote("First line\n\nThird line", "And then?"),
		"quote-card": Quote(QuoteEmbed(card()), "Done."),
	} {
		golden(t, "fork-"+name, got)
	}
}

func card() post.Embed {
	return post.Embed{
		Title: "Landlord", Description: "Three things\nto answer", Footer: "bg",
		Fields:  []post.Field{{Name: "Rent", Value: "due Friday"}, {Name: "Keys", Value: "two\nleft"}},
		Buttons: []post.Button{{Label: "Help", Action: "agent:help"}},
	}
}

// The words that agents have always been given, byte for byte.
func TestForkPromptsHoldTheRequiredWords(t *testing.T) {
	const seed = `[fork-started] You are now inside an interactive fork resumed from a
background fork. Your conversation history from that session is available.

Sam clicked a button on your output: Draft it

Address their request, then continue the conversation — this is an
interactive fork, not a one-shot answer.`
	if got := ForkButton("Sam", "Draft it"); !strings.HasPrefix(got, seed+"\n\n") || !strings.Contains(got, "unless Sam asks") {
		t.Errorf("%s", got)
	}
	for _, tt := range []struct {
		got   string
		words []string
	}{
		{ForkStarted("plants"), []string{"[fork-started] ", "interactive fork", "\n\nTopic: plants\n\n", "wait for the user's reply"}},
		{ForkStarted(" \x1b[0m\n"), []string{"[fork-started] ", "No topic", "the user leads", "wait for their message"}},
		{ForkReply("yes"), []string{"[fork-started] ", "background fork", "the user replied", "\n\nyes"}},
		{Stale(0), []string{"[stale-fork] ", "(just now)", "`save_context` is unavailable", "`report_updates`"}},
		{Stale(48 * time.Hour), []string{"(2 days ago)"}},
		{ForkIdle(time.Minute, false), []string{"[fork-timeout] ", "1 minute.", "still seems engaged"}},
		{ForkIdle(20*time.Minute, true), []string{"[fork-timeout] ", "20 minutes", "told so before", "MUST", "exit_fork"}},
		{ForkReport(), []string{"[system] ", "Report", "`report_updates", "concise summary", "no other tool", "ends right after"}},
		{Button(" do it "), []string{"[button] do it"}},
	} {
		for _, w := range tt.words {
			if !strings.Contains(tt.got, w) {
				t.Errorf("%q lacks %q", tt.got, w)
			}
		}
	}
}

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

func TestPropertyNoQuotedLineStandsInTheFirstColumn(t *testing.T) {
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
