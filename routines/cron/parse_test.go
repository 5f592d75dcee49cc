package cron

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func mustParse(t testing.TB, expr string) Schedule {
	t.Helper()
	s, err := Parse(expr)
	if err != nil {
		t.Fatalf("Parse(%q): %v", expr, err)
	}
	return s
}

func TestFieldsMeanWhatStandardCronSays(t *testing.T) {
	for _, c := range []struct {
		field int // 0 minute to 4 day of week
		text  string
		want  []int
	}{
		{0, "0", []int{0}},
		{0, "005", []int{5}},
		{0, "1,3,5", []int{1, 3, 5}},
		{0, "50-10/10", []int{0, 10, 50}},
		{0, "5/15", []int{5, 20, 35, 50}},
		{0, "*/25", []int{0, 25, 50}},
		{0, "*,5", nil},
		{1, "22-2", []int{0, 1, 2, 22, 23}},
		{1, "9-17/4", []int{9, 13, 17}},
		{1, "20/2", []int{20, 22}},
		{2, "28-2", []int{1, 2, 28, 29, 30, 31}},
		{2, "*/10", []int{1, 11, 21, 31}},
		{3, "nov-feb", []int{1, 2, 11, 12}},
		{3, "JAN,September,sept,Dec", []int{1, 9, 12}},
		{3, "*/5", []int{1, 6, 11}},
		{4, "0", []int{0}},
		{4, "7", []int{0}},
		{4, "0-6", []int{0, 1, 2, 3, 4, 5, 6}},
		{4, "0-7", []int{0, 1, 2, 3, 4, 5, 6}},
		{4, "1-7", []int{0, 1, 2, 3, 4, 5, 6}},
		{4, "5-7", []int{0, 5, 6}},
		{4, "5-7/2", []int{0, 5}},
		{4, "7-1", []int{0, 1}},
		{4, "7/1", []int{0}},
		{4, "6-0", []int{0, 6}},
		{4, "fri-mon", []int{0, 1, 5, 6}},
		{4, "Fri-MONDAY/2", []int{0, 5}},
		{4, "1-5/2", []int{1, 3, 5}},
		{4, "mon-fri/2", []int{1, 3, 5}},
		{4, "tues,thurs", []int{2, 4}},
		{4, "*/2", []int{0, 2, 4, 6}},
		{4, "2/2", []int{2, 4, 6}},
	} {
		words := []string{"0", "0", "*", "*", "*"}
		words[c.field] = c.text
		s := mustParse(t, strings.Join(words, " "))
		got := [...]set{s.minute, s.hour, s.dom, s.month, s.dow}[c.field]
		if c.want == nil {
			if got.count() != fields[c.field].cycle {
				t.Errorf("%s in field %d: got %v, want all", c.text, c.field, got.values())
			}
			continue
		}
		if diff := cmp.Diff(c.want, got.values()); diff != "" {
			t.Errorf("%s in field %d: %s", c.text, c.field, diff)
		}
	}
}

func TestMistakesAreAnsweredWithTheirColumnAndTheCure(t *testing.T) {
	for _, c := range []struct {
		expr   string
		column int
		cure   string
	}{
		{"", 1, "write five fields"},
		{" \t ", 1, "write five fields"},
		{"0 9 * *", 8, "this has four"},
		{"0 9 * *  ", 8, "this has four"},
		{"0 0 9 * * *", 11, "delete the extra field"},
		{"0 9 * * * echo hello", 11, "this has seven"},
		{"0", 2, "this has one"},
		{"@daily", 1, "write 0 0 * * *"},
		{"@DAILY", 1, "write 0 0 * * *"},
		{"@hourly", 1, "write 0 * * * *"},
		{"@every 5m", 1, "write */30 * * * *"},
		{"@reboot", 1, "write five fields"},
		{"@noon", 1, "write five fields"},
		{"TZ=Europe/Berlin 0 9 * * *", 1, "OLLIM_TIMEZONE"},
		{"TZ=Europe/Berlin", 1, "OLLIM_TIMEZONE"},
		{"CRON_TZ=UTC", 1, "OLLIM_TIMEZONE"},
		{"TZ= 0 9 * * *", 1, "OLLIM_TIMEZONE"},
		{"61 9 * * *", 1, "write 0 to 59"},
		{"60 9 * * *", 1, "write 0 to 59"},
		{"99999999999999999999999 9 * * *", 1, "write 0 to 59"},
		{"0 24 * * *", 3, "write 0 to 23"},
		{"0 9 0 * *", 5, "write 1 to 31"},
		{"0 9 32 * *", 5, "write 1 to 31"},
		{"0 9 * 13 *", 7, "write 1 to 12"},
		{"0 9 * * 8", 9, "0 and 7 are Sunday"},
		{"0 9 * * 1-8", 11, "0 and 7 are Sunday"},
		{"0 9 * * mo", 9, "sun to sat"},
		{"0 9 * * mondays", 9, "sun to sat"},
		{"0 9 mon * *", 5, "write 1 to 31"},
		{"0 9 ? * *", 5, "write * for any day"},
		{"0 9 L * *", 5, "days: last day"},
		{"0 9 15W * *", 7, "nearest weekday"},
		{"0 9 * * 5L", 10, "L (last)"},
		{"0 9 * * 1#2", 10, "days: second friday"},
		{"*/0 9 * * *", 3, "write 1 or more"},
		{"*/60 9 * * *", 3, "write at most 59"},
		{"*/100 9 * * *", 3, "write at most 59"},
		{"0 */24 * * *", 5, "write at most 23"},
		{"0 9 * * 1-3/3", 13, "write at most 2"},
		{"5-5/3 * * * *", 5, "leave /3 out"},
		{"*/x * * * *", 3, "digits only"},
		{"*/-5 * * * *", 3, "digits only"},
		{"5/ * * * *", 3, "write a number"},
		{"/2 * * * *", 1, "write */2"},
		{"1/2/3 * * * *", 5, "two steps"},
		{"1,,2 * * * *", 3, "extra comma"},
		{",1 * * * *", 1, "extra comma"},
		{"1, * * * *", 3, "extra comma"},
		{"+5 * * * *", 1, "plain number"},
		{"-5 * * * *", 1, "plain number"},
		{"1-+5 * * * *", 3, "plain number"},
		{"5- * * * *", 3, `write "5-59"`},
		{"1-2-3 * * * *", 5, "two dashes"},
		{"5* * * * *", 2, "only at the start"},
		{"*5 * * * *", 1, "write 0 to 59"},
		{"*-5 * * * *", 1, "write 0 to 59"},
		{"  é 9 * * *", 3, "is not a minute"},
		{"0 ９ * * *", 3, "is not an hour"},
		{"0 9\u00a0* *", 8, "this has four"},
	} {
		_, err := Parse(c.expr)
		var bad *Error
		if !errors.As(err, &bad) {
			t.Errorf("Parse(%q): got %v, want an *Error", c.expr, err)
			continue
		}
		if bad.Column != c.column || !strings.Contains(bad.Message, c.cure) {
			t.Errorf("Parse(%q): column %d: %s\nwant column %d and %q", c.expr, bad.Column, bad.Message, c.column, c.cure)
		}
	}
}

func TestSpacesOfAnyKindSeparateFields(t *testing.T) {
	s := mustParse(t, "\t 0\u00a0 9  *\t* 1-5 ")
	if got, want := s.String(), "0 9 * * 1-5"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	if !s.Equal(mustParse(t, "0 9 * * 1-5")) {
		t.Error("the same expression with other spaces is not equal")
	}
}

// exprRunes are characters that people type or paste.
const exprRunes = "0123456789*/-,?LW#@ \tmonfrijauTZ=+.é\u00a0"

func TestErrorsPointIntoTheExpressionAndSchedulesParseAgain(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		expr := rapid.OneOf(
			rapid.StringOfN(rapid.RuneFrom([]rune(exprRunes)), 0, 24, -1),
			rapid.Custom(func(t *rapid.T) string { return drawJob(t).expr }),
		).Draw(t, "expr")
		checkParse(t, expr)
	})
}

func checkParse(t interface{ Fatalf(string, ...any) }, expr string) {
	s, err := Parse(expr)
	if err == nil {
		again, err := Parse(s.String())
		if err != nil || again != s {
			t.Fatalf("%q became %q, which parses to something else: %v", expr, s, err)
		}
		if w := s.Words(); w == "" || strings.Contains(w, "  ") || strings.ContainsAny(w, "\n%") {
			t.Fatalf("Words of %q: %q", expr, w)
		}
		for _, n := range s.Notes() {
			if !strings.HasSuffix(n, ".") || strings.Contains(n, "%!") {
				t.Fatalf("note on %q: %q", expr, n)
			}
		}
		return
	}
	var bad *Error
	if !errors.As(err, &bad) || bad.Message == "" {
		t.Fatalf("Parse(%q): %v is no usable *Error", expr, err)
	}
	if bad.Column < 1 || bad.Column > utf8.RuneCountInString(expr)+1 {
		t.Fatalf("Parse(%q): column %d is outside of it", expr, bad.Column)
	}
}
