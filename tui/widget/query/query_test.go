package query_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/tui/widget/query"
)

// now is a Monday.
var now = time.Date(2026, 11, 23, 14, 2, 0, 0, time.FixedZone("PT", -8*3600))

func on(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, now.Location()) }

func TestAQueryFindsRowsByWordsDatesAndStates(t *testing.T) {
	rows := map[string]query.Facts{
		"mail":   {Text: "Check the mail", At: on(22, 23), Is: []string{"failed", "routine"}},
		"review": {Text: "Weekly review of the mail", At: on(24, 9), Is: []string{"silent", "routine"}},
		"sunday": {Text: "Sunday reset", At: on(25, 9), Is: []string{"reminder"}},
		"never":  {Text: "Call Dana on 21 Nov", Is: []string{"held", "reminder"}},
	}
	for _, c := range []struct{ query, want string }{
		{"", "mail never review sunday"},
		{"mail", "mail review"},
		{"the check", "mail"},
		{`"the check"`, ""},
		{`"of the mail"`, "review"},
		{`"of the`, "review"},
		{"Mail", ""},
		{"!mail", "never sunday"},
		{`!"check the"`, "never review sunday"},
		{"tuesday", "review"},
		{"tues mail", "review"},
		{"sunday", "mail sunday"},
		{"!sunday", "never review"},
		{"su", "sunday"},
		{"yesterday", "mail"},
		{"Today", ""},
		{"tomorrow", "review"},
		{"22 nov", "mail"},
		{"November 22", "mail"},
		{"21 nov", "never"},
		{"22 nov tomorrow", ""},
		{"2026-11-24", "review"},
		{"2025-11-24", ""},
		{"is:failed", "mail"},
		{"is:fai", "mail"},
		{"is:", "mail never review sunday"},
		{"!is:routine", "never sunday"},
		{"is:routine is:silent", "review"},
		{"is:unheard", ""},
		{"silent", "review"},
		{"!", "mail never review sunday"},
	} {
		var kept []string
		for _, name := range []string{"mail", "never", "review", "sunday"} {
			f := rows[name]
			f.Now = now
			if query.Parse(c.query).Keeps(f) {
				kept = append(kept, name)
			}
		}
		if got := strings.Join(kept, " "); got != c.want {
			t.Errorf("%s keeps %q, want %q", c.query, got, c.want)
		}
	}
}

func TestOnlyWhatIsToBeReadIsMarked(t *testing.T) {
	if got := fmt.Sprint(query.Parse(`mail !news "of the" is:failed 21 nov`).Words()); got != "[mail of the 21 nov]" {
		t.Error(got)
	}
}

func TestAQueryAsksForStates(t *testing.T) {
	for text, want := range map[string]bool{"is:": true, "mail is:fa": true, "!is:": true, "is:failed ": false, "this": false, "": false} {
		if _, ok := query.Asks(text); ok != want {
			t.Errorf("%q", text)
		}
	}
	if begun, _ := query.Asks("mail !is:Fa"); begun != "fa" {
		t.Errorf("the state begins with %q", begun)
	}
}

// A term and its opposite part the rows, whatever is written.
func TestAnOppositeKeepsWhatItsTermLeavesOut(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zA-Z0-9:-]{1,8}|is:[a-z]{1,4}|tuesday|today|2026-11-2[0-9]`).Draw(t, "word")
		f := query.Facts{Text: rapid.StringMatching(`[a-z ]{0,12}`).Draw(t, "text"), At: on(rapid.IntRange(1, 30).Draw(t, "day"), 9), Now: now, Is: []string{"failed"}}
		q := query.Parse(word)
		if q.On() && q.Keeps(f) == query.Parse("!"+word).Keeps(f) {
			t.Fatalf("%q and its opposite agree about %+v", word, f)
		}
	})
}
