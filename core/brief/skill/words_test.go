package skill

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestACommandLineIsSplitAsAShellWouldWithoutItsPowers(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
		err  error
	}{
		{"", nil, nil},
		{" \t\n ", nil, nil},
		{"date +%A", []string{"date", "+%A"}, nil},
		{"a\n b\tc\r", []string{"a", "b", "c"}, nil},
		{`echo 'a  b' "c  d"`, []string{"echo", "a  b", "c  d"}, nil},
		{`a'b'"c"d`, []string{"abcd"}, nil},
		{`'' "" a`, []string{"", "", "a"}, nil},
		{`a\ b \' \\ \n`, []string{"a b", "'", `\`, "n"}, nil},
		{`"a\"b\\c\n\$"`, []string{`a"b\c\n\$`}, nil},
		{`'a\'`, []string{`a\`}, nil},
		{"echo $HOME * # | ; > x && y", []string{"echo", "$HOME", "*", "#", "|", ";", ">", "x", "&&", "y"}, nil},
		{"é 'ü ö'", []string{"é", "ü ö"}, nil},
		{"echo 'a", nil, errQuote},
		{`echo "a`, nil, errQuote},
		{`echo "a\"`, nil, errQuote},
		{`echo a\`, nil, errBackslash},
		{"a\x00b", nil, errNUL},
	} {
		got, err := Words(c.line)
		if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
			t.Errorf("Words(%q): error %v, want %v (-want +got):\n%s", c.line, err, c.err, diff)
		}
	}
}

func TestQuotedWordsAreSplitAsTheyWere(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune(`ab '"\$#é`+"\n\t"))), 1, 5).Draw(t, "words")
		line := ""
		for _, w := range words {
			if rapid.Bool().Draw(t, "single") {
				line += " '" + strings.ReplaceAll(w, "'", `'\''`) + "'"
			} else {
				line += ` "` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(w) + `"`
			}
		}
		got, err := Words(line)
		if diff := cmp.Diff(words, got); diff != "" || err != nil {
			t.Fatalf("%q: %v\n%s", line, err, diff)
		}
	})
}

func TestAnyLineIsSplitWithoutHarm(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		line := rapid.String().Draw(t, "line")
		words, err := Words(line)
		if n := len(strings.Join(words, "")); n > len(line) || err != nil && words != nil {
			t.Fatalf("%q became %q, %v", line, words, err)
		}
	})
}
