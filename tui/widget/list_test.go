package widget

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/tui/action"
	"ollimbot/tui/theme"
	"ollimbot/tui/tuitest"
)

func TestAWindowScrollsAsLittleAsPossible(t *testing.T) {
	l := &List{}
	for _, step := range []struct{ from, to, n, h, want int }{
		{0, 0, 20, 5, 0}, {4, 4, 20, 5, 0}, {5, 5, 20, 5, 1}, {6, 7, 20, 5, 3}, {3, 4, 20, 5, 3}, {2, 2, 20, 5, 2}, {19, 19, 20, 5, 15}, {19, 19, 17, 5, 12}, {0, 6, 20, 5, 0}, {2, 2, 3, 5, 0},
	} {
		if got := l.Window(step.from, step.to, step.n, step.h); got != step.want {
			t.Errorf("%+v begins at %d", step, got)
		}
	}
	l.Begin(-1)
	if got := l.Window(0, 0, 20, 5); got != 0 {
		t.Errorf("before the first row is %d", got)
	}
	l.Begin(7)
	if got := l.Window(8, 8, 20, 5); got != 7 {
		t.Errorf("a row that was put first is at %d", got)
	}
}

func TestAListAndItsDetailAreBesideEachOther(t *testing.T) {
	list := FillRows([]Row{{Text: "aaa", Place: 0}, {Text: "---", Place: Ruled}, {Text: "bbb", Place: 1}}, 3, 4)
	detail := append(Rows(Inner, "xx", "yy"), Row{Text: "──", Place: Ruled}, Row{Text: "zz", Place: Nowhere, Spots: []Spot{{1, 2, 5}}})
	got := Beside(Brush{Theme: bare}, list, detail, 3)
	want := []Row{
		{"aaa│xx", 0, []Spot{{4, 6, Inner}}}, {"---│yy", Nowhere, []Spot{{4, 6, Inner}}}, {"bbb│──", 1, nil}, {"   │zz", Nowhere, []Spot{{5, 6, 5}, {4, 6, Nowhere}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for x, place := range []Place{0, 0, 0, 0, Inner, Inner, 0} {
		if at := got[0].At(x); at != place {
			t.Errorf("cell %d is %d, want %d", x, at, place)
		}
	}
	if rows := FillRows(list, 3, 2); len(rows) != 2 || len(FillRows(list, 3, -1)) != 0 {
		t.Errorf("the rows that there is room for are %v", rows)
	}
}

func TestEntriesFlowIntoLines(t *testing.T) {
	entry := func(text string) []Span { return []Span{{theme.Dim, text}} }
	got := Flow([][]Span{entry("one"), entry("two"), entry("three"), entry("much longer")}, Span{Text: "  "}, 8)
	want := [][]Span{{{theme.Dim, "one"}, {Text: "  "}, {theme.Dim, "two"}}, entry("three"), entry("much longer")}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAReaderSaysWhereItIs(t *testing.T) {
	r := NewReader(action.Names{Pane: action.Logs})
	var lines [][]Span
	for _, text := range []string{"one", "two", "three", "four"} {
		lines = append(lines, []Span{{theme.Strong, text}, {theme.Dim, "!"}})
	}
	r.Show(lines)
	for _, c := range []struct {
		verb, where, first string
		h                  int
	}{{"", "", " one!", 4}, {"", "1-3 of 4", " one!", 3}, {"down", "2-4 of 4", " two!", 3}, {"down", "2-4 of 4", " two!", 3}, {"home", "1-3 of 4", " one!", 3}, {"end", "3-4 of 4", " three!", 2}} {
		r.Do(c.verb)
		drawn := r.Lines(bare, 8, c.h, false)
		if where := r.Where(); where != c.where || drawn[0] != Fit(c.first, 8) {
			t.Errorf("%q: %q, %q", c.verb, where, drawn)
		}
	}
	if _, _, ok := r.At(2); ok || r.Text(3) != "four!" {
		t.Error("a row below the last is there")
	}
	if item, row, ok := r.At(1); item != 3 || row != 0 || !ok {
		t.Errorf("the second row is of %d, %d", item, row)
	}
}

func TestRulesAndEmptyPanesAreDrawnInTheRoomThatThereIs(t *testing.T) {
	b := Brush{Theme: tuitest.Colours}
	title, state := []Span{{theme.Strong, "Title"}}, []Span{{theme.Dim, "3 left"}}
	for _, c := range []struct {
		w            int
		title, state []Span
		want         string
	}{
		{24, title, state, "‹border ─› ‹strong Title› ‹border ───────› ‹dim 3 left› ‹border ─›"}, {21, title, state, "‹border ─› ‹strong Title› ‹border ────› ‹dim 3 left› ‹border ─›"}, {20, title, state, "‹border ─› ‹strong Title› ‹border ────────────›"}, {6, title, nil, "‹border ─› ‹strong Tit…›"}, {5, title, nil, "‹border ─────›"}, {8, nil, state, "‹border ────────›"},
	} {
		if got := tuitest.Painted(b.Rule(c.w, c.title, c.state)); got != c.want {
			t.Errorf("%d cells: %s, want %s", c.w, got, c.want)
		}
	}
	var got []string
	for _, size := range [][2]int{{24, 4}, {11, 3}} {
		for _, line := range b.Empty(size[0], size[1], "Nothing here.", "Press n to make a new one.") {
			got = append(got, tuitest.Painted(line))
		}
	}
	if d := cmp.Diff([]string{
		" Nothing here.          ",
		" ‹dim Press n to make a new›  ",
		" ‹dim one.›                   ",
		"                        ",
		"Nothing    ",
		"here.      ",
		"‹dim Press n to› ",
	}, got); d != "" {
		t.Error(d)
	}
}

func TestAnAreaKnowsItsEdges(t *testing.T) {
	a := &Area{}
	if top, bottom := a.Edges(); !top || !bottom {
		t.Error("an empty area has no edges")
	}
	a.Insert("one\nlonger words\nthree")
	for i, step := range []struct {
		key         string
		top, bottom bool
	}{{"left", false, true}, {"up", false, false}, {"up", false, false}, {"up", true, false}, {"down", false, false}, {"down", false, false}, {"down", false, true}} {
		a.Lines(Brush{Theme: bare}, 8, 5, true)
		a.Update(press(step.key))
		if top, bottom := a.Edges(); top != step.top || bottom != step.bottom {
			t.Errorf("step %d, %s: at the top %t, at the bottom %t", i+1, step.key, top, bottom)
		}
	}
}
