package webhook

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// kills is how often the child is killed.
var kills = flag.Int("kills", 60, "how often the process that takes deliveries is killed")

// childDir makes the test binary a server on that directory until it is killed.
const (
	childDir  = "OLLIM_TEST_WEBHOOK_DIR"
	ranFile   = "ran.txt"   // one line per begun run: its name, and its number
	notesFile = "notes.txt" // one line per note
)

func TestMain(m *testing.M) {
	binarytest.Answer(nil)
	if root := os.Getenv(childDir); root != "" {
		fmt.Println("error", serveUntilKilled(root))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const countSpec = `---
id: %s
fields: {type: object, properties: {n: {type: integer}}}
---
Number {n}.
`

func serveUntilKilled(root string) error {
	dir, err := store.At(root)
	if err != nil {
		return err
	}
	put := func(name, line string) error {
		f, err := os.OpenFile(filepath.Join(root, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(f, line)
		_ = f.Close() // the kernel has the line
		return err
	}
	index := NewIndex(dir)
	index.Scan()
	s, err := New(Options{
		Dir: dir, Index: index, Secret: secret, Addr: "127.0.0.1:0", Zone: time.UTC, Notice: func(string) {}, Changed: func() {},
		Log: slog.New(slog.DiscardHandler),
		Run: func(_ context.Context, j Job) error {
			time.Sleep(time.Duration(j.Delivery.ID[0]%3) * time.Millisecond) // in the queue
			err := put(ranFile, j.Delivery.Run()+" "+j.Payload.Data[0].Value)
			time.Sleep(time.Duration(j.Delivery.ID[1]%3) * time.Millisecond)
			return err
		},
		Begun: func() (map[string]string, error) {
			runs := map[string]string{}
			data, err := os.ReadFile(filepath.Join(root, ranFile))
			for line := range strings.Lines(string(data)) {
				run, _, _ := strings.Cut(line, " ")
				runs[run] = Interrupted
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return runs, err
		},
		// As in the bot's own note, a pending text is not added again.
		Note: func(text string, kept func()) error {
			if noticed, err := os.ReadFile(filepath.Join(root, notesFile)); err == nil && strings.Contains(string(noticed), text) {
				kept()
				return nil
			}
			err := put(notesFile, text)
			if err == nil {
				kept()
			}
			return err
		},
	})
	if err != nil {
		return err
	}
	return s.run(context.Background(), func(ctx context.Context) (net.Listener, error) {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err == nil {
			fmt.Println("ready", l.Addr())
		}
		return l, err
	})
}

// TestAcceptedDeliveriesOutliveKills kills a server that is receiving deliveries. In the
// end every delivery answered with 202 has run exactly once. Only those whose run may have
// been cut off were reported, once.
func TestAcceptedDeliveriesOutliveKills(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	dir := storetest.Dir(t)
	const hooks = 10
	for i := range hooks { // enough that the rate limit refuses nothing
		put(t, dir, fmt.Sprintf("w%d.md", i), fmt.Sprintf(countSpec, fmt.Sprintf("w%d", i)))
	}
	var number atomic.Int64
	var mu sync.Mutex
	accepted := map[string]bool{}
	dice := testkit.Rand(t)
	for range *kills {
		outlive(t, dir, func(addr string) {
			n := number.Add(1)
			status, _, err := Deliver(t.Context(), addr, fmt.Sprintf("w%d", n%hooks), fmt.Appendf(nil, `{"n":%d}`, n), bearerOf(secret))
			if err == nil && status == http.StatusAccepted {
				mu.Lock()
				accepted[fmt.Sprint(n)] = true
				mu.Unlock()
			}
		}, time.Duration(dice.IntN(40_000))*time.Microsecond)
	}
	outlive(t, dir, nil, time.Hour) // the rest runs to its end
	settleAccounts(t, dir, accepted)
}

// outlive starts a server with four senders, and kills it after a while; without senders once all deliveries have ended.
func outlive(t *testing.T, dir *store.Dir, send func(addr string), life time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binarytest.Path())
	cmd.Env = append(os.Environ(), childDir+"="+dir.Root())
	out, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "ready ") {
		t.Fatalf("the child says %q", lines.Text())
	}
	addr := strings.TrimPrefix(lines.Text(), "ready ")
	end := time.Now().Add(life)
	timer := time.AfterFunc(life, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	var g sync.WaitGroup
	for range 4 {
		g.Go(func() {
			for send != nil && time.Now().Before(end) {
				send(addr)
			}
		})
	}
	g.Wait()
	for isOpen := func(r *record) bool { return r.open() }; send == nil; runtime.Gosched() {
		if list, err := readLog(dir); err != nil || !slices.ContainsFunc(list, isOpen) {
			_ = cmd.Process.Kill()
			break
		}
	}
	_ = cmd.Wait() // it was killed
}

func settleAccounts(t *testing.T, dir *store.Dir, accepted map[string]bool) {
	t.Helper()
	lines := func(name string) []string {
		data, err := os.ReadFile(dir.Path(name))
		testkit.Must(t, err)
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
	runs, ids := map[string]int{}, map[string]string{}
	for _, line := range lines(ranFile) {
		run, n, _ := strings.Cut(line, " ")
		id, _, _ := strings.Cut(run, "-")
		runs[n]++
		ids[n] = id
	}
	notes := strings.Join(lines(notesFile), "\n")
	reported, cut := strings.Count(notes, "Delivery "), 0
	for n := range accepted {
		if runs[n] == 0 {
			t.Errorf("number %s was accepted and never ran", n)
		}
	}
	for n, times := range runs {
		noticed := strings.Count(notes, "Delivery "+ids[n]+".")
		cut += noticed
		if times > 1 || noticed > 1 {
			t.Errorf("number %s ran %d times and was reported %d times", n, times, noticed)
		}
	}
	if reported != cut {
		t.Errorf("%d deliveries were reported that had not begun", reported-cut)
	}
	if len(accepted) < *kills/2 {
		t.Errorf("only %d were accepted: the test looks at nothing", len(accepted))
	}
	t.Logf("%d kills: %d accepted, %d ran, %d reported as cut off", *kills, len(accepted), len(runs), reported)
}

// Paced deliveries over loopback. All of them are accepted, so each answer waits for the
// disk. The benchmark reports the time to the answer.
func BenchmarkAccepted(b *testing.B) {
	for _, perSecond := range []int{10, 100} {
		b.Run(fmt.Sprint(perSecond), func(b *testing.B) { acceptedAt(b, perSecond) })
	}
}

func acceptedAt(b *testing.B, perSecond int) {
	const hooks, senders = 500, 128 // enough that neither the rate limit nor a slow answer matters
	r := newRig(b, func(o *Options) {
		o.Run = func(context.Context, Job) error { return nil }
	})
	for i := range hooks {
		put(b, r.dir, fmt.Sprintf("w%d.md", i), strings.Replace(fixedSpec, "id: fixed", fmt.Sprintf("id: w%d", i), 1))
	}
	r.index.Scan()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(b, err)
	stop := r.start(b, l)
	defer stop()
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	var next, accepted atomic.Int64
	took := make([]time.Duration, b.N)
	b.ResetTimer()
	begun := time.Now()
	var bare []time.Duration // the disk's own time in the same period
	var g sync.WaitGroup
	g.Go(func() {
		for more := true; more; more = next.Load() < int64(b.N) {
			sent := time.Now()
			if err := r.dir.Append("bare", []byte("a line")); err != nil {
				b.Error(err)
			}
			bare = append(bare, time.Since(sent))
			time.Sleep(20 * time.Millisecond)
		}
	})
	for range senders {
		g.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(b.N) {
					return
				}
				due := begun.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
				time.Sleep(time.Until(due))
				sent := time.Now()
				if one(b, &client, l.Addr().String(), int(i)%hooks) == http.StatusAccepted {
					accepted.Add(1)
				}
				took[i] = time.Since(sent)
			}
		})
	}
	g.Wait()
	elapsed := time.Since(begun)
	b.StopTimer()
	at := func(list []time.Duration, p float64) float64 {
		slices.Sort(list)
		return float64(list[min(len(list)-1, int(p*float64(len(list))))].Microseconds()) / 1000
	}
	b.ReportMetric(float64(b.N)/elapsed.Seconds(), "deliveries/s")
	b.ReportMetric(at(took, 0.50), "p50-ms")
	b.ReportMetric(at(took, 0.99), "p99-ms")
	b.ReportMetric(at(bare, 0.50), "bare-sync-p50-ms")
	b.ReportMetric(at(bare, 0.99), "bare-sync-p99-ms")
	b.ReportMetric(100*float64(accepted.Load())/float64(b.N), "%accepted")
}

// one sends a delivery to a webhook and returns the status of the answer.
func one(b *testing.B, client *http.Client, addr string, hook int) int {
	request, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://%s/hook/w%d", addr, hook), strings.NewReader(`{"status":"up","n":12}`))
	if err != nil {
		b.Error(err)
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+secret)
	response, err := client.Do(request)
	if err != nil {
		b.Error(err)
		return 0
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode
}
