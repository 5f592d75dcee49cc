package cron

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"ollimbot/core/base/goldentest"
)

// Behind each expression, which is in quotes where it has odd spaces, are its words with the notes, or its mistake.
func TestAnExpressionIsSaidInWordsOrItsMistakeIsNamed(t *testing.T) {
	goldentest.Stories(t, "expressions.txt", func(t *testing.T, story string) string {
		var out strings.Builder
		for line := range strings.Lines(story) {
			written, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " →")
			expr, err := strconv.Unquote(written)
			if err != nil {
				expr = written
			}
			s, err := Parse(expr)
			var bad *Error
			switch {
			case err == nil:
				fmt.Fprintln(&out, strings.TrimSpace(fmt.Sprintf("%s → %s", written, strings.Join(append([]string{s.Words()}, s.Notes()...), " ! "))))
			case errors.As(err, &bad) && bad.Error() == bad.Message:
				fmt.Fprintf(&out, "%s → column %d: %s\n", written, bad.Column, bad.Message)
			default:
				t.Errorf("%q: %v is no *Error", expr, err)
			}
		}
		return out.String()
	})
	if s := (Schedule{}); s.Words() != "never" || s.Notes() != nil {
		t.Errorf("the zero Schedule says %q with notes %v", s.Words(), s.Notes())
	}
}

func TestAnExpressionAtAnotherTimeKeepsItsDays(t *testing.T) {
	for expr, want := range map[string]string{
		"0 9 * * 1-5": "9 0 true, 30 7 * * 1-5", "0,30 9 * * *": "9 0 false, 30 7 * * *", "0 9,10 1 6 *": "9 0 false, 30 7 1 6 *",
	} {
		s := mustParse(t, expr)
		hour, minute, ok := s.Daily()
		if got := fmt.Sprint(hour, " ", minute, " ", ok, ", ", s.AtTime(7, 30)); got != want {
			t.Errorf("%s: %s, want %s", expr, got, want)
		}
	}
	if got := (Schedule{}).AtTime(7, 30); got != "" {
		t.Errorf("the zero Schedule becomes %q", got)
	}
}

func TestTheDaysOfAnExpressionAreKnownByWhatRestrictsThem(t *testing.T) {
	all, week := [7]bool{true, true, true, true, true, true, true}, [7]bool{1: true, 2: true, 3: true, 4: true, 5: true}
	for expr, want := range map[string]Days{
		"0 9 * * *":    {all, true, true, "every month", "Monday to Sunday"},
		"0 9 * * 1-5":  {week, false, true, "every month", "Monday to Friday"},
		"0 9 1 * *":    {all, false, false, "every month", "Monday to Sunday"},
		"0 9 1 6 1-5":  {week, false, false, "June", "Monday to Friday"},
		"0 9 1 * 0-6":  {all, true, true, "every month", "Monday to Sunday"},
		"0 9 1-31 * 1": {all, true, true, "every month", "Monday"},
		"0 9 */1 * 1":  {[7]bool{1: true}, false, true, "every month", "Monday"},
	} {
		if got := mustParse(t, expr).Days(); got != want {
			t.Errorf("%s: %+v, want %+v", expr, got, want)
		}
	}
}
