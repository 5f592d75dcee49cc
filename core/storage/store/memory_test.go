package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stateFiles returns the files below state/ with their contents, without those of the lock.
func stateFiles(t *testing.T, d *Dir) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, filepath.WalkDir(d.Path(StateDir), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), "bot.") {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, d.Path(StateDir)+"/")] = string(data)
		return err
	}))
	return files
}

func looked(t *testing.T, d *Dir, want Found) {
	t.Helper()
	if found, err := d.Look(); found != want || err != nil {
		t.Errorf("found %v, %v, want %v", found, err, want)
	}
}

func TestALostStateFolderComesBackAsItWasLastSeen(t *testing.T) {
	d := tenant(t)
	full := strings.Repeat("x", recallMost)
	for rel, text := range map[string]string{"budget.json": "old", "grown.json": "small", "removed.json": "x"} {
		must(t, d.Write("state/"+rel, []byte(text)))
	}
	for rel, text := range map[string]string{
		"config.json": "of a command", "mute.json": "old", "vapid_key": "k", "full.json": full, "large.json": full + "x",
		"runs.jsonl": "{}\n", "forks/a.json": "{}",
	} {
		put(t, d, "state/"+rel, text)
	}
	must(t, d.Remove("state/removed.json"))
	looked(t, d, AsItWas)
	must(t, d.Write("state/budget.json", []byte("new")))
	must(t, d.Write("state/grown.json", []byte(full+"x")))
	put(t, d, "state/mute.json", "new")
	d.Remember("state/mute.json", "state/none.json")
	for round := range 2 {
		must(t, os.RemoveAll(d.Path(StateDir)))
		put(t, d, "state/config.json", "of a newer command")
		if got, err := d.Read("state/budget.json"); err != nil || string(got) != "new" {
			t.Errorf("budget.json holds %q, %v", got, err)
		}
		want := map[string]string{"budget.json": "new", "config.json": "of a newer command", "mute.json": "new", "vapid_key": "k", "full.json": full}
		if diff := cmp.Diff(want, stateFiles(t, d)); diff != "" {
			t.Errorf("round %d (-want +got):\n%.2000s", round, diff)
		}
		looked(t, d, StateLost)
	}
	if got, err := d.Read(pidFile); err != nil || len(got) == 0 {
		t.Errorf("bot.pid holds %q, %v", got, err)
	}
}

func TestOnlyAFileThatIsMissingTwiceInARowIsForgotten(t *testing.T) {
	d := tenant(t)
	for _, rel := range []string{"state/a.json", "state/b.json"} {
		must(t, d.Write(rel, []byte("x")))
	}
	lost := func(want map[string]string) {
		t.Helper()
		must(t, os.RemoveAll(d.Path(StateDir)))
		looked(t, d, StateLost)
		if diff := cmp.Diff(want, stateFiles(t, d)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	must(t, os.Remove(d.Path("state/a.json")))
	looked(t, d, AsItWas)
	put(t, d, "state/a.json", "back")
	looked(t, d, AsItWas)
	for _, rel := range []string{"state/a.json", "state/b.json"} {
		must(t, os.Remove(d.Path(rel)))
	}
	looked(t, d, AsItWas) // as while the folder is being removed, file by file
	lost(map[string]string{"a.json": "back", "b.json": "x"})
	must(t, os.Remove(d.Path("state/a.json")))
	looked(t, d, AsItWas)
	looked(t, d, AsItWas)
	lost(map[string]string{"b.json": "x"})
}
