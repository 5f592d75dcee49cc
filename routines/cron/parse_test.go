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
