package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// sitesOf returns the sites of a function's body, and its source with all of them.
func sitesOf(t *testing.T, body string) ([]site, string) {
	t.Helper()
	source := "package p\nvar n, k int; var f float64; var ok bool; var s string; var err error\nfunc do() {}\nfunc g() (int, error) {\n" + body + "\nreturn n, nil\n}\n"
	m := &mutator{
		fset: token.NewFileSet(), sites: []site{{}},
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}},
	}
	file, err := parser.ParseFile(m.fset, "p.go", source, parser.SkipObjectResolution)
	if err == nil {
		m.own, err = (&types.Config{}).Check("p", m.fset, []*ast.File{file}, m.info)
	}
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	m.file(file)
	return m.sites, string(changed("p.go", []byte(source), m.sites))
}

func TestEachKindOfPlaceCanBeChanged(t *testing.T) {
	for _, c := range []struct{ source, whats, becomes string }{
		{"if ok { do() }", "condition negated, statement left out", "if (mutantAt(3) != (ok)) { mutantAt(4); if !mutantAt(5) { do() } }"},
		{"ok = n < k", "statement left out, bound moved: <", "if !mutantAt(3) { ok = mutantLess(4, n , k) }"},
		{"for n>=k { n-- }", "condition negated, bound moved: >=, statement left out", "for (mutantAt(3) != (mutantMost(4, n,k))) { mutantAt(5); if !mutantAt(6) { n-- } }"},
		{"_ = s == \"\"", "condition negated", "_ = (mutantAt(3) != (s == \"\"))"},
		{"_ = ok && n > k && s != s", "condition left out, condition left out, condition left out", "_ = (ok || mutantAt(3)) && (n > k || mutantAt(4)) && (s != s || mutantAt(5))"},
		{"_ = ok || !ok", "condition left out, condition left out", "_ = (ok && !mutantAt(3)) || (!ok && !mutantAt(4))"},
		{"_ = n + k*2", "other operator: +, other operator: *, other number", "_ = mutantAdd(3, n , mutantMul(4, k,mutantNumber[int](5, 2)))"},
		{"x := 2 * f; _ = x", "other operator: *, other number", "x := mutantMul(3, mutantNumber[float64](4, 2) , f); _ = x"},
		{"s += \"a\" + \"b\"", "statement left out, other word", "if !mutantAt(3) { s += mutantWord[string](4, \"a\" + \"b\") }"},
		{"ok = true", "statement left out, constant negated", "if !mutantAt(3) { ok = (mutantAt(4) != true) }"},
		{"return 0, err", "error dropped", "return 0, mutantError(3, err)"},
		{"return 1, nil", "other number", "return mutantNumber[int](3, 1), nil"},
		{"switch n { case 1: do() }", "other number, statement left out", "switch n { case mutantNumber[int](4, 1): mutantAt(3); if !mutantAt(5) { do() } }"},
		{
			"const c = 1 + 1; x := c << n; var a [c]int; panic(len(make([]int, 3)) + x + a[0])", "other operator: +, other operator: +, other number",
			"const c = 1 + 1; x := c << n; var a [c]int; panic(mutantAdd(3, mutantAdd(4, len(make([]int, 3)) , x) , a[mutantNumber[int](5, 0)]))",
		},
	} {
		sites, text := sitesOf(t, c.source)
		var whats []string
		for _, s := range sites[3:] { // after 0 and the blocks of both functions
			if s.what != "" {
				whats = append(whats, s.what)
			}
		}
		if got := strings.Join(whats, ", "); got != c.whats || !strings.Contains(text, c.becomes) {
			t.Errorf("%s: %s\n%s\nwant %s\n%s", c.source, got, text, c.whats, c.becomes)
		}
	}
}

func TestASeedChoosesTheSameMutantsAfterAChangeElsewhere(t *testing.T) {
	subjectOf := func(before string) *subject {
		s := &subject{sites: make([]site, 1)}
		text := before
		for i := range 100 {
			text += fmt.Sprintf("if a%d {\n", i/2) // each line is there twice
			at := token.Position{Filename: "/p/a.go", Line: strings.Count(text, "\n")}
			s.sites = append(s.sites, site{what: "condition negated", at: at}, site{at: at})
		}
		s.sites[1].dropped = true
		name(s.sites, map[string][]byte{"/p/a.go": []byte(text)})
		return s
	}
	places := func(s *subject, seed uint64, count int, only string) (all []string) {
		m := mutants{seed: seed, count: count, only: regexp.MustCompile(only)}
		for _, one := range m.choose(s, nil) {
			all = append(all, one.place())
		}
		return all
	}
	s := subjectOf("")
	a := places(s, 7, 10, "")
	if len(a) != 10 || !slices.Equal(a, places(s, 7, 10, "")) || slices.Equal(a, places(s, 8, 10, "")) {
		t.Errorf("seed 7 chooses %q", a)
	}
	for i, place := range places(subjectOf("package p\n\n"), 7, 10, "") {
		var before, after int
		_, err := fmt.Sscanf(a[i]+" "+place, "a.go:%d:0 a.go:%d:0", &before, &after)
		if err != nil || after != before+2 {
			t.Errorf("two lines further down, %s is in the place of %s", place, a[i])
		}
	}
	if all := places(s, 1, 0, ""); len(all) != 99 {
		t.Errorf("%d of 99 that compile", len(all))
	}
	if got := places(s, 1, 0, `^a\.go:5:`); len(got) != 1 {
		t.Errorf("line 5 has %q", got)
	}
}

func TestATestThatOthersReplaceIsSpare(t *testing.T) {
	chosen := []mutant{{die: []string{"TestA", "TestB"}}, {die: []string{"TestC"}}}
	reach := map[int][]string{1: {"TestA", "TestB", "TestC"}, 2: {"TestB"}}
	if got := fmt.Sprint(spare(chosen, reach)); got != "[TestA]" {
		t.Errorf("spare: %s", got)
	}
}

func TestWhatFailedPanickedOrDidNotEndIsNamed(t *testing.T) {
	for out, want := range map[string]string{
		"--- FAIL: TestA (0.00s)\n    a_test.go:3: no\n    --- FAIL: TestA/b (0.00s)\n--- FAIL: TestB (0.10s)\nFAIL\n": "[TestA TestB]",
		"--- FAIL: TestA (0.00s)\npanic: torn [recovered]\n":                                                           "[TestA]",
		"panic: test timed out after 1s\n\trunning tests:\n\t\tTestC (1s)\n":                                           "[TestC]",
	} {
		if got := fmt.Sprint(failures(out)); got != want {
			t.Errorf("%q: %s", out, got)
		}
	}
}

// A package with a mutant of each fate: killed, reached, not reached, without end, and one that does not compile.
func TestMutantsOfAPackageDieOrLiveByItsTests(t *testing.T) {
	testkit.Alone(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module sample\n\ngo 1.26\n",
		"a.go": `package sample

import "time"

func Late(n int) bool {
	return n > 3
}

func Sum(n int) (sum int) {
	for n > 0 {
		sum += n
		n--
	}
	return sum
}

func Unseen(time int) int {
	return -time * 2
}

var Patience = 3 * time.Second

func Odd() time.Duration {
	type time struct{}
	return Patience
}
`,
		"a_test.go": `package sample

import "testing"

func TestLate(t *testing.T) {
	if Late(1) || !Late(4) {
		t.Error("late")
	}
}

func TestSum(t *testing.T) {
	if Sum(3) != 6 {
		t.Error("sum")
	}
}

func TestSumAgain(t *testing.T) {
	if Sum(3) != 6 {
		t.Error("sum")
	}
}
`,
	} {
		if err := errors.Join(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := called(t, dir, "mutants", "-unique", "-least=99", ".")
	if err == nil || !strings.Contains(out, "fewer than 99% of its mutants are killed") {
		t.Errorf("%v", err)
	}
	for _, want := range []string{
		"lived  a.go:6:11 bound moved: >: reached by 1, first TestLate\n",
		"killed a.go:6:13 other number: by ",
		"killed a.go:10:6 condition negated: by TestSum, TestSumAgain\n",
		"killed a.go:12:3 statement left out: by ",
		"lived  a.go:18:15 other operator: *: no test reaches it\n",
		"spare  TestSum reaches no block and kills no mutant of its own\n",
		"spare  TestSumAgain reaches",
		"sample: ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not print %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}
