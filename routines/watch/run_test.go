package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"ollimbot/core/base/testkit"
)

// stage is a Run in a bubble, over real folders but with events from the test.
type stage struct {
	t       *testing.T
	root    string
	folders []string
	events  chan fsnotify.Event
	errors  chan error
	stop    func()

	mu      sync.Mutex
	refuse  error // the result of add
	watched []string
	added   []string // since the last look
	began   time.Time
	got     []string // "when what"
	log     bytes.Buffer
}

func onStage(t *testing.T, test func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, root: t.TempDir(), events: make(chan fsnotify.Event), errors: make(chan error), stop: func() {}}
		s.folders = []string{"in", "later"}
		testkit.Must(t, os.Mkdir(filepath.Join(s.root, "in"), 0o700))
		defer func() { s.stop() }()
		test(s)
	})
}

func (s *stage) with(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func (s *stage) start(openErr error) {
	src := source{
		events: s.events, errors: s.errors,
		add: func(dir string) (err error) {
			s.with(func() {
				s.added = append(s.added, dir)
				if err = s.refuse; err == nil && !slices.Contains(s.watched, dir) {
					s.watched = append(s.watched, dir)
				}
			})
			return err
		},
		remove: func(dir string) error {
			s.with(func() { s.watched = slices.DeleteFunc(s.watched, func(d string) bool { return d == dir }) })
			return nil
		},
		watched: func() (list []string) { s.with(func() { list = slices.Clone(s.watched) }); return list },
	}
	if openErr != nil {
		src = source{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	s.began = time.Now()
	go func() {
		done <- run(ctx, Options{
			Root: s.root, Folders: s.folders, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
			Match: func(name string) bool { return strings.HasSuffix(name, ".md") },
			Changed: func(b Batch) {
				what := strings.Join(slices.Sorted(slices.Values(b.Names)), " ")
				if b.Full {
					what = "full"
				}
				s.with(func() { s.got = append(s.got, fmt.Sprintf("%v %s", time.Since(s.began), what)) })
			},
		}, src, openErr)
	}()
	s.stop = func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("run: %v", err)
		}
		s.stop = func() {}
	}
	synctest.Wait()
}

// step takes a step of a story; "5 touch in/a.md every 10ms" is five steps and five waits.
func (s *stage) step(text string) {
	var n int
	verb, rest, _ := strings.Cut(text, " ")
	if _, err := fmt.Sscan(verb, &n); err == nil {
		what, pause, _ := strings.Cut(rest, " every ")
		for range n {
			s.step(what)
			s.step("sleep " + pause)
		}
		return
	}
	switch verb {
	case "start":
		s.start(map[string]error{"without watches": syscall.EMFILE}[rest])
	case "stop":
		s.stop()
	case "sleep":
		d, err := time.ParseDuration(rest)
		testkit.Must(s.t, err)
		time.Sleep(d)
	case "touch", "chmod", "create", "remove":
		op := map[string]fsnotify.Op{"touch": fsnotify.Write, "chmod": fsnotify.Chmod, "create": fsnotify.Create, "remove": fsnotify.Remove}[verb]
		s.events <- fsnotify.Event{Name: filepath.Join(s.root, rest), Op: op}
	case "fail":
		s.errors <- map[string]error{"overflow": fsnotify.ErrEventOverflow, "odd": errors.New("odd")}[rest]
	case "close":
		map[string]func(){"events": func() { close(s.events) }, "errors": func() { close(s.errors) }}[rest]()
	case "refuse", "allow":
		s.with(func() {
			s.refuse = map[string]error{"watches": syscall.ENOSPC, "files": syscall.EMFILE, "what is gone": syscall.ENOENT}[rest]
		})
	case "folder":
		s.folders = []string{rest}
	case "link":
		name, to, _ := strings.Cut(rest, " to ")
		testkit.Must(s.t, os.Symlink(to, filepath.Join(s.root, name)))
	case "mkdir":
		testkit.Must(s.t, os.Mkdir(filepath.Join(s.root, rest), 0o700))
	case "delete":
		testkit.Must(s.t, os.RemoveAll(filepath.Join(s.root, rest)))
	case "watched", "unwatched":
		s.with(func() {
			if slices.Contains(s.watched, filepath.Join(s.root, rest)) != (verb == "watched") {
				s.t.Errorf("%s is not %s: %q", rest, verb, s.watched)
			}
		})
	case "renewed":
		s.with(func() {
			if !slices.Contains(s.added, filepath.Join(s.root, rest)) {
				s.t.Errorf("the watch of %s is not renewed: %q", rest, s.added)
			}
			s.added = nil
		})
	default:
		s.t.Fatalf("%s is no step", text)
	}
	synctest.Wait()
}

func TestChangesAreReportedInFewBatches(t *testing.T) {
	for _, c := range []struct{ name, steps, want, logs string }{
		{"the first is full, and then one a minute", "start, sleep 150s", "0s full, 1m0s full, 2m0s full", ""},
		{"a save of several writes is reported once, after the last", "start, 5 touch in/a.md every 10ms, sleep 1s", "0s full, 70ms in/a.md", ""},
		{
			// 90 writes, the last at 623 ms. The first touch after a batch, at 252 ms, starts the next span. The last quiet period ends at
			// 653 ms, 10 ms after a check that was too early.
			"a file under constant writing is reported every quarter second", "start, 90 touch in/a.md every 7ms, sleep 1s",
			"0s full, 250ms in/a.md, 502ms in/a.md, 656ms in/a.md", "",
		},
		{"and delays no other", "start, touch in/b.md, 10 touch in/a.md every 10ms, sleep 1s", "0s full, 30ms in/b.md, 120ms in/a.md", ""},
		{
			"names that do not match are ignored",
			"start, touch in/a.md~, touch in/.a.md.swp, touch in/4913, touch a.md, touch other/a.md, touch in/deep/a.md, sleep 1s", "0s full", "",
		},
		{"lost events make a full batch, which takes the others along", "start, touch in/a.md, fail overflow, sleep 1s", "0s full, 30ms full", ""},
		{"an odd error is logged and made up for", "start, fail odd, sleep 1s", "0s full, 30ms full", "odd"},
		{
			"too many watches are warned of once, and polled every ten seconds", "refuse watches, start, sleep 25s, allow, sleep 70s",
			"0s full, 10s full, 20s full, 30s full, 1m30s full", "level=WARN",
		},
		{
			"so are too many files", "refuse files, start, sleep 25s, allow, sleep 70s",
			"0s full, 10s full, 20s full, 30s full, 1m30s full", "level=WARN",
		},
		{"without any watch the timer is left", "start without watches, sleep 25s", "0s full, 10s full, 20s full", "level=WARN"},
		{"also when the source of events closes", "start, close events, sleep 25s", "0s full, 10s full, 20s full", "the event source closed"},
		{"or that of errors", "start, close errors, sleep 25s", "0s full, 10s full, 20s full", "the error source closed"},
		{"a folder that is gone before its watch begins is no refusal", "refuse what is gone, start, sleep 65s", "0s full, 1m0s full", ""},
		{"the mode or the list of a folder is not news", "start, chmod in, touch in, sleep 1s", "0s full", ""},
		{
			"a folder made again is watched again, and one that is gone no more",
			"start, renewed in, create in, renewed in, sleep 1s, delete in, remove in, unwatched in, sleep 1s", "0s full, 30ms full, 1.03s full", "",
		},
		{"a folder is watched at once if its creation was among lost events", "start, mkdir later, fail overflow, watched later, sleep 1s", "0s full, 30ms full", ""},
		{"the root itself may be the folder", "folder ., start, touch a.md, touch in/a.md, sleep 1s", "0s full, 30ms a.md", ""},
		{
			"where a link leads is watched for as long as the link exists",
			"mkdir out, link in/a.md to ../out/n.md, start, watched out, touch out/n.md, touch out/m.md, sleep 1s, " +
				"delete in/a.md, remove in/a.md, unwatched out, watched in, sleep 1s", "0s full, 30ms in/a.md, 1.03s in/a.md", "",
		},
		{
			"a link is followed if it is made later, and only if its name matches",
			"mkdir out, mkdir off, link in/a.txt to ../off/n.md, start, unwatched off, link in/a.md to ../out/n.md, create in/a.md, watched out, sleep 1s, " +
				"touch out/n.md, sleep 1s", "0s full, 30ms in/a.md, 1.03s in/a.md", "",
		},
		{
			"a chain of links is followed to its end, and not beyond a link that is gone",
			"mkdir out, link in/a.md to b, link in/b to c, link in/c to ../out/n.md, start, watched out, touch out/n.md, sleep 1s, " +
				"delete in/b, remove in/b, unwatched out, sleep 1s", "0s full, 30ms in/a.md, 1.03s in/a.md", "",
		},
		{
			"a link to a neighbour and one to itself are reported like other files",
			"link in/a.md to b.md, link in/loop.md to loop.md, start, touch in/b.md, sleep 1s, touch in/loop.md, sleep 1s",
			"0s full, 30ms in/a.md in/b.md, 1.03s in/loop.md", "",
		},
		{
			"a link that leads nowhere is looked at often", "link later to missing, start, sleep 3s, mkdir missing, sleep 65s",
			"0s full, 2s full, 4s full, 1m4s full", "",
		},
		{"nothing is reported after the end", "start, touch in/a.md, stop, sleep 1h", "0s full", ""},
	} {
		onStage(t, func(s *stage) {
			for step := range strings.SplitSeq(c.steps, ", ") {
				s.step(step)
			}
			s.with(func() {
				if got := strings.Join(s.got, ", "); got != c.want {
					t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
				}
			})
			log := s.log.String()
			if strings.Count(log, "level=WARN") != min(1, len(c.logs)) || !strings.Contains(log, c.logs) {
				t.Errorf("%s: logged\n%s", c.name, log)
			}
		})
	}
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
		s.with(func() {
			names := map[string]bool{}
			for _, batch := range s.got[1:] {
				for _, name := range strings.Fields(batch)[1:] {
					names[name] = true
				}
			}
			if len(names) != files || len(s.got) > 15 {
				t.Errorf("%d names in %d batches", len(names), len(s.got))
			}
		})
	})
}
