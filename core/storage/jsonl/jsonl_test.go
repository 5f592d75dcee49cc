package jsonl

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func newLog(t *testing.T) Log[int] {
	t.Helper()
	return Log[int]{Dir: storetest.Dir(t), Rel: "log.jsonl", Limit: 1 << 30, Keep: 1 << 20}
}

// pages reads a whole log from its end, some values at a time.
func pages(t *testing.T, l Log[int], n int) (all []int, damaged int) {
	t.Helper()
	var p Cursor
	for !p.AtBeginning() {
		var page []int
		next, bad, err := l.Before(p, func(v int) bool {
			page = append(page, v)
			return len(page) < n
		})
		testkit.Must(t, err)
		all, damaged, p = append(all, page...), damaged+bad, next
	}
	return all, damaged
}

func TestALogIsReadFromItsEndAPageAtATime(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		l := newLog(t)
		var text strings.Builder
		var want []int
		bad := 0
		for i := range rapid.IntRange(0, 60).Draw(rt, "lines") {
			switch pad := rapid.SampledFrom([]int{0, 10, 3000, 200_000}).Draw(rt, "pad"); rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				fmt.Fprintf(&text, "torn %s\n", strings.Repeat("x", pad))
				bad++
			case 1:
				text.WriteString("\n")
			default:
				fmt.Fprintf(&text, "%s%d\n", strings.Repeat(" ", pad), i)
				want = append(want, i)
			}
		}
		if err := l.Dir.Write(l.Rel, []byte(strings.TrimSuffix(text.String(), "\n"))); err != nil {
			rt.Fatal(err)
		}
		slices.Reverse(want)
		got, damaged := pages(t, l, rapid.IntRange(1, 7).Draw(rt, "page"))
		if !slices.Equal(got, want) || damaged != bad {
			rt.Fatalf("%v with %d damaged lines, want %v with %d", got, damaged, want, bad)
		}
	})
}

func TestALogThatWasShortenedIsReadFromItsEndAgain(t *testing.T) {
	l := newLog(t)
	for i := range 10 {
		testkit.Must(t, l.Append(i))
	}
	p, _, err := l.Before(Cursor{}, func(v int) bool { return v > 7 })
	testkit.Must(t, err)
	testkit.Must(t, l.Dir.Write(l.Rel, []byte("8\n9\n")))
	var got []int
	if _, _, err := l.Before(p, func(v int) bool { got = append(got, v); return true }); err != nil || !slices.Equal(got, []int{9, 8}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestALogThatReachesItsLimitKeepsWholeLinesOfItsEnd(t *testing.T) {
	l := newLog(t)
	l.Limit, l.Keep = 10, 4
	for i, want := range []string{"1\n", "1\n2\n", "1\n2\n3\n", "1\n2\n3\n4\n", "4\n5\n", "4\n5\n6\n", "4\n5\n6\n7\n", "7\n8\n"} {
		testkit.Must(t, l.Append(i+1))
		if got := storetest.Text(t, l.Dir, l.Rel); got != want {
			t.Errorf("with %d it is %q, want %q", i+1, got, want)
		}
	}
	testkit.Must(t, l.Dir.Append(l.Rel, []byte(" "), []byte("torn"), []byte("9")))
	for limit, want := range map[int64]string{0: "[] 0", 2: "[] 0", 3: "[9] 0", 8: "[9] 1", 12: "[8 9] 1", 100: "[7 8 9] 1"} {
		list, damaged, err := l.Newest(limit)
		if got := fmt.Sprint(list, damaged); err != nil || got != want {
			t.Errorf("the last %d bytes are %s, %v; want %s", limit, got, err, want)
		}
	}
}

func TestALineIsReadWholeHoweverLongItIs(t *testing.T) {
	for _, n := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000} {
		long := strings.Repeat("x", n)
		for text, want := range map[string][]string{
			"a\n" + long + "\nb\nc": {"a\n", long + "\n", "b\n"}, long + "\n" + long + "\nb\n": {long + "\n", long + "\n", "b\n"}, "a\nb": {"a\n", "b"}, "": nil,
		} {
			var got []string
			testkit.Must(t, EachLine(strings.NewReader(text), func(line []byte) bool {
				got = append(got, string(line))
				return len(got) < 3
			}))
			if !slices.Equal(got, want) {
				t.Errorf("with %d letters: %d lines, of %d", n, len(got), len(want))
			}
		}
	}
	if err := EachLine(iotest.ErrReader(os.ErrClosed), func([]byte) bool { return true }); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a reader that fails: %v", err)
	}
	for v, err := range Lines[int]([]byte("1\n\n2\n3\n")) {
		if v != 1 || err != nil {
			t.Errorf("%d, %v, after the reader had stopped", v, err)
		}
		break
	}
}

func TestAMissingLogIsEmptyAndAFolderIsNone(t *testing.T) {
	l := newLog(t)
	for _, folder := range []bool{false, true} {
		list, damaged, newest := l.Newest(10)
		next, bad, before := l.Before(Cursor{}, func(int) bool { return true })
		each := l.Each(func([]byte) bool { return true })
		for what, err := range map[string]error{"newest": newest, "before": before, "each": each} {
			if (err != nil) != folder || len(list)+damaged+bad != 0 || next.AtBeginning() == folder {
				t.Errorf("%s, a folder %v: %v, %d, %d, %+v, %v", what, folder, list, damaged, bad, next, err)
			}
		}
		testkit.Must(t, l.Dir.MakeFolder(l.Rel))
	}
	if err := l.Append(1); err == nil {
		t.Error("a line was appended to a folder")
	}
	if err := (Log[any]{Dir: l.Dir, Rel: "x.jsonl"}).Append(func() {}); err == nil || !strings.HasPrefix(err.Error(), "append to x.jsonl: ") {
		t.Errorf("a function was appended: %v", err)
	}
}

func TestOfALogBeyondItsLimitTheWholeLinesOfItsEndAreRead(t *testing.T) {
	l := newLog(t)
	l.Limit = 10
	testkit.Must(t, l.Dir.Write(l.Rel, []byte("1111\n2222\n3333\n4444\n")))
	all, _ := pages(t, l, 1)
	if !slices.Equal(all, []int{4444}) {
		t.Errorf("backwards: %v", all)
	}
	var lines []string
	testkit.Must(t, l.Each(func(line []byte) bool {
		lines = append(lines, string(line))
		return true
	}))
	if !slices.Equal(lines, []string{"4444\n"}) {
		t.Errorf("forwards: %q", lines)
	}
}
