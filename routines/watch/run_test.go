package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"
)

// stage is a Run in a bubble, over real folders but with events from the test.
type stage struct {
	t      *testing.T
	root   string
	events chan fsnotify.Event
	errors chan error
	stop   func()

	mu      sync.Mutex
	refuse  error // the result of add
	watched map[string]bool
	began   time.Time
	told    []string // "when what"
	log     bytes.Buffer
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, root: t.TempDir(), events: make(chan fsnotify.Event), errors: make(chan error), watched: map[string]bool{}}
	if err := os.Mkdir(filepath.Join(s.root, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stage) add(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		return s.refuse
	}
	s.watched[dir] = true
	return nil
}

func (s *stage) drop(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watched, dir)
	return nil
}

func (s *stage) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for dir := range s.watched {
		out = append(out, dir)
	}
	return out
}

func (s *stage) changed(b Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := strings.Join(b.Names, " ")
	if b.Full {
		what = "full"
	}
	s.told = append(s.told, fmt.Sprintf("%v %s", time.Since(s.began), what))
}

func (s *stage) start(openErr error) {
	src := source{events: s.events, errors: s.errors, add: s.add, remove: s.drop, watched: s.list}
	if openErr != nil {
		src = source{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	s.began = time.Now()
	go func() {
		done <- run(ctx, Options{
			Root: s.root, Folders: []string{"in", "later"}, Changed: s.changed,
			Match: func(name string) bool { return strings.HasSuffix(name, ".md") },
			Log:   slog.New(slog.NewTextHandler(&s.log, nil)),
		}, src, openErr)
	}()
	s.stop = func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("run: %v", err)
		}
		s.stop = func() {}
	}
	s.t.Cleanup(func() { s.stop() })
	synctest.Wait()
}

func (s *stage) touch(name string) {
	s.events <- fsnotify.Event{Name: filepath.Join(s.root, name), Op: fsnotify.Write}
	synctest.Wait()
}

func (s *stage) want(told ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(told, s.told); diff != "" {
		s.t.Errorf("told (-want +got):\n%s", diff)
	}
}

func onStage(t *testing.T, test func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newStage(t)) })
}

func TestTheFirstBatchIsFullAndThenOneAMinute(t *testing.T) {
	onStage(t, func(s *stage) {
		s.start(nil)
		time.Sleep(150 * time.Second)
		s.want("0s full", "1m0s full", "2m0s full")
	})
}

func TestASaveOfSeveralWritesIsToldOnceAfterTheLast(t *testing.T) {
	onStage(t, func(s *stage) {
		s.start(nil)
		for range 5 {
			s.touch("in/a.md")
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		s.want("0s full", "70ms in/a.md")
	})
}

func TestAFileUnderConstantWritingIsToldEveryQuarterSecond(t *testing.T) {
	onStage(t, func(s *stage) {
		s.start(nil)
		for range 90 { // the last at 623 ms
			s.touch("in/a.md")
			time.Sleep(7 * time.Millisecond)
		}
		time.Sleep(time.Second)
		// The first touch after a batch, at 252 ms, starts the next span. The last quiet period
		// ends at 653 ms, 10 ms after a check that was too early.
		s.want("0s full", "250ms in/a.md", "502ms in/a.md", "656ms in/a.md")
	})
}

func TestAFileUnderConstantWritingDelaysNoOther(t *testing.T) {
	onStage(t, func(s *stage) {
		s.start(nil)
		s.touch("in/b.md")
		for range 10 {
			s.touch("in/a.md")
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		s.want("0s full", "30ms in/b.md", "120ms in/a.md")
	})
}

func TestNamesThatDoNotMatchAreIgnored(t *testing.T) {
	onStage(t, func(s *stage) {
		s.start(nil)
		for _, name := range []string{"in/a.md~", "in/.a.md.swp", "in/4913", "a.md", "other/a.md", "in/deep/a.md"} {
			s.touch(name)
		}
		time.Sleep(time.Second)
		s.want("0s full")
	})
}

func TestManyFilesComeInFewBatches(t *testing.T) {
	onStage(t, func(s *stage) {
		s.start(nil)
		const files = 2000
		for i := range files {
			s.events <- fsnotify.Event{Name: filepath.Join(s.root, fmt.Sprintf("in/%d.md", i)), Op: fsnotify.Create}
			time.Sleep(50 * time.Microsecond) // 100 ms in total
		}
		time.Sleep(time.Second)
		s.mu.Lock()
		defer s.mu.Unlock()
		names := map[string]bool{}
		for _, told := range s.told[1:] {
			for _, name := range strings.Fields(told)[1:] {
				names[name] = true
			}
		}
		if len(names) != files || len(s.told) > 15 {
			t.Errorf("%d names in %d batches", len(names), len(s.told))
		}
	})
}

func TestLostEventsMakeAFullBatch(t *testing.T) {
	onStage(t, func(s *stage) {
		s.start(nil)
		s.touch("in/a.md")
		s.errors <- fsnotify.ErrEventOverflow
		synctest.Wait()
		time.Sleep(time.Second)
		s.want("0s full", "30ms full")
		if s.log.Len() > 0 {
			t.Errorf("logged %s", s.log.String())
		}
	})
}

func TestAWatchLimitIsWarnedOfOnceAndPolledEveryTenSeconds(t *testing.T) {
	for name, refusal := range map[string]error{"too many watches": syscall.ENOSPC, "too many files": syscall.EMFILE} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				s.refuse = refusal
				s.start(nil)
				time.Sleep(25 * time.Second)
				s.mu.Lock()
				s.refuse = nil // watches are available again
				s.mu.Unlock()
				time.Sleep(70 * time.Second)
				s.want("0s full", "10s full", "20s full", "30s full", "1m30s full")
				if n := strings.Count(s.log.String(), "level=WARN"); n != 1 {
					t.Errorf("%d warnings:\n%s", n, s.log.String())
				}
			})
		})
	}
}

func TestWithoutAnyWatchTheTimerGoesOn(t *testing.T) {
	onStage(t, func(s *stage) {
		s.start(syscall.EMFILE)
		time.Sleep(25 * time.Second)
		s.want("0s full", "10s full", "20s full")
		if n := strings.Count(s.log.String(), "level=WARN"); n != 1 {
			t.Errorf("%d warnings:\n%s", n, s.log.String())
		}
	})
}

func TestAnEventSourceThatClosesIsReplacedByTheTimer(t *testing.T) {
	onStage(t, func(s *stage) {
		s.start(nil)
		close(s.events)
		time.Sleep(25 * time.Second)
		s.want("0s full", "10s full", "20s full")
	})
}

func TestAnOddErrorOfTheWatchIsLoggedAndMadeUpFor(t *testing.T) {
	onStage(t, func(s *stage) {
		s.start(nil)
		s.errors <- errors.New("odd")
		synctest.Wait()
		time.Sleep(time.Second)
		s.want("0s full", "30ms full")
		if !strings.Contains(s.log.String(), "odd") {
			t.Error("nothing was logged")
		}
	})
}

func TestALinkThatLeadsNowhereIsLookedAtOften(t *testing.T) {
	onStage(t, func(s *stage) {
		if err := os.Symlink("missing", filepath.Join(s.root, "later")); err != nil {
			t.Fatal(err)
		}
		s.start(nil)
		time.Sleep(3 * time.Second)
		if err := os.Mkdir(filepath.Join(s.root, "missing"), 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(65 * time.Second)
		s.want("0s full", "2s full", "4s full", "1m4s full")
	})
}

func TestNothingIsToldAfterTheEnd(t *testing.T) {
	onStage(t, func(s *stage) {
		s.start(nil)
		s.touch("in/a.md")
		s.stop()
		time.Sleep(time.Hour)
		s.want("0s full")
	})
}
