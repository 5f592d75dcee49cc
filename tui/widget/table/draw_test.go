package table

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// What a few lines are used for: rows first, then the heads, and the filter wherever
// a row is left beside it.
func TestFewLinesAreDividedBetweenHeadsRowsAndFilter(t *testing.T) {
	const heads, pear, quince, query = "  DAY   NAME", "▸ 0     pear", "  1     Quince", " /"
	for _, c := range []struct {
		h        int
		filtered bool
		want     []string
	}{
		{1, false, []string{pear}},
		{2, false, []string{pear, quince}},
		{3, false, []string{heads, pear, quince}},
		{1, true, []string{pear}},
		{2, true, []string{pear, query}},
		{3, true, []string{heads, pear, query}},
		{4, true, []string{heads, pear, quince, query}},
		{8, true, []string{heads, pear, quince, "  2     apple", "  3     fig", "  4     banana", "", query}},
	} {
		b := fruits(basket, 0)
		if c.filtered {
			b.Do("find")
		}
		got := drawn(b, 60, c.h)
		if len(got) != len(c.want) {
			t.Fatalf("%d lines are %d", c.h, len(got))
		}
		for i, want := range c.want {
			if want == "" && strings.TrimSpace(got[i]) != "" || !strings.HasPrefix(got[i], want) {
				t.Errorf("line %d of %d, filtered %t: %q, want %q", i+1, c.h, c.filtered, got[i], want)
			}
		}
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
	same(t, drawn(b, 28, 4), "  A    B  C           D", "▸ long w… c           d", "  lon… b  c           d", "          a text of wide co…")
}

func TestTheHeadOfTheOrderShowsItsDirection(t *testing.T) {
	b := fruits(basket, 0)
	for _, c := range []struct {
		column int
		want   string
	}{
		{1, "NAME" + look.Glyph(theme.Up)}, {1, "NAME" + look.Glyph(theme.Down)}, // words rise first
		{2, "N" + look.Glyph(theme.Down)}, {2, "N" + look.Glyph(theme.Up)}, // numbers fall first
	} {
		b.Sort(c.column)
		head := drawn(b, 60, 5)[0]
		if !strings.Contains(head, " "+c.want+" ") || strings.Count(head, look.Glyph(theme.Up))+strings.Count(head, look.Glyph(theme.Down)) != 1 {
			t.Errorf("%q, want %q", head, c.want)
		}
	}
}

func TestAHeadIsPressedFromItsFirstCellToItsLast(t *testing.T) {
	b := fruits(basket, 0)
	head := b.Draw(look, 60, 5, true)[0]
	want := strings.Repeat("-", 2) + strings.Repeat("0", 5) + "-" + strings.Repeat("1", 33) + "-" + strings.Repeat("2", 4) +
		"-" + strings.Repeat("3", 6) + "-" + strings.Repeat("4", 6) + "-"
	got := ""
	for x := range len(want) {
		if column, ok := b.head(head.At(x)); ok {
			got += string(rune('0' + column))
		} else {
			got += "-"
		}
	}
	if got != want {
		t.Errorf("cells belong to columns\n%s, want\n%s", got, want)
	}
}

func TestANoteFollowsTheTextWhereThereIsRoom(t *testing.T) {
	for w, want := range map[int]string{
		15 + leastNote: "  0     Quince",
		16 + leastNote: "  0     Quince  it fell down …",
		50:             "  0     Quince  it fell down and is bruised",
	} {
		b := fruits(basket[1:2], 0)
		b.Columns = b.Columns[:2]
		b.list.At = -1
		if got := strings.TrimRight(b.Draw(look, w, 4, true)[1].Text, " "); got != want {
			t.Errorf("%d cells: %q, want %q", w, got, want)
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

func TestAlignedNotesBeginBelowEachOtherUnlessAShortOneCanGiveWay(t *testing.T) {
	b := fruits([]fruit{{"fig", "ripe", 1}, {"a pear with a long name", "ripe", 2}, {"a pear with a long name", "it fell down and is bruised", 3}}, 0)
	b.Columns, b.Aligned = b.Columns[:2], true
	same(t, drawn(b, 50, 4)[1:],
		"▸ 0     fig                    ripe",
		"  1     a pear with a long name  ripe",
		"  2     a pear with a long n…  it fell down and i…")
	b = fruits([]fruit{{"fig", "ripe", 1}, {"a plum", "it fell down and is bruised", 2}}, 0)
	b.Columns, b.Aligned = b.Columns[:2], true
	same(t, drawn(b, 50, 3)[1:],
		"▸ 0     fig     ripe",
		"  1     a plum  it fell down and is bruised")
}

func TestPinnedRowsNeverScrollAway(t *testing.T) {
	list := make([]fruit, 40)
	for i := range list {
		list[i] = fruit{name: fmt.Sprintf("fruit %d.", i)}
	}
	b := fruits(list, 3)
	b.Do("bottom")
	for h := 6; h < 30; h++ {
		got := strings.Join(drawn(b, 60, h), "\n")
		for _, name := range []string{"fruit 0.", "fruit 1.", "fruit 2.", "───", "▸ 39    fruit 39."} {
			if !strings.Contains(got, name) {
				t.Fatalf("%q is out of sight in %d lines:\n%s", name, h, got)
			}
		}
	}
	b.Do("top")
	if got := drawn(b, 60, 8); !strings.Contains(got[1], "▸ 0") || !strings.Contains(got[5], "fruit 3.") {
		t.Errorf("the top is\n%s", strings.Join(got, "\n"))
	}
}

// Nobody can see why rows are in an order by something that is not shown.
func TestTheColumnOfTheOrderIsAlwaysShown(t *testing.T) {
	b := fruits(basket, 0)
	b.Columns[4].Hidden = true
	for range len(b.Columns) {
		b.Do("sort")
		for _, by := range b.Order() {
			head, _ := strings.CutPrefix(by, "by ")
			if head == "AGAIN" {
				t.Error("the rows are sorted by a hidden column")
			}
			for w := 22; w < 60; w++ {
				if got := drawn(b, w, 4)[0]; !strings.Contains(got, head) {
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

func TestSortingBringsTheSelectionIntoView(t *testing.T) {
	list := make([]fruit, 100)
	for i := range list {
		list[i] = fruit{name: fmt.Sprintf("fruit %d.", i), n: i}
	}
	b := fruits(list, 0)
	drawn(b, 60, 10)
	b.Sort(2)
	if got := strings.Join(drawn(b, 60, 10), "\n"); !strings.Contains(got, "▸ 0     fruit 0.") {
		t.Errorf("the selection is out of sight:\n%s", got)
	}
}

func TestOnlyATableWithTheFocusPaintsTheSelection(t *testing.T) {
	colours := theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	b := fruits(basket, 0)
	rows := map[bool][]widget.Row{}
	for _, focused := range []bool{true, false} {
		rows[focused] = b.Draw(colours, 60, 4, focused)
	}
	if with, without := rows[true][1].Text, rows[false][1].Text; strings.Count(with, "48;2;") <= strings.Count(without, "48;2;") {
		t.Errorf("the selected row has no background with the focus: %q, without: %q", with, without)
	}
	for _, other := range []int{0, 2, 3} {
		if rows[true][other].Text != rows[false][other].Text {
			t.Errorf("line %d changes with the focus: %q", other+1, rows[true][other].Text)
		}
	}
}

func TestASingleLineIsNeverTheFilterAlone(t *testing.T) {
	b := fruits(nil, 0)
	b.Filter("pear")
	if got := b.Draw(look, 40, 1, true)[0].Text; strings.TrimSpace(got) != "" {
		t.Errorf("drew %q", got)
	}
}
