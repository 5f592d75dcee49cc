package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/query"
)

type fruit struct {
	name, why string
	n         int
}

var basket = []fruit{
	{"pear", "", 3},
	{"Quince", "it fell down and is bruised", 0},
	{"apple", "", 12},
	{"fig", "", 7},
	{"banana", "", 0},
}

// fruits is a table of a basket whose first rows stand above the rule.
func fruits(list []fruit, above int) *Table[fruit] {
	times := func(head string, cells, by int) Column[fruit] {
		return Number(head, cells, theme.Text, func(f fruit) int { return f.n * by }, strconv.Itoa)
	}
	t := &Table[fruit]{
		Columns: []Column[fruit]{
			{
				Head: "DAY", Cells: 5, Cell: func(f fruit) widget.Span { return widget.Span{Text: strconv.Itoa(slices.Index(list, f))} },
				Compare: func(a, b fruit) int { return cmp.Compare(slices.Index(list, a), slices.Index(list, b)) },
			},
			{Head: "NAME", Least: 8, Cell: func(f fruit) widget.Span { return widget.Span{Text: f.name} }},
			times("N", 4, 1), times("TWICE", 6, 2), times("AGAIN", 6, 3),
		},
		Noun:  "fruit",
		Facts: func(f fruit) query.Facts { return query.Facts{Text: f.name + " " + f.why} },
		Note:  func(f fruit) widget.Span { return widget.Span{Text: f.why} },
	}
	t.Fill(list[above:])
	t.Pin(list[:above])
	return t
}

// day is which fruit of the list is selected, or -1.
func day(t *Table[fruit], list []fruit) int {
	f, ok := t.Row()
	if !ok {
		return -1
	}
	return slices.Index(list, f)
}

// choose selects a fruit of the list.
func choose(t *Table[fruit], f fruit) { t.Select(func(o fruit) bool { return o == f }) }

var look = theme.New(theme.Options{Plain: true})

func drawn[T any](t *Table[T], w, h int) []string {
	var out []string
	for _, r := range t.Draw(look, w, h, true) {
		out = append(out, r.Text)
	}
	return out
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	for i := range got {
		got[i] = strings.TrimRight(got[i], " ")
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func names(t *Table[fruit]) string {
	var out []string
	for i := range t.Shown() {
		out = append(out, t.rows[t.number(i)].name)
	}
	return strings.Join(out, " ")
}

func TestRowsStandInColumnsAroundARule(t *testing.T) {
	same(t, drawn(fruits(basket, 1), 60, 8),
		"  DAY   NAME                                 N  TWICE  AGAIN",
		"▸ 0     pear                                 3      6      9",
		"────────────────────────────────────────────────────────────",
		"  1     Quince  it fell down and is brui…    ·      ·      ·",
		"  2     apple                               12     24     36",
		"  3     fig                                  7     14     21",
		"  4     banana                               ·      ·      ·",
		"")
}

func TestNoRuleStandsBelowTheLastRow(t *testing.T) {
	same(t, drawn(fruits(basket, 3), 40, 5),
		"  DAY   NAME             N  TWICE  AGAIN",
		"▸ 0     pear             3      6      9",
		"  1     Quince           ·      ·      ·",
		"  2     apple           12     24     36",
		"  3     fig              7     14     21")
}

func TestColumnsGoFromTheRight(t *testing.T) {
	for w, want := range map[int]string{
		40: "  DAY   NAME             N  TWICE  AGAIN",
		34: "  DAY   NAME              N  TWICE", 28: "  DAY   NAME        N  TWICE",
		24: "  DAY   NAME           N", 20: "  DAY   NAME        ", 12: "  NAME", 3: "  …",
	} {
		got := drawn(fruits(basket, 0), w, 3)[0]
		if strings.TrimRight(got, " ") != strings.TrimRight(want, " ") {
			t.Errorf("%d cells: %q, want %q", w, got, want)
		}
	}
}

func TestAColumnOrdersTheRowsBelowTheRule(t *testing.T) {
	b := fruits(basket, 1)
	choose(b, basket[3]) // the fig
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { b.Sort(2) }, "pear apple fig Quince banana"},
		{func() { b.Sort(2) }, "pear Quince banana fig apple"},
		{func() { b.Sort(2) }, "pear Quince apple fig banana"},
		{func() { b.Do("sort") }, "pear Quince apple fig banana"},
		{func() { b.Do("turn") }, "pear banana fig apple Quince"},
		{func() { b.Do("sort") }, "pear apple banana fig Quince"},
	} {
		step.do()
		if got := names(b); got != step.want {
			t.Errorf("%s, want %s", got, step.want)
		}
		if day(b, basket) != 3 {
			t.Errorf("the selection went from the fig to %s", basket[day(b, basket)].name)
		}
	}
}

func TestTheHeadUnderThePointerOrders(t *testing.T) {
	b := fruits(basket, 0)
	row := b.Draw(look, 60, 5, true)[2]
	if at := row.At(45); at != 1 {
		t.Errorf("the second row says that it is %d", at)
	}
	head := b.Draw(look, 60, 5, true)[0]
	b.Press(head.At(44))
	if by := strings.Join(b.Order(), ""); by != "by N" {
		t.Errorf("cell 44 is the head of %q", by)
	}
	if b.Has(head.At(0)) {
		t.Error("the gutter is a head")
	}
}

func typed(b *Table[fruit], s string) {
	for _, r := range s {
		b.Type(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func TestAFilterLeavesRowsOutAndKeepsTheSelection(t *testing.T) {
	b := fruits(basket, 1)
	choose(b, basket[4])
	b.Query.Open()
	typed(b, "an")
	if got := names(b); got != "Quince banana" || day(b, basket) != 4 {
		t.Errorf("shown are %s, selected is %d", got, day(b, basket))
	}
	typed(b, " is")
	if got := names(b); got != "Quince" {
		t.Errorf("every word must be found, but shown are %s", got)
	}
	same(t, drawn(b, 60, 4),
		"  DAY   NAME                                 N  TWICE  AGAIN",
		"▸ 1     Quince  it fell down and is brui…    ·      ·      ·",
		"",
		" /an is                                       1 of 5 fruits")
	b.Type(tea.KeyPressMsg{Code: tea.KeyEnter})
	if b.Query.Typing() || !b.Query.On() {
		t.Error("enter keeps the filter and gives the keys back")
	}
	if !b.EndQuery() || names(b) != "pear Quince apple fig banana" || day(b, basket) != 1 {
		t.Errorf("without the filter: %s, %d", names(b), day(b, basket))
	}
	if b.EndQuery() {
		t.Error("there was no filter to end")
	}
}

func TestAFilterThatKeepsNothingShowsNothing(t *testing.T) {
	b := fruits(basket, 1)
	b.Query.Open()
	typed(b, "grape")
	if day(b, basket) != -1 || b.Shown() != 0 {
		t.Errorf("row %d of %d", day(b, basket), b.Shown())
	}
	b.Do("down")
	drawn(b, 40, 6)
	b.Type(tea.KeyPressMsg{Code: tea.KeyEscape})
	if b.Shown() != len(basket) {
		t.Error("esc shows show all rows")
	}
}

func TestLinesAreExact(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(rt, "rows")
		list := make([]fruit, n)
		for i := range list {
			list[i] = fruit{rapid.String().Draw(rt, "name"), rapid.String().Draw(rt, "why"), i % 3}
		}
		b := fruits(list, rapid.IntRange(0, n).Draw(rt, "above"))
		for _, do := range rapid.SliceOf(rapid.IntRange(0, 5)).Draw(rt, "steps") {
			switch do {
			case 0:
				b.Do("down")
			case 1:
				b.Do("pgdn")
			case 2:
				b.Do("sort")
			case 3:
				b.Do("turn")
			case 4:
				b.Query.Open()
			case 5:
				typed(b, "a")
			}
		}
		w, h := rapid.IntRange(1, 90).Draw(rt, "w"), rapid.IntRange(0, 14).Draw(rt, "h")
		rows := drawn(b, w, h)
		if len(rows) != h {
			rt.Fatalf("%d lines, want %d", len(rows), h)
		}
		for _, l := range rows {
			if ansi.StringWidth(l) != w {
				rt.Fatalf("%q has %d cells, want %d", l, ansi.StringWidth(l), w)
			}
		}
	})
}

func TestTenThousandRowsAreDrawnAsFastAsTen(t *testing.T) {
	list := make([]fruit, 10_000)
	for i := range list {
		list[i] = fruit{fmt.Sprintf("fruit %d", i), "", i}
	}
	b := fruits(list, 0)
	b.Do("end")
	asked := 0
	for i := range b.Columns {
		cell := b.Columns[i].Cell
		b.Columns[i].Cell = func(f fruit) widget.Span {
			asked++
			return cell(f)
		}
	}
	drawn(b, 120, 40)
	if most := 39 * len(b.Columns); asked > most {
		t.Errorf("%d cells were asked for, %d are in view", asked, most)
	}
	b.Query.Open()
	typed(b, "fruit")
	b.Facts = func(fruit) query.Facts { asked++; return query.Facts{} }
	asked = 0
	for range 100 { // as with each snapshot
		b.Pin(nil)
	}
	if asked > 0 {
		t.Errorf("%d rows were filtered anew, though none had changed", asked)
	}
}
