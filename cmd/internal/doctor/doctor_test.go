package doctor

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
)

// ofThisMachine are the lines that differ between machines: its disk, its sandbox, its git and its time zones.
var ofThisMachine = regexp.MustCompile(`(?m)^(  (PASS|WARN)  (space|commands|limits|zone data|git): .*\n|SANDBOX\n)|\d+ passed, \d+ warnings?, `)

// The stories have lines of these kinds, in a directory of the user's; the others are what is printed.
//
//	# a comment
//	> file PATH TEXT…   with \n; > gone PATH removes one, > open PATH shows it to others
//	> files PATH…        each with {}
//	> env NAME=VALUE
//	> program claude TEXT…   a script in place of claude
//	$ doctor             what it says in an empty directory is left out, unless it is asked for the whole: $ doctor whole
//	$ check [FILE…]
func TestTheDoctorAndCheckSayWhatTheirStoriesShow(t *testing.T) {
	testkit.Alone(t)
	goldentest.Stories(t, "doctor.txt", func(t *testing.T, story string) (got string) {
		root := filepath.Join(t.TempDir(), "data")
		testkit.Must(t, os.Mkdir(root, 0o700))
		env := []string{"OLLIM_DATA_DIR=" + root, "OLLIM_TIMEZONE=Europe/Berlin", "HOME=" + filepath.Dir(root), "PATH=/nowhere"}
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(time.Date(2026, 11, 23, 8, 25, 0, 0, time.UTC)))
			said, err := asked(env, "doctor", nil)
			testkit.Must(t, err)
			usual := slices.Collect(strings.Lines(said))
			var out bytes.Buffer
			for line := range strings.Lines(story) {
				words := append(strings.SplitN(strings.TrimSpace(line), " ", 4), "", "")
				if !slices.Contains([]string{"#", ">", "$"}, words[0]) {
					continue // what was printed
				}
				_, _ = out.WriteString(strings.TrimSpace(line) + "\n")
				switch words[0] {
				case ">":
					path, rest := filepath.Join(root, words[2]), words[3]
					switch words[1] {
					case "file":
						testkit.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(strings.ReplaceAll(rest, `\n`, "\n")), 0o600)))
					case "files":
						for _, name := range strings.Fields(words[2] + " " + rest) {
							path := filepath.Join(root, name)
							testkit.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{}"), 0o600)))
						}
					case "gone":
						testkit.Must(t, os.RemoveAll(path))
					case "open":
						testkit.Must(t, os.Chmod(path, 0o755))
					case "program":
						testkit.Program(t, path, "#!/bin/sh\n"+strings.ReplaceAll(rest, "NEWEST", process.Newest()))
						env = append(env, "OLLIM_CLAUDE="+path)
					case "env":
						env = append(env, words[2])
					}
				case "$":
					said, err := asked(env, words[1], strings.Fields(words[2]+" "+words[3]))
					for line := range strings.Lines(said) {
						if words[1] == "check" || words[2] == "whole" || !slices.Contains(usual, line) {
							_, _ = out.WriteString(line)
						}
					}
					if err != nil {
						_, _ = out.WriteString("(it fails)\n")
					}
				}
			}
			got = strings.ReplaceAll(out.String(), filepath.Dir(root), "")
		})
		return got
	})
}

// asked carries out a command with an environment.
func asked(env []string, what string, args []string) (string, error) {
	var out bytes.Buffer
	p := &console.Process{
		Out: &out, Err: &out, Now: time.Now, Mends: true, Environ: func() []string { return env },
		Getenv: func(name string) (value string) {
			for _, v := range env {
				if text, ok := strings.CutPrefix(v, name+"="); ok {
					value = text
				}
			}
			return value
		},
	}
	at, err := p.Open()
	switch {
	case err != nil:
	case what == "doctor":
		err = (&Cmd{}).Run(p, at)
	default:
		err = (&CheckCmd{Files: args}).Run(p, at)
	}
	said := strings.NewReplacer(process.Newest(), "NEWEST", process.Oldest(), "OLDEST").Replace(out.String())
	return strings.ReplaceAll(ofThisMachine.ReplaceAllString(said, ""), "\n\n", "\n"), err
}
