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
	godiff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/tui/theme"
	"ollimbot/tui/tuitest"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/query"
)

type fruit struct {
	name, why string
	n         int
}

var basket = []fruit{{"pear", "", 3}, {"Quince", "it fell down and is bruised", 0}, {"apple", "", 12}, {"fig", "", 7}, {"banana", "", 0}}

// fruits is a table of a basket whose first rows are above the rule.
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

// crate is many fruits.
func crate(n int) (list []fruit) {
	for i := range n {
		list = append(list, fruit{fmt.Sprintf("fruit %d.", i), "", i})
	}
	return list
}

var look = theme.New(theme.Options{Plain: true})

func drawn[T any](t *Table[T], w, h int) []string {
	var out []string
	for _, r := range t.Draw(look, w, h, true) {
		out = append(out, r.Text)
	}
	return out
}

func types(b *Table[fruit], s string) { tuitest.Type(s, func(key tea.KeyPressMsg) { b.Type(key) }) }

// A table is drawn as the lines behind "|"; a "*" at the end of one means any rest.
func TestATableIsDrawnAsItsRowsSay(t *testing.T) {
	filtered := func(text string) func(b *Table[fruit]) {
		return func(b *Table[fruit]) { b.Do("find"); types(b, text) }
	}
	two := func(b *Table[fruit]) { b.Columns = b.Columns[:2] }
	unmarked := func(b *Table[fruit]) { two(b); b.list.At = -1 }
	aligned := func(b *Table[fruit]) { two(b); b.Aligned = true }
	bottom := func(b *Table[fruit]) { b.Do("bottom") }
	grouped := func(b *Table[fruit]) {
		b.Group = func(f fruit) widget.Span { return widget.Span{Text: map[bool]string{true: "many"}[f.n > 5]} }
		b.divide()
	}
	figs := []fruit{{"fig", "ripe", 1}, {"a pear with a long name", "ripe", 2}, {"a pear with a long name", "it fell down and is bruised", 3}}
	plums := []fruit{{"fig", "ripe", 1}, {"a plum", "it fell down and is bruised", 2}}
	for _, c := range []struct {
		name  string
		list  []fruit
		above int
		does  func(b *Table[fruit])
		w, h  int
		want  string
	}{
		{"rows are in columns around a rule", basket, 1, nil, 60, 8, `
			|  DAY   NAME                                 N  TWICE  AGAIN
			|▸ 0     pear                                 3      6      9
			|────────────────────────────────────────────────────────────
			|  1     Quince  it fell down and is brui…    ·      ·      ·
			|  2     apple                               12     24     36
			|  3     fig                                  7     14     21
			|  4     banana                               ·      ·      ·
			|`},
		{"no rule is below the last row", basket, 3, nil, 40, 5, `
			|  DAY   NAME             N  TWICE  AGAIN
			|▸ 0     pear             3      6      9
			|  1     Quince           ·      ·      ·
			|  2     apple           12     24     36
			|  3     fig              7     14     21`},
		{"a filter has the last line and says what it keeps", basket, 1, filtered("an is"), 60, 4, `
			|  DAY   NAME                                 N  TWICE  AGAIN
			|▸ 1     Quince  it fell down and is brui…    ·      ·      ·
			|
			| /an is                                       1 of 5 fruits`},
		// Few lines are for rows first, then the heads, and the filter wherever a row is left beside it.
		{"one line is a row", basket, 0, nil, 60, 1, "|▸ 0     pear*"},
		{"two lines are rows", basket, 0, nil, 60, 2, "|▸ 0     pear*\n|  1     Quince*"},
		{"three lines have heads", basket, 0, nil, 60, 3, "|  DAY   NAME*\n|▸ 0     pear*\n|  1     Quince*"},
		{"without heads there are rows only", basket, 0, func(b *Table[fruit]) { b.NoHeads = true }, 60, 3, "|▸ 0     pear*\n|  1     Quince*\n|  2     apple*"},
		{"one line of a filter is a row", basket, 0, filtered(""), 60, 1, "|▸ 0     pear*"},
		{"two lines have the filter", basket, 0, filtered(""), 60, 2, "|▸ 0     pear*\n| /*"},
		{"three lines of a filter have heads", basket, 0, filtered(""), 60, 3, "|  DAY   NAME*\n|▸ 0     pear*\n| /*"},
		{"four have two rows", basket, 0, filtered(""), 60, 4, "|  DAY   NAME*\n|▸ 0     pear*\n|  1     Quince*\n| /*"},
		{"eight have a blank one", basket, 0, filtered(""), 60, 8, "|  DAY*\n|▸ 0     pear*\n|  1     Quince*\n|  2     apple*\n|  3     fig*\n|  4     banana*\n|\n| /*"},
		{"one line is never the filter alone", nil, 0, filtered("pear"), 40, 1, "|"},
		{"columns go from the right: five", basket, 0, nil, 40, 3, "|  DAY   NAME             N  TWICE  AGAIN\n|*\n|*"},
		{"four", basket, 0, nil, 34, 3, "|  DAY   NAME              N  TWICE\n|*\n|*"},
		{"four of fewer cells", basket, 0, nil, 28, 3, "|  DAY   NAME        N  TWICE\n|*\n|*"},
		{"three", basket, 0, nil, 24, 3, "|  DAY   NAME           N\n|*\n|*"},
		{"two", basket, 0, nil, 20, 3, "|  DAY   NAME\n|*\n|*"},
		{"one", basket, 0, nil, 12, 3, "|  NAME\n|*\n|*"},
		{"a part of one", basket, 0, nil, 3, 3, "|  …\n|*\n|*"},
		{"without room for a note there is none", basket[1:2], 0, unmarked, 15 + leastNote, 4, "|*\n|  0     Quince"},
		{"a note is cut where it is useful yet", basket[1:2], 0, unmarked, 16 + leastNote, 4, "|*\n|  0     Quince  it fell down …"},
		{"a note follows the text", basket[1:2], 0, unmarked, 50, 4, "|*\n|  0     Quince  it fell down and is bruised"},
		{"aligned notes begin below each other unless a short one can give way", figs, 0, aligned, 50, 4, `
			|*
			|▸ 0     fig                    ripe
			|  1     a pear with a long name  ripe
			|  2     a pear with a long n…  it fell down and i…`},
		{"aligned notes that all fit", plums, 0, aligned, 50, 3, `
			|*
			|▸ 0     fig     ripe
			|  1     a plum  it fell down and is bruised`},
		{"pinned rows never scroll away", crate(40), 3, bottom, 60, 7, `
			|*
			|  0     fruit 0.*
			|  1     fruit 1.*
			|  2     fruit 2.*
			|───*
			|  38    fruit 38.*
			|▸ 39    fruit 39.*`},
		{"at the top there is no gap", crate(40), 3, func(b *Table[fruit]) { bottom(b); drawn(b, 60, 8); b.Do("top") }, 60, 7, `
			|*
			|▸ 0     fruit 0.*
			|  1     fruit 1.*
			|  2     fruit 2.*
			|───*
			|  3     fruit 3.*
			|  4     fruit 4.*`},
		{"groups have rules with their names", basket, 1, grouped, 40, 9, `
			|  DAY   NAME             N  TWICE  AGAIN
			|▸ 0     pear             3      6      9
			|────────────────────────────────────────
			|  1     Quince           ·      ·      ·
			|─ many ─────────────────────────────────
			|  2     apple           12     24     36
			|  3     fig              7     14     21
			|────────────────────────────────────────
			|  4     banana           ·      ·      ·`},
		{"a group's rule is not the last line", basket, 1, grouped, 40, 6, `
			|  DAY   NAME             N  TWICE  AGAIN
			|▸ 0     pear             3      6      9
			|────────────────────────────────────────
			|  1     Quince           ·      ·      ·
			|─ many ─────────────────────────────────
			|  2     apple           12     24     36`},
		{"the selected row is below its rule", basket, 1, func(b *Table[fruit]) { grouped(b); b.Do("bottom") }, 40, 6, `
			|*
			|*
			|*
			|*
			|*
			|*`},
		{"sorted rows have no groups", basket, 1, func(b *Table[fruit]) { grouped(b); b.Sort(1) }, 40, 9, `
			|  DAY   NAME▲            N  TWICE  AGAIN
			|▸ 0     pear             3      6      9
			|────────────────────────────────────────
			|  2     apple           12     24     36
			|  4     banana           ·      ·      ·
			|  3     fig              7     14     21
			|  1     Quince           ·      ·      ·
			|
			|`},
		{"the selected row is a third below the top", crate(40), 0, func(b *Table[fruit]) { b.Third = true; b.list.At = 20 }, 40, 7, `
			|  DAY   NAME             N  TWICE  AGAIN
			|  18    fruit 18.       18     36     54
			|  19    fruit 19.       19     38     57
			|▸ 20    fruit 20.       20     40     60
			|  21    fruit 21.       21     42     63
			|  22    fruit 22.       22     44     66
			|  23    fruit 23.       23     46     69`},
		{"sorting brings the selection into view", crate(100), 0, func(b *Table[fruit]) { drawn(b, 60, 10); b.Sort(2) }, 60, 3, "|*\n|  1     fruit 1.*\n|▸ 0     fruit 0.*"},
	} {
		b := fruits(c.list, c.above)
		if c.does != nil {
			c.does(b)
		}
		got := drawn(b, c.w, c.h)
		for i, want := range strings.Split(strings.TrimSpace(c.want), "\n") {
			want = strings.TrimSpace(want)[1:]
			begins, more := strings.CutSuffix(want, "*")
			if i >= len(got) || !strings.HasPrefix(got[i], begins) || !more && strings.TrimRight(got[i], " ") != want {
				t.Errorf("%s: line %d is not %q:\n%s", c.name, i+1, want, strings.Join(got, "\n"))
				break
			}
		}
	}
}

// What is shown then is in brackets where it is selected.
func TestRowsAreOrderedFilteredAndSelectedAsTheStepsSay(t *testing.T) {
	b := fruits(basket, 1)
	b.Select(func(f fruit) bool { return f.name == "fig" })
	for _, step := range []struct {
		what string
		does func()
		want string
	}{
		{"numbers fall first", func() { b.Sort(2) }, "pear apple [fig] Quince banana"},
		{"then they rise", func() { b.Sort(2) }, "pear Quince banana [fig] apple"},
		{"then there is no order", func() { b.Sort(2) }, "pear Quince apple [fig] banana"},
		{"the first column is their order", func() { b.Do("sort") }, "pear Quince apple [fig] banana"},
		{"it can be turned", func() { b.Do("turn") }, "pear banana [fig] apple Quince"},
		{"the next column is the names, which rise", func() { b.Do("sort") }, "pear apple banana [fig] Quince"},
		{"a filter keeps the nearest row", func() { b.Filter("an") }, "[banana] Quince"},
		{"without it all are there", func() { b.EndQuery() }, "pear apple [banana] fig Quince"},
		{"what it keeps none of has no selection", func() { b.Filter("grape"); b.Do("down"); drawn(b, 40, 6) }, ""},
		{"esc shows all rows", func() { b.Query.Open(); b.Type(tea.KeyPressMsg{Code: tea.KeyEscape}) }, "[pear] apple banana fig Quince"},
		{"every word must be found", func() { b.Query.Open(); types(b, "an is") }, "[Quince]"},
		{"enter keeps the filter and gives the keys back", func() { b.Type(tea.KeyPressMsg{Code: tea.KeyEnter}) }, "[Quince]"},
	} {
		step.does()
		var got []string
		chosen, ok := b.Row()
		for i := range b.Shown() {
			name := b.rows[b.number(i)].name
			if ok && name == chosen.name {
				name = "[" + name + "]"
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != step.want {
			t.Errorf("%s: %s, want %s", step.what, got, step.want)
		}
	}
	if b.Query.Typing() || !b.EndQuery() || b.EndQuery() {
		t.Error("it is still written, or does not end once")
	}
}

func TestASingleLineShowsTheSelectedRowOnEitherSideOfTheRule(t *testing.T) {
	for above := range len(basket) {
		b := fruits(basket, above)
		for i, f := range basket {
			b.list.At = i
			got := b.Draw(look, 60, 1, true)
			if !strings.Contains(got[0].Text, f.name) || b.Height != 1 {
				t.Errorf("row %d, %d above the rule: %q in a page of %d", i, above, got[0].Text, b.Height)
			}
		}
	}
}

// A text that is too long runs on over the blank cells next to it, in the wide column too.
func TestBlankCellsSpareTheirRoom(t *testing.T) {
	words := func(head string, cells int, texts ...string) Column[int] {
		return Column[int]{Head: head, Cells: cells, Least: 8, Cell: func(i int) widget.Span { return widget.Span{Text: texts[i]} }}
	}
	b := &Table[int]{Columns: []Column[int]{
		words("A", 4, "long word", "long word", ""), words("B", 2, "", "b", ""), words("C", 0, "c", "c", "a text of wide columns"), words("D", 6, "d", "d", ""),
	}}
	b.Fill([]int{0, 1, 2})
	got := drawn(b, 28, 4)
	for i, want := range []string{"  A    B  C           D", "▸ long w… c           d", "  lon… b  c           d", "          a text of wide co…"} {
		if strings.TrimRight(got[i], " ") != want {
			t.Errorf("line %d is %q, want %q", i+1, got[i], want)
		}
	}
}

// A row whose cells were covered would look as if they were empty.
func TestNeitherATextNorItsNoteCoversAColumn(t *testing.T) {
	b := fruits([]fruit{{"a pear with a name as long as a sentence", "and a note that says even more about it", 0}}, 0)
	for w := 30; w < 100; w++ {
		if got := drawn(b, w, 4)[1]; !strings.HasSuffix(got, "      ·") {
			t.Fatalf("%d cells: %q", w, got)
		}
	}
}

// A hidden column would leave the order without a reason.
func TestTheHeadOfTheOrderIsAlwaysShownWithItsDirection(t *testing.T) {
	up, down := look.Glyph(theme.Up), look.Glyph(theme.Down)
	b := fruits(basket, 0)
	for _, c := range []struct {
		column int
		want   string
	}{{1, "NAME" + up}, {1, "NAME" + down}, {2, "N" + down}, {2, "N" + up}} { // words rise first, numbers fall first
		b.Sort(c.column)
		if head := drawn(b, 60, 5)[0]; !strings.Contains(head, " "+c.want+" ") || strings.Count(head, up)+strings.Count(head, down) != 1 {
			t.Errorf("%q, want %q", head, c.want)
		}
	}
	b = fruits(basket, 0)
	b.Columns[4].Hidden = true
	for range len(b.Columns) {
		b.Do("sort")
		for _, by := range b.Order() {
			head := strings.TrimPrefix(by, "by ")
			for w := 22; w < 60; w++ {
				if got := drawn(b, w, 4)[0]; head == "AGAIN" || !strings.Contains(got, head) {
					t.Errorf("by %s in %d cells: %q", head, w, got)
				}
			}
		}
	}
	b.Sort(3)
	b.Columns[3].Hidden = true // the screen became narrow
	if got := drawn(b, 40, 4)[0]; !strings.Contains(got, "TWICE") {
		t.Errorf("the column of the order is gone: %q", got)
	}
}

func TestAHeadIsPressedFromItsFirstCellToItsLast(t *testing.T) {
	b := fruits(basket, 0)
	rows := b.Draw(look, 60, 5, true)
	got := ""
	for x := range 60 {
		if column, ok := b.head(rows[0].At(x)); ok {
			got += strconv.Itoa(column)
		} else {
			got += "-"
		}
	}
	if want := "--00000-" + strings.Repeat("1", 33) + "-2222-333333-444444-"; got+"-" != want && got != want {
		t.Errorf("cells belong to columns\n%s, want\n%s", got, want)
	}
	if at := rows[2].At(45); at != 1 || b.Has(rows[0].At(0)) {
		t.Errorf("the second row says that it is %d; the gutter is a head: %v", at, b.Has(rows[0].At(0)))
	}
	if b.Press(rows[0].At(44)); strings.Join(b.Order(), "") != "by N" {
		t.Errorf("cell 44 is the head of %q", b.Order())
	}
}

func TestOnlyATableWithTheFocusPaintsTheSelection(t *testing.T) {
	b := fruits(basket, 1)
	b.Columns[4] = Words("SAY", 5, theme.Good, func(f fruit) string { return f.name[:1] })
	b.Columns[3] = Column[fruit]{Head: "SIZE", Cells: 6, Spans: func(f fruit) []widget.Span {
		return []widget.Span{{Role: theme.Warn, Text: "x"}, {Role: theme.Dim, Text: "y"}}
	}}
	b.Do("down")
	b.Sort(2)
	b.Do("find")
	types(b, "an")
	var got []string
	for _, focused := range []bool{true, false} {
		for _, row := range b.Draw(tuitest.Colours, 50, 5, focused) {
			got = append(got, tuitest.Painted(row.Text))
		}
	}
	if d := godiff.Diff([]string{
		"  ‹dim DAY  › ‹dim NAME                    › ‹accent   N▼› ‹dim SIZE  › ‹dim SAY  ›",
		"‹select ‹accent ▸ ›‹select 1     Quince  it fell down an… ‹dim    ·›‹select  ‹warn x›‹select ‹dim y›‹select  ‹good Q    ›‹select     ›",
		"  4     b‹match an›‹match an›a                   ‹dim    ·› ‹warn x›‹dim y› ‹good b    ›    ",
		"                                                  ",
		"‹key  /›an‹caret  ›                               ‹accent 2 of 5 fruits ›",
		"  ‹dim DAY  › ‹dim NAME                    › ‹accent   N▼› ‹dim SIZE  › ‹dim SAY  ›",
		"‹accent ▸ ›1     Quince  it fell down an… ‹dim    ·› ‹warn x›‹dim y› ‹good Q    ›    ",
		"  4     b‹match an›‹match an›a                   ‹dim    ·› ‹warn x›‹dim y› ‹good b    ›    ",
		"                                                  ",
		"‹key  /›an‹caret  ›                               ‹accent 2 of 5 fruits ›",
	}, got); d != "" {
		t.Errorf("%s", d)
	}
}

func TestATableSaysWhatItShowsAndWhatItNeeds(t *testing.T) {
	ripe := func(f fruit) query.Facts {
		return query.Facts{Text: f.name, Is: [][]string{{"hard"}, {"ripe", "soft"}, {"ripe"}}[f.n%3]}
	}
	b := fruits(crate(12), 2)
	b.Facts, b.Same, b.Height = ripe, func(was, row fruit) bool { return was.name == row.name }, 2
	for _, step := range []struct {
		what string
		does func()
		want string
	}{
		{"at first", func() {}, "0 fruit 0. of 12 fruits, near the end false, needs all false, ripe hard soft, by []"},
		{"a row further", func() { b.Do("down") }, "1 fruit 1. of 12 fruits, near the end false, needs all false, ripe hard soft, by []"},
		{"new rows keep what was chosen", func() { b.Fill(crate(13)[1:]) }, "1 fruit 1. of 14 fruits, near the end false, needs all false, ripe hard soft, by []"},
		{"a press", func() { b.Press(7) }, "7 fruit 6. of 14 fruits, near the end false, needs all false, ripe hard soft, by []"},
		{"the same again", func() { b.Press(7) }, "7 fruit 6. of 14 fruits, near the end false, needs all false, ripe hard soft, by []"},
		{"far below", func() { b.Do("bottom") }, "13 fruit 12. of 14 fruits, near the end true, needs all false, ripe hard soft, by []"},
		{"before two pages", func() { b.list.At = 9 }, "9 fruit 8. of 14 fruits, near the end false, needs all false, ripe hard soft, by []"},
		{"with two pages", func() { b.list.At = 10 }, "10 fruit 9. of 14 fruits, near the end true, needs all false, ripe hard soft, by []"},
		{"by a head", func() { b.Press(heading - 2) }, `5 fruit 9. of 14 fruits, near the end false, needs all true, ripe hard soft, by ["by N"]`},
		{"the other way", func() { b.Press(heading - 2) }, `10 fruit 9. of 14 fruits, near the end true, needs all true, ripe hard soft, by ["by N, reversed"]`},
		{"as before", func() { b.Press(heading - 2) }, "10 fruit 9. of 14 fruits, near the end true, needs all false, ripe hard soft, by []"},
		{"filtered", func() { b.Filter("is:hard") }, "3 fruit 9. of 14 fruits, near the end true, needs all true, ripe hard soft, by []"},
		{"of more", func() { b.More = true; b.EndQuery() }, "10 fruit 9. of the newest 14 fruits, near the end true, needs all false, ripe hard soft, by []"},
		{"not chosen by the user", func() { b.Chosen = false; b.Fill(crate(5)) }, "0 fruit 0. of the newest 7 fruits, near the end false, needs all false, ripe hard soft, by []"},
		{"no place", func() { b.Press(99) }, "0 fruit 0. of the newest 7 fruits, near the end false, needs all false, ripe hard soft, by []"},
	} {
		step.does()
		row, _ := b.Row()
		got := fmt.Sprintf("%d %s of %s, near the end %t, needs all %t, %s, by %q", b.At(), row.name, b.All(), b.NearEnd(), b.NeedsAll(), strings.Join(b.states(), " "), b.Order())
		if got != step.want {
			t.Errorf("%s: %s\nwant %s", step.what, got, step.want)
		}
	}
	if !b.Press(b.First+2) && b.Press(b.First+2) && !b.Press(b.First+1) {
		return
	}
	t.Error("a second press of a row is not known as such")
}

func TestLinesAreExact(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(rt, "rows")
		list := make([]fruit, n)
		for i := range list {
			list[i] = fruit{rapid.String().Draw(rt, "name"), rapid.String().Draw(rt, "why"), i % 3}
		}
		b := fruits(list, rapid.IntRange(0, n).Draw(rt, "above"))
		for _, do := range rapid.SliceOf(rapid.SampledFrom([]string{"down", "pgdn", "sort", "turn", "find", "a"})).Draw(rt, "steps") {
			if do == "a" {
				types(b, do)
			} else {
				b.Do(do)
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
		if b.NoHeads = rapid.Bool().Draw(rt, "no heads"); b.Shown() > 1 {
			whole := b.Draw(look, 60, b.Lines()+1, true)
			marked := strings.Count(strings.Join(drawn(b, 60, b.Lines()), "\n"), "▸ ")
			last := len(whole) - 1
			if b.Query.Shown() {
				last--
			}
			if marked < 1 || whole[last].Place != widget.Nowhere || whole[last-1].Place == widget.Nowhere {
				rt.Fatalf("%d lines are not the whole table: %v", b.Lines(), whole)
			}
		}
	})
}

func TestTenThousandRowsAreDrawnAsFastAsTen(t *testing.T) {
	b := fruits(crate(10_000), 0)
	b.Do("end")
	asked := 0
	for i := range b.Columns {
		cell := b.Columns[i].Cell
		b.Columns[i].Cell = func(f fruit) widget.Span { asked++; return cell(f) }
	}
	drawn(b, 120, 40)
	if most := 39 * len(b.Columns); asked > most {
		t.Errorf("%d cells were asked for, %d are in view", asked, most)
	}
	b.Query.Open()
	types(b, "fruit")
	b.Facts = func(fruit) query.Facts { asked++; return query.Facts{} }
	asked = 0
	for range 100 { // as with each snapshot
		b.Pin(nil)
	}
	if asked > 0 {
		t.Errorf("%d rows were filtered again, though none had changed", asked)
	}
}
