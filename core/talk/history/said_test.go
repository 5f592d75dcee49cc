package history

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	promptwords "ollimbot/core/brief/prompt"
	"ollimbot/core/work/updates"
)

func TestWhoSpeaksInAMessage(t *testing.T) {
	const head = "[2026-02-24 Tue 02:30 PM PT] "
	for _, tt := range []struct {
		text string
		want said
	}{
		{"typed by hand", said{User, "", "typed by hand", true}},
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
