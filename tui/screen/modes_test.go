package screen

import (
	"fmt"
	"os"
	"testing"

	"github.com/charmbracelet/x/term"
)

// modes describes the settings of a terminal.
func modes(t *testing.T, f *os.File) string {
	t.Helper()
	s, err := term.GetState(f.Fd())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%+v", *s)
}
