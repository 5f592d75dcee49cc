package policy

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOracle(t *testing.T) {
	pieces := []string{"'", "'", `"`, `"`, `\`, "$", "`", "(", ")", "{", "}", "[", "]", ";", "&", "|", "#", " ", " touch MARK ", " touch MARK ", "\n", "\n", "<", "X", "@P", ":=", "!", "~", "*", "$X", "a"}
	dir := t.TempDir()
	end := time.Now().Add(100 * time.Second)
	n := 0
	for time.Now().Before(end) {
		c := "true "
		for range 2 + rand.IntN(12) {
			c += pieces[rand.IntN(len(pieces))]
		}
		if !strings.Contains(c, "touch") || !simple(c) || !strings.ContainsAny(c, "'\"\\$") {
			continue
		}
		n++
		cmd := exec.Command("bash", "-c", c)
		cmd.Dir = dir
		_ = cmd.Run()
		if _, err := os.Stat(filepath.Join(dir, "MARK")); err == nil {
			t.Errorf("BYPASS %q", c)
			os.Remove(filepath.Join(dir, "MARK"))
		}
	}
	t.Log("tried", n)
}
