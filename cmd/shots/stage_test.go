package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/vt"

	"ollimbot/cmd/internal/demo"
	"ollimbot/core"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/logs"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/tui"
	"ollimbot/tui/raster"
)

// stage is the real bot and the real dashboard on a terminal in memory, all in a bubble of fake time.
type stage struct {
	t     *testing.T
	root  string // of the data directory
	bot   *core.Bot
	keys  io.Writer
	paper raster.Look

	mu sync.Mutex
	// screen is not safe for concurrent use; the lock guards it.
	screen *vt.Emulator
}

func (s *stage) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.Write(p)
}

// play opens the dashboard in a terminal and lets a story happen.
func play(t *testing.T, w, h int, paper raster.Look, story func(s *stage)) {
	t.Helper()
	playAfter(t, 0, w, h, paper, story)
}

// playAfter is play with a past of so many days; 0 means that of the demo.
func playAfter(t *testing.T, days, w, h int, paper raster.Look, story func(s *stage)) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home) // so that the log names no temporary directory
	root := filepath.Join(home, "data")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(opening))
		s := &stage{t: t, root: root, paper: paper, screen: vt.NewEmulator(w, h)}
		s.screen.SetDefaultBackgroundColor(paper.Back)
		s.screen.SetDefaultForegroundColor(paper.Fore)
		var closeLog func() error
		s.bot, closeLog = furnished(t, root, days)
		in, keys := io.Pipe()
		s.keys = keys
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		fail := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		all.Go(func() { fail(s.bot.Run(ctx)) })
		all.Go(func() { _, _ = io.Copy(keys, s.screen) }) // what the terminal answers
		synctest.Wait()
		all.Go(func() {
			viewer := s.bot.Viewer(false)
			defer viewer.Close()
			fail(tui.Run(ctx, viewer, tui.Options{Input: in, Output: s, Env: []string{
				"TERM=xterm-256color", "COLORTERM=truecolor", "TTY_FORCE=1", "LANG=C.UTF-8",
				fmt.Sprintf("COLUMNS=%d", w), fmt.Sprintf("LINES=%d", h),
			}}))
		})
		synctest.Wait()
		story(s)
		stop()
		synctest.Wait()
		if w, ok := s.screen.InputPipe().(io.Closer); ok {
			_ = w.Close()
		}
		_ = keys.Close()
		all.Wait()
		fail(closeLog())
	})
}

// furnished is a bot over the directory of somebody who has used it for so many days.
func furnished(t *testing.T, root string, days int) (*core.Bot, func() error) {
	t.Helper()
	dir := storetest.At(t, root)
	testkit.Must(t, demo.Furnish(demo.Home{Dir: dir, Now: time.Now().UTC(), Days: days}))
	log, book := logs.New(logs.Options{Dir: dir, Level: slog.LevelInfo, Zone: time.UTC})
	var bot *core.Bot
	talk := demo.Talk(func() core.Snapshot { return bot.Snapshot() })
	bot, err := core.New(core.Options{
		Dir: dir, Env: config.Env{Zone: time.UTC, ZoneName: "UTC", UserName: "Sam", BotName: "Ollie"},
		Engine: script.New(script.Options{Pace: 1, Dir: dir, Priced: true, Talk: talk}), EngineName: "script", Demo: true,
		Log: log, Book: book, Version: "demo", Still: true,
	})
	testkit.Must(t, err)
	return bot, book.Close
}

// press types on the keyboard; a lone escape is known by the pause after it.
func (s *stage) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		if _, err := io.WriteString(s.keys, k); err != nil {
			s.t.Fatal(err)
		}
		if k == "\x1b" {
			time.Sleep(200 * time.Millisecond)
		}
		synctest.Wait()
	}
	s.wait(200 * time.Millisecond)
}

func (s *stage) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// save writes a file of the user's.
func (s *stage) save(path, text string) {
	s.t.Helper()
	testkit.Must(s.t, os.WriteFile(filepath.Join(s.root, path), []byte(text), 0o600))
	s.bot.Index().Scan()
}

func (s *stage) do(c command.Value) {
	s.t.Helper()
	if _, err := s.bot.Do(context.Background(), c); err != nil {
		s.t.Error(err)
	}
}

// grid is what is on the screen.
func (s *stage) grid() *raster.Grid {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return raster.Of(s.screen, s.screen.Width(), s.screen.Height(), s.paper)
}

// screenshots is where the pictures are.
var screenshots = filepath.Join("..", "..", "screenshots")

// kept writes a picture with -update; without, its SVG must be as it is kept. The pixels are of the same screen, so that they
// need no comparison.
func kept(t *testing.T, name string, g *raster.Grid) {
	t.Helper()
	if *update {
		testkit.Must(t, keep(screenshots, name, g))
		return
	}
	old, err := os.ReadFile(filepath.Join(screenshots, name+".svg"))
	testkit.Must(t, err)
	if string(old) != string(writeSVG(g)) {
		t.Errorf("screenshots/%s.svg is stale: draw it again with `go run ./cmd/shots`, and look at it", name)
	}
}
