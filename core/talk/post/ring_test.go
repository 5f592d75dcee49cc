package post

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// row describes when a kind rings, from Rings itself.
func row(k Kind, what string) string {
	say := func(m Moment) string {
		m.Rang, m.Again = false, false
		once := m
		once.Rang, once.Again = true, true
		switch {
		case !k.Rings(m):
			return "no"
		case k.Rings(once):
			return "yes"
		case k == KindNews:
			return "once in twelve hours for each cause"
		}
		return "once"
	}
	muted := say(Moment{Muted: true})
	if k == KindPing {
		muted = "refused; critical: yes; essential: no"
	}
	return fmt.Sprintf("| %s | %s | %s |", what, say(Moment{}), muted)
}

// D1, D6: the table of the documentation is what Rings decides.
func TestTheTableOfWhatRingsIsTheOneInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/discord.md")
	if err != nil {
		t.Fatal(err)
	}
	table := []string{"| | Rings | In quiet hours and while muted |", "|---|---|---|"}
	known := map[Kind]bool{}
	for _, k := range Kinds {
		known[k.Kind] = true
		table = append(table, row(k.Kind, k.What))
	}
	if want := strings.Join(table, "\n"); !strings.Contains(string(page), want) {
		t.Errorf("docs/discord.md does not have this table:\n%s", want)
	}
	for k := KindPing; k <= KindAside; k++ {
		if !known[k] {
			t.Errorf("kind %d is not described", k)
		}
	}
}
