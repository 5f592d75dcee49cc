package table

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
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
func fruits(list []fruit, above int) *Table {
	t := &Table{Columns: []Column{
		{Head: "DAY", Cells: 5},
		{Head: "NAME", Least: 8, Most: 14},
		{Head: "N", Cells: 4, Right: true, Falls: true},
		{Head: "TWICE", Cells: 6, Right: true, Falls: true},
		{Head: "AGAIN", Cells: 6, Right: true, Falls: true},
	}}
	t.Fill(Source{
		Len: len(list), Above: above,
		Cell: func(row, column int) widget.Span {
			f := list[row]
			switch {
			case column == 0:
				return widget.Span{Text: strconv.Itoa(row)}
			case column == 1:
				return widget.Span{Text: f.name}
			case f.n == 0:
				return Blank()
			}
			return widget.Span{Text: strconv.Itoa(f.n * (column - 1))}
		},
		Text: func(row int) string { return list[row].name + " " + list[row].why },
		Compare: func(column, a, b int) int {
			switch column {
			case 0:
				return cmp.Compare(a, b)
			case 1:
				return strings.Compare(list[a].name, list[b].name)
			}
			return cmp.Compare(list[a].n, list[b].n)
		},
		Note: func(row int) widget.Span { return widget.Span{Text: list[row].why} },
	})
	return t
}

var look = theme.New(theme.Options{Plain: true})

func drawn(t *Table, w, h int) []string {
	var out []string
	for _, r := range t.Draw(look, w, h, true, strconv.Itoa(t.Shown())+" fruits") {
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

func names(t *Table, list []fruit) string {
	var out []string
	for i := range t.Shown() {
		out = append(out, list[t.nth(i)].name)
	}
	return strings.Join(out, " ")
}

func TestRowsStandInColumnsAroundARule(t *testing.T) {
	same(t, drawn(fruits(basket, 1), 60, 8),
		"  DAY   NAME              N  TWICE  AGAIN",
		"▸ 0     pear              3      6      9",
		"────────────────────────────────────────────────────────────",
		"  1     Quince            ·      ·      ·  it fell down and…",
		"  2     apple            12     24     36",
		"  3     fig               7     14     21",
		"  4     banana            ·      ·      ·",
		"")
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

func TestANoteStandsInCellsThatSayNothing(t *testing.T) {
	same(t, drawn(fruits(basket, 0), 40, 3)[2:], "  1     Quince  it fell down and is bru…")
}

func TestAColumnOrdersTheRowsBelowTheRule(t *testing.T) {
	b := fruits(basket, 1)
	b.Select(3) // the fig
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { b.Sort(2) }, "pear apple fig Quince banana"},
		{func() { b.Sort(2) }, "pear Quince banana fig apple"},
		{func() { b.Sort(2) }, "pear Quince apple fig banana"},
		{func() { b.Next() }, "pear Quince apple fig banana"},
		{func() { b.Turn() }, "pear banana fig apple Quince"},
		{func() { b.Next() }, "pear Quince apple banana fig"},
	} {
		step.do()
		if got := names(b, basket); got != step.want {
			t.Errorf("%s, want %s", got, step.want)
		}
		if b.Row() != 3 {
			t.Errorf("the selection went from the fig to %s", basket[b.Row()].name)
		}
	}
}

func TestTheHeadUnderThePointerOrders(t *testing.T) {
	b := fruits(basket, 0)
	head := b.Draw(look, 60, 5, true, "")[0]
	if column, ok := Heading(head.At(25)); !ok || column != 2 {
		t.Errorf("cell 25 is the head of column %d, %v", column, ok)
	}
	if _, ok := Heading(head.At(0)); ok {
		t.Error("the gutter is a head")
	}
	row := b.Draw(look, 60, 5, true, "")[2]
	if at := row.At(27); at != 1 {
		t.Errorf("the second row says that it is %d", at)
	}
}

func typed(b *Table, s string) {
	for _, r := range s {
		b.Type(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func TestAFilterLeavesRowsOutAndKeepsTheSelection(t *testing.T) {
	b := fruits(basket, 1)
	b.Select(4)
	b.Query.Open()
	typed(b, "an")
	if got := names(b, basket); got != "Quince banana" || b.Row() != 4 {
		t.Errorf("shown are %s, selected is %d", got, b.Row())
	}
	typed(b, " is")
	if got := names(b, basket); got != "Quince" {
		t.Errorf("every word must be found, but shown are %s", got)
	}
	same(t, drawn(b, 60, 4),
		"  DAY   NAME              N  TWICE  AGAIN",
		"▸ 1     Quince            ·      ·      ·  it fell down and…",
		"",
		" /an is                                            1 fruits")
	b.Type(tea.KeyPressMsg{Code: tea.KeyEnter})
	if b.Query.Typing() || !b.Query.On() {
		t.Error("enter keeps the filter and gives the keys back")
	}
	if !b.EndQuery() || names(b, basket) != "pear Quince apple fig banana" || b.Row() != 1 {
		t.Errorf("without the filter: %s, %d", names(b, basket), b.Row())
	}
	if b.EndQuery() {
		t.Error("there was no filter to end")
	}
}

func TestAFilterThatKeepsNothingShowsNothing(t *testing.T) {
	b := fruits(basket, 1)
	b.Query.Open()
	typed(b, "grape")
	if b.Row() != -1 || b.Shown() != 0 {
		t.Errorf("row %d of %d", b.Row(), b.Shown())
	}
	b.Move("down")
	drawn(b, 40, 6)
	b.Type(tea.KeyPressMsg{Code: tea.KeyEscape})
	if b.Shown() != len(basket) {
		t.Error("esc shows every row again")
	}
}

func TestLinesAreExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(rt, "rows")
		list := make([]fruit, n)
		for i := range list {
			list[i] = fruit{rapid.String().Draw(rt, "name"), rapid.String().Draw(rt, "why"), i % 3}
		}
		b := fruits(list, rapid.IntRange(0, n).Draw(rt, "above"))
		for _, do := range rapid.SliceOf(rapid.IntRange(0, 5)).Draw(rt, "steps") {
			switch do {
			case 0:
				b.Move("down")
			case 1:
				b.Move("pgdn")
			case 2:
				b.Next()
			case 3:
				b.Turn()
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
	b.Move("end")
	asked := 0
	cell := b.source.Cell
	b.source.Cell = func(row, column int) widget.Span {
		asked++
		return cell(row, column)
	}
	drawn(b, 120, 40)
	if most := 39 * len(b.Columns); asked > most {
		t.Errorf("%d cells were asked for, %d are in view", asked, most)
	}
	b.Query.Open()
	typed(b, "fruit")
	b.source.Text = func(int) string { asked++; return "" }
	asked = 0
	for range 100 { // as with each snapshot
		b.Fill(b.source)
	}
	if asked > 0 {
		t.Errorf("%d rows were filtered anew, though none had changed", asked)
	}
}

func BenchmarkDraw(b *testing.B) {
	list := make([]fruit, 10_000)
	for i := range list {
		list[i] = fruit{fmt.Sprintf("fruit %d", i), "", i}
	}
	t := fruits(list, 0)
	dark := theme.New(theme.Options{Dark: true, Profile: 1 << 24})
	for b.Loop() {
		t.Draw(dark, 198, 56, true, "")
	}
}
