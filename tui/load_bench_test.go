package tui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"

	"ollimbot/core"
	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/tui/screen"
	"ollimbot/tui/theme"
)

// What the measured costs beside a bot that does a lot, measured as a process
// of its own on a terminal of 200×60: the benchmark starts its own binary again
// as the measured and looks at it from outside. Linux only.

// loadChild marks the process that is the measured.
const loadChild = "OLLIM_LOAD_CHILD"

func TestMain(m *testing.M) {
	binarytest.Answer(nil)
	if rate := os.Getenv(loadChild); rate != "" {
		if err := underLoad(rate); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// underLoad is the measured of a full day, with as many lines a second as rate
// says: a tail of 100,000 lines grows by them, an answer and the log by a tenth.
func underLoad(rate string) error {
	perSecond, err := strconv.Atoi(rate)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	b := newBot(crowdedDay(time.Now()))
	b.rings["f1f1f1f1"], b.rings[core.LogTail] = tail.New(100_000), tail.New(10_000)
	b.flood(100_000)
	var feeding sync.WaitGroup
	feeding.Go(func() { b.feed(ctx, perSecond) })
	err = Run(ctx, b, Options{Input: os.Stdin, Output: os.Stdout, Env: os.Environ(), Theme: "dark"})
	stop()
	feeding.Wait()
	return err
}

// crowdedDay has more in every pane than the pane can show.
func crowdedDay(at time.Time) core.Snapshot {
	s := withForks(busyDay(at))
	for i := range 40 {
		e := s.Schedule.Entries[i%3]
		e.ID, e.FireTime, e.Kind = fmt.Sprintf("%08x", i), at.Add(time.Duration(i+1)*4*time.Minute), routines.KindRoutine
		s.Schedule.Entries = append(s.Schedule.Entries, e)
		s.Updates = append(s.Updates, updates.Update{Key: e.ID, At: at.Add(-time.Duration(i) * time.Minute), Message: "Email triage: 2 need an answer today, 9 archived."})
		s.Chat = append(s.Chat, transcript.Entry{ID: post.MessageID(e.ID), At: at, Role: transcript.Bot, Text: "Two things are left:\n- answer the **landlord** about Thursday\n- the `weekly review` at 16:45"})
	}
	for i := range 10 {
		s.Forks = append(s.Forks, fork.View{ID: fmt.Sprintf("%08x", 0xd000+i), Title: "Medication", State: fork.Done, Started: at.Add(-time.Hour), Ended: at.Add(-59 * time.Minute), Pings: 1, Reports: 1})
	}
	s.Chat = append(s.Chat, transcript.Entry{ID: "growing", At: at, Role: transcript.Bot, Streaming: true})
	s.Busy, s.BusySince = true, at
	return s
}

// loadWords make lines of 40 to 120 cells, none like the one before.
var loadWords = strings.Fields("two need an answer today: the landlord asks about Thursday, and Dana waits for the numbers of the third quarter; eleven newsletters can wait")

func loadLine(n int) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(n))
	for i := range 8 + n%13 {
		b.WriteString(" " + loadWords[(n*7+i*(1+n%5))%len(loadWords)])
	}
	return b.String()
}

// flood adds n lines to the tail at once, and a tenth of it to the log.
func (b *bot) flood(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	run, log := b.rings["f1f1f1f1"], b.rings[core.LogTail]
	for range n {
		i := int(run.Len())
		run.Add(tail.Line{At: time.Now(), Kind: tail.Text, Text: loadLine(i)})
		if i%10 == 0 {
			log.Add(tail.Line{At: time.Now(), Kind: tail.Info, Text: "watch event file=routines/gym.md line=" + strconv.Itoa(i)})
		}
	}
}

// feed does it for as long as ctx lives, in portions of a hundredth of a second.
func (b *bot) feed(ctx context.Context, perSecond int) {
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for perSecond > 0 {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		b.grow(perSecond / 100)
	}
}

// grow adds n lines, and a word to the answer.
func (b *bot) grow(n int) {
	b.flood(n)
	b.change(func(s *core.Snapshot) {
		s.Forks[0].Lines = b.rings["f1f1f1f1"].Len()
		s.LogLines = b.rings[core.LogTail].Len()
		s.Chat = slices.Clone(s.Chat)
		last := &s.Chat[len(s.Chat)-1]
		if last.Text += loadWords[len(last.Text)%len(loadWords)] + " "; len(last.Text) > 4000 {
			last.Text = ""
		}
	})
}

// measured is the process under measurement.
type measured struct {
	b      *testing.B
	cmd    *exec.Cmd
	pty    *os.File
	frames chan string // what was written, without colours; dropped when nobody reads
	read   sync.WaitGroup

	mu    sync.Mutex
	bytes int
}

func startDashboard(b *testing.B, perSecond int) *measured {
	b.Helper()
	d := &measured{b: b, frames: make(chan string, 64)}
	d.cmd = exec.CommandContext(b.Context(), binarytest.Path())
	d.cmd.Env = []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", loadChild + "=" + strconv.Itoa(perSecond)}
	if v := os.Getenv("GOGC"); v != "" {
		d.cmd.Env = append(d.cmd.Env, "GOGC="+v)
	}
	var err error
	if d.pty, err = pty.StartWithSize(d.cmd, &pty.Winsize{Cols: 200, Rows: 60}); err != nil {
		b.Fatal(err)
	}
	d.read.Go(d.drain)
	return d
}

func (d *measured) drain() {
	buf := make([]byte, 256<<10)
	for {
		n, err := d.pty.Read(buf)
		if err != nil {
			return
		}
		d.mu.Lock()
		d.bytes += n
		d.mu.Unlock()
		select {
		case d.frames <- string(buf[:n]):
		default:
		}
	}
}

// written is how many bytes have gone to the terminal.
func (d *measured) written() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.bytes
}

// press types a key and waits until the screen says so.
func (d *measured) press(k, want string) time.Duration {
	d.b.Helper()
	for len(d.frames) > 0 {
		<-d.frames
	}
	began := time.Now()
	if _, err := d.pty.WriteString(k); err != nil {
		d.b.Fatal(err)
	}
	limit := time.After(5 * time.Second)
	seen := ""
	for {
		select {
		case f := <-d.frames:
			if seen += f; strings.Contains(ansi.Strip(seen), want) { // a read may end within a sequence
				return time.Since(began)
			}
		case <-limit:
			d.b.Fatalf("%q was not answered within 5 s: %q", k, seen)
		}
	}
}

func (d *measured) end() {
	d.b.Helper()
	if err := d.cmd.Process.Kill(); err != nil {
		d.b.Error(err)
	}
	_ = d.cmd.Wait()
	_ = d.pty.Close()
	d.read.Wait()
}

// cost is what the process has used: processor time, and how often one of its
// threads went to sleep and was woken.
func (d *measured) cost() (cpu time.Duration, wakeups int) {
	d.b.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", d.cmd.Process.Pid))
	if err != nil || len(tasks) == 0 {
		d.b.Fatalf("no /proc for %d: %v", d.cmd.Process.Pid, err)
	}
	for _, t := range tasks {
		stat, err1 := os.ReadFile(filepath.Join(t, "schedstat"))
		status, err2 := os.ReadFile(filepath.Join(t, "status"))
		if err1 != nil || err2 != nil {
			continue // the thread has ended
		}
		ns, _ := strconv.ParseInt(strings.Fields(string(stat))[0], 10, 64)
		cpu += time.Duration(ns)
		wakeups += figure(status, "voluntary_ctxt_switches:")
	}
	return cpu, wakeups
}

// figure is the number behind a name in a file of /proc.
func figure(status []byte, name string) int {
	_, rest, _ := bytes.Cut(status, []byte("\n"+name))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(string(fields[0]))
	return n
}

// BenchmarkFrame200x60 is a frame of ours, drawn and written: six full panes, a
// tail of 100,000 lines that has grown by 33 since the frame before. 1 ms is asked.
func BenchmarkFrame200x60(b *testing.B) {
	bot := newBot(crowdedDay(time.Now()))
	bot.rings["f1f1f1f1"], bot.rings[core.LogTail] = tail.New(100_000), tail.New(10_000)
	bot.flood(100_000)
	scr := screen.New(b.Context(), io.Discard, nil)
	testkit.Must(b, scr.Open())
	r := newRoot(b.Context(), bot, Options{Output: io.Discard})
	r.prefs.theme = theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	r.terminal.screen, r.w, r.h = scr, 200, 60
	r.refresh()
	r.show(atOnce)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		bot.grow(33)
		b.StartTimer()
		r.refresh()
		r.show(atOnce)
	}
	if r.err != nil {
		b.Fatal(r.err)
	}
}

// BenchmarkUnderLoad asks for under 8 % of a core at 1,000 lines a second, for a
// key that is answered within 20 ms at 99 %, and, where nothing comes, for 0.3 %
// of a core and 40 wakeups a second at most.
func BenchmarkUnderLoad(b *testing.B) {
	const watch, keys = 15 * time.Second, 600
	for _, perSecond := range []int{0, 1000} {
		b.Run(strconv.Itoa(perSecond)+"-lines-a-second", func(b *testing.B) {
			for b.Loop() {
				d := startDashboard(b, perSecond)
				d.press("2", "▸ 2 Schedule")
				pause(b, 3*time.Second)
				cpu, wakeups := d.cost()
				written := d.written()
				pause(b, watch)
				cpu2, wakeups2 := d.cost()
				b.ReportMetric(100*(cpu2-cpu).Seconds()/watch.Seconds(), "%core")
				b.ReportMetric(float64(wakeups2-wakeups)/watch.Seconds(), "wakeups/s")
				b.ReportMetric(float64(d.written()-written)/watch.Seconds()/1024, "kB-written/s")
				status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
				testkit.Must(b, err)
				b.ReportMetric(float64(figure(status, "VmRSS:"))/1024, "MB-resident")
				took := make([]time.Duration, 0, keys)
				for i := range keys {
					pause(b, 7*time.Millisecond+time.Duration(i%11)*time.Millisecond) // at every phase of a frame
					if i%2 == 0 {
						took = append(took, d.press("1", "▸ 1 Ping budget"))
					} else {
						took = append(took, d.press("2", "▸ 2 Schedule"))
					}
				}
				slices.Sort(took)
				b.ReportMetric(took[keys/2].Seconds()*1000, "ms-key-median")
				b.ReportMetric(took[keys*99/100].Seconds()*1000, "ms-key-99%")
				d.end()
			}
		})
	}
}

func pause(b *testing.B, d time.Duration) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), d)
	defer cancel()
	<-ctx.Done()
}
