package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

// longRuns writes n reminders of the next seconds, each a run that says a
// number of lines of 90 characters.
func longRuns(b *testing.B, root string, n, lines int) {
	b.Helper()
	testkit.Must(b, os.MkdirAll(filepath.Join(root, "reminders"), 0o700))
	at := time.Now().Add(3 * time.Second).UTC().Format(time.RFC3339)
	for i := range n {
		text := fmt.Sprintf("---\nid: \"%08x\"\nrun-at: %q\ndescription: \"Long run %d\"\nbackground: true\nupdate-main-session: \"freely\"\n---\n"+
			"```script\nrepeat %d\nsay %%d: the landlord asks about Thursday, Dana waits for the numbers, the rest can wait.\nend\n```\n",
			0xb0000000+i, at, i, lines)
		testkit.Must(b, os.WriteFile(filepath.Join(root, "reminders", fmt.Sprintf("long%02d.md", i)), []byte(text), 0o600))
	}
}

// BenchmarkTenLongTails is what the program keeps after ten runs of 10,000
// lines each, all of them still to be read.
func BenchmarkTenLongTails(b *testing.B) {
	const runs, lines = 10, 10_000
	exe := binary(b)
	for b.Loop() {
		root := household(b, 100)
		longRuns(b, root, runs, lines)
		cmd, f := onTerminal(b, exe, "run", "--engine", "script", "--pace", "0", "--data-dir", root)
		drained := make(chan struct{})
		go func() { defer close(drained); _, _ = io.Copy(io.Discard, f) }()
		settle(b, 3*time.Second)
		ledger := filepath.Join(root, "state", "fork_runs.jsonl")
		for ended := 0; ended < runs; {
			settle(b, 200*time.Millisecond)
			data, _ := os.ReadFile(ledger) // not there before the first run
			ended = bytes.Count(data, []byte(`"ended"`))
		}
		b.ReportMetric(resident(b, cmd.Process.Pid), "MB-at-their-end")
		settle(b, 20*time.Second)
		b.ReportMetric(resident(b, cmd.Process.Pid), "MB-resident")
		b.ReportMetric(peak(b, cmd.Process.Pid), "MB-peak")
		b.ReportMetric(cpu(b, cmd.Process.Pid).Seconds(), "s-processor")
		end(b, cmd, f)
		<-drained
	}
}
