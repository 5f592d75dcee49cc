package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
)

// TestMain lets the test binary act as another process: with STORE_CHILD set it plays that part
// instead of running tests.
func TestMain(m *testing.M) {
	binarytest.Answer(nil)
	part, ok := children[os.Getenv("STORE_CHILD")]
	if !ok {
		os.Exit(m.Run())
	}
	d, err := At(os.Getenv("STORE_DIR"))
	if err == nil {
		err = part(d)
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// children are the parts that the test binary can play.
var children = map[string]func(*Dir) error{
	"write":    writeForever,
	"fulldisk": fullDisk,
	"lock":     lockAndWait,
	"count":    countUp,
	"handles":  useAll,
}

// child starts the test binary with a part.
func child(t *testing.T, part string, d *Dir, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binarytest.Path(), args...)
	cmd.Env = append(os.Environ(), "STORE_CHILD="+part, "STORE_DIR="+d.Root())
	return cmd
}

// generation returns a file's content: a number and as many bytes as it says.
func generation(n int) []byte {
	return fmt.Appendf(nil, "%d:%s", n, strings.Repeat("x", n%7*9000))
}

func writeForever(d *Dir) error {
	for n := 0; ; n++ {
		if err := d.Write("state/x.json", generation(n)); err != nil {
			return err
		}
		if err := d.Append("state/h.jsonl", fmt.Appendf(nil, "{\"n\":%d}", n)); err != nil {
			return err
		}
		if n == 0 {
			fmt.Println("writing")
		}
	}
}

func TestAKilledWriterLeavesWholeFiles(t *testing.T) {
	testkit.Alone(t)
	d := prepared(t)
	for round := range 12 {
		cmd := child(t, "write", d)
		out, err := cmd.StdoutPipe()
		testkit.Must(t, err)
		testkit.Must(t, cmd.Start())
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		// The child's progress differs from round to round: reading a few thousand files takes a
		// while without using a clock.
		for range round * 300 {
			if got, err := d.Read("state/x.json"); err != nil || !whole(got) {
				t.Fatalf("while it writes: %.40q, %v", got, err)
			}
		}
		testkit.Must(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		got, err := d.Read("state/x.json")
		if err != nil || !whole(got) {
			t.Fatalf("round %d: %.40q, %v", round, got, err)
		}
	}
	testkit.Must(t, d.Append("state/h.jsonl", []byte("{}")))
	data, err := d.Read("state/h.jsonl")
	if err != nil || !bytes.HasSuffix(data, []byte("\n{}\n")) {
		t.Errorf("the history ends in %q, %v", data[max(0, len(data)-40):], err)
	}
}

func whole(got []byte) bool {
	var n int
	if _, err := fmt.Sscanf(string(got), "%d:", &n); err != nil {
		return false
	}
	return bytes.Equal(got, generation(n))
}

// fullDisk makes the system refuse files beyond 8 KiB, which looks to a program like a disk that
// fills up in the middle of a write.
func fullDisk(d *Dir) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 8192, Max: 8192}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	big := bytes.Repeat([]byte("x"), 20_000)
	werr := d.Write("state/x.json", big)
	aerr := d.Append("state/h.jsonl", big)
	for _, err := range []error{werr, aerr} {
		fmt.Println(err)
	}
	return nil
}

func TestAFullDiskHarmsNothingAndNamesTheCure(t *testing.T) {
	testkit.Alone(t)
	d := prepared(t)
	put(t, d, "state/x.json", "old")
	put(t, d, "state/h.jsonl", "{\"a\":1}\n")
	out, err := child(t, "fulldisk", d).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		t.Fatalf("it said %q", lines)
	}
	for _, line := range lines {
		if !strings.Contains(line, "free some space") {
			t.Errorf("%q names no cure", line)
		}
	}
	for rel, want := range map[string]string{"x.json": "old", "h.jsonl": "{\"a\":1}\n"} {
		if got, err := d.Read("state/" + rel); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", rel, got, err)
		}
	}
	names, err := os.ReadDir(d.Path("state"))
	if err != nil || len(names) != 2 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// lockAndWait acts as another bot: it holds the lock until its input ends.
func lockAndWait(d *Dir) error {
	unlock, err := d.Lock()
	if err != nil {
		return err
	}
	fmt.Println("locked", os.Getpid())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return unlock()
}

// countUp repeatedly increments a number in a file.
func countUp(d *Dir) error {
	for range 40 {
		err := d.WithLock("counter", func() error {
			var n int
			if _, err := d.ReadJSON("state/n.json", &n); err != nil {
				return err
			}
			return d.WriteJSON("state/n.json", n+1)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// useAll does everything many times with few open files, and without the garbage collector, which
// would close leaked ones.
func useAll(d *Dir) error {
	debug.SetGCPercent(-1)
	limit := syscall.Rlimit{Cur: 32, Max: 32}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	nothing := func() error { return nil }
	for range 40 {
		unlock, err := d.Lock()
		if err != nil {
			return err
		}
		_, lookErr := d.Look()
		f, openErr := d.Open("state/x.json")
		for n, err := range []error{
			lookErr, openErr, f.Close(), d.Write("state/x.json", nil), d.Append("state/x.jsonl", nil), second(d.Read("state/x.json")),
			second(d.Entries(StateDir)), d.Create("state/new", nil), d.Rename("state/new", "state/moved"), d.Remove("state/moved"),
			d.WithLock("x", nothing), unlock(),
		} {
			if err != nil {
				return fmt.Errorf("step %d: %w", n, err)
			}
		}
		d.Running()
		// These always fail in the same way.
		for n, err := range []error{
			second(d.Read("folder")), second(d.Open("folder")), d.Append("pipe", nil), second(d.Read("large")), d.Write("folder", nil),
			d.Create("folder/inside", nil),
		} {
			if err == nil || errors.Is(err, syscall.EMFILE) {
				return fmt.Errorf("failing step %d: %w", n, err)
			}
		}
	}
	return nil
}

func TestABotThatRunsForMonthsKeepsNoFileOpen(t *testing.T) {
	testkit.Alone(t)
	d := prepared(t)
	put(t, d, "state/x.json", "x")
	put(t, d, "folder/inside", "x")
	put(t, d, "large", strings.Repeat("x", MaxRead+1))
	testkit.Must(t, syscall.Mkfifo(d.Path("pipe"), 0o600))
	if out, err := child(t, "handles", d).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
