package watch

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"ollimbot/core/base/testkit"
)

func TestAFolderWhoseCreationWasAmongTheLostEventsIsWatchedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		in := filepath.Join(root, "in")
		var mu sync.Mutex
		var watched []string
		list := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(watched)
		}
		lost := make(chan error)
		s := source{events: make(chan fsnotify.Event), errors: lost, watched: list, add: func(dir string) error {
			mu.Lock()
			defer mu.Unlock()
			watched = append(watched, dir)
			return nil
		}}
		o := Options{
			Root: root, Folders: []string{"in"}, Match: func(string) bool { return true }, Changed: func(Batch) {}, Log: slog.New(slog.DiscardHandler),
		}
		go func() { _ = run(t.Context(), o, s, nil) }() // until the end of the test
		synctest.Wait()
		testkit.Must(t, os.Mkdir(in, 0o700))
		lost <- fsnotify.ErrEventOverflow
		time.Sleep(time.Second)
		synctest.Wait()
		if !slices.Contains(list(), in) {
			t.Errorf("only %q is watched", list())
		}
	})
}
