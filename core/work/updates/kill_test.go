package updates

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
)

// kills is how often the child is killed.
var kills = flag.Int("kills", 100, "how often the process that delivers updates is killed")

// childDir makes the test binary a process that works on that directory until it is
// killed; childNumber distinguishes its updates from others.
const (
	childDir    = "OLLIM_TEST_UPDATES_DIR"
	childNumber = "OLLIM_TEST_UPDATES_NUMBER"
	heardFile   = "heard.txt" // the messages to the session, one line each
)

func TestMain(m *testing.M) {
	binarytest.Answer(nil)
	if root := os.Getenv(childDir); root != "" {
		if err := child(root, os.Getenv(childNumber)); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// child settles what the previous process left, and then appends and delivers
// concurrently. It reports each append before and after.
func child(root, number string) error {
	dir, err := store.At(root)
	if err != nil {
		return err
	}
	q := NewQueue(dir, pacific, nil)
	if d, _, found, err := q.Unsettled(); err != nil {
		return err
	} else if found {
		heard, err := os.ReadFile(filepath.Join(root, heardFile))
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		if err := q.Settle(d, strings.Contains(string(heard), d.Digest)); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	failed := make(chan error, 2)
	go func() {
		for i := 0; ; i++ {
			name := fmt.Sprintf("u%s.%d;", number, i)
			fmt.Println("append", name)
			if err := q.Append(time.Now(), name); err != nil {
				failed <- err
			}
			fmt.Println("appended", name)
		}
	}()
	go func() {
		for {
			if err := deliverAll(q, root); err != nil {
				failed <- err
			}
		}
	}()
	return <-failed
}

// deliverAll is a main turn: it claims, speaks to the session, and settles.
func deliverAll(q *Queue, root string) error {
	text := ""
	d, err := q.Claim(func(list []Update) Delivery {
		text = strings.Join(messages(list), " ")
		return NewDelivery("session", text, nil)
	})
	if err != nil || d.empty() {
		return err
	}
	f, err := os.OpenFile(filepath.Join(root, heardFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(f, d.Digest, text); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return q.Settle(d, true)
}

// TestNothingIsLostOrDeliveredTwiceOverKills kills a process that appends and delivers
// concurrently, while this process appends too. In the end every appended update was
// delivered exactly once, is pending, or is counted by a sentinel.
func TestNothingIsLostOrDeliveredTwiceOverKills(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	p := newPlace(t, "")
	begun, appended := map[string]bool{}, map[string]bool{}
	dice := testkit.Rand(t)
	for round := range *kills {
		victim(t, p, round, dice.IntN(30), begun, appended)
		name := fmt.Sprintf("beside%d;", round)
		testkit.Must(t, p.queue.Append(time.Now(), name))
		begun[name], appended[name] = true, true
	}
	p.queue = NewQueue(p.dir, pacific, nil)
	data, err := os.ReadFile(filepath.Join(p.dir.Root(), heardFile))
	testkit.Must(t, err)
	if d, _, found, err := p.queue.Unsettled(); err != nil || found {
		testkit.Must(t, err)
		testkit.Must(t, p.queue.Settle(d, strings.Contains(string(data), d.Digest)))
	}
	heard := string(data) + strings.Join(messages(p.queue.Peek()), "\n")
	counted, delivered := 0, 0
	for _, m := range regexp.MustCompile(`\((\d+) earlier update`).FindAllStringSubmatch(heard, -1) {
		n, err := strconv.Atoi(m[1])
		testkit.Must(t, err)
		counted += n
	}
	missing, unsure := 0, 0
	for name := range begun {
		switch n := strings.Count(heard, name); {
		case n > 1:
			t.Errorf("%s was delivered %d times", name, n)
		case n == 1:
			delivered++
		case appended[name]:
			missing++
		default: // killed before or after the write
			unsure++
		}
	}
	if counted < missing || counted > missing+unsure {
		t.Errorf("%d updates are missing, of %d more it is not known, and sentinels count %d", missing, unsure, counted)
	}
	if delivered < *kills {
		t.Errorf("only %d updates were delivered: the test looks at nothing", delivered)
	}
	t.Logf("%d kills: %d updates begun, %d appended, %d delivered or pending, %d dropped for the cap", *kills, len(begun), len(appended), delivered, missing)
}

// victim starts a child and kills it, wherever it is by then, when it has appended that many updates.
func victim(t *testing.T, p *place, number, life int, begun, appended map[string]bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binarytest.Path())
	cmd.Env = append(os.Environ(), childDir+"="+p.dir.Root(), fmt.Sprintf("%s=%d", childNumber, number))
	out, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		word, name, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "append":
			begun[name] = true
		case "appended":
			appended[name] = true
		case "error":
			t.Error(name)
		}
		if word != "append" { // it is ready, or has appended one more
			if life--; life < 0 {
				_ = cmd.Process.Kill()
			}
		}
	}
	_ = cmd.Wait() // it was killed
}
