package attach_test

import (
	"os"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/access"
)

// L5: a key that became read-only, or was taken away, while its viewer was attached went on writing.
func TestAViewerEndsOnceItsKeyMayDoLess(t *testing.T) {
	testkit.Alone(t)
	for name, change := range map[string]func(lines string) string{
		"read-only": func(lines string) string { return "read-only " + lines },
		"gone":      func(string) string { return "" },
	} {
		for _, command := range []string{"", "plain"} {
			h := open(t)
			key := h.key("")
			v := h.attaches(key, command)
			if command == "" {
				<-v.answered // what its background is
			}
			press := map[string]string{"": "1+", "plain": "capacity 6\n"}[command]
			v.types(press)
			v.out.sees(t, map[string]string{"": "capacity 5 → 6", "plain": "capacity 5 to 6"}[command])
			lines, err := os.ReadFile(h.dir.Path(access.KeysFile))
			must(t, err)
			must(t, os.WriteFile(h.dir.Path(access.KeysFile), []byte(change(string(lines))), 0o600))
			v.types(strings.ReplaceAll(press, "6", "9"))
			if status := v.ends(); status != 1 {
				t.Errorf("%s, %q: it ends with %d", name, command, status)
			}
			if said := v.said.String(); !strings.Contains(said, "your key may do less now") {
				t.Errorf("%s, %q: it hears %q", name, command, said)
			}
			again, err := v.conn.NewSession() // over the same connection
			must(t, err)
			if out, err := again.CombinedOutput("plain"); err == nil || !strings.Contains(string(out), "your key may do less now") {
				t.Errorf("%s, %q: a second session says %q, %v", name, command, out, err)
			}
			if n := h.bot.Snapshot().Budget.State.Capacity; n != 6 {
				t.Errorf("%s, %q: the capacity is %d", name, command, n)
			}
			h.end()
		}
	}
}

// L5: a key that may do more, or another one's change, ends no viewer.
func TestAViewerStaysWhileItsKeyMayDoAsMuch(t *testing.T) {
	testkit.Alone(t)
	h := open(t)
	key := h.key("read-only")
	v := h.attaches(key, "")
	v.out.sees(t, "read-only")
	<-v.answered // what its background is
	lines, err := os.ReadFile(h.dir.Path(access.KeysFile))
	must(t, err)
	must(t, os.WriteFile(h.dir.Path(access.KeysFile), []byte(strings.TrimPrefix(string(lines), "read-only ")), 0o600))
	h.key("read-only")
	v.types("1")
	v.out.sees(t, "▸ 1 Ping budget")
	v.types("q")
	if status := v.ends(); status != 0 {
		t.Errorf("it ends with %d", status)
	}
}
