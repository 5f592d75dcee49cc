// Package powertest records a program's changes of a directory, system call by system call, and
// replays the possible states of the directory after a power cut. It knows file systems and strace,
// and nothing of the bot.
package powertest

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Calls are the system calls that change files or make changes durable, for strace's trace option.
const Calls = "open,openat,openat2,creat,write,pwrite64,writev,pwritev,pwritev2,copy_file_range,sendfile,splice," +
	"rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat," +
	"ftruncate,truncate,fallocate,fsync,fdatasync,lseek,close"

// Strace returns the arguments with which strace records a program to that file.
func Strace(file string) []string {
	return []string{"-f", "-y", "-xx", "-s", "67108864", "--seccomp-bpf", "-e", "trace=" + Calls, "-e", "signal=none", "-o", file}
}

// call is one system call that succeeded.
type call struct {
	name   string
	args   []string // in strace's form
	ret    string
	begins int // the number of calls that had ended when this one began
}

// calls reads a recording in the order in which the calls ended.
func calls(r io.Reader) ([]call, error) {
	type open struct {
		text   string
		begins int
	}
	unfinished := map[string]open{} // by thread
	var list []call
	lines := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		thread, text, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		text = strings.TrimLeft(text, " ")
		begins := len(list)
		switch {
		case strings.HasPrefix(text, "+++"), strings.HasPrefix(text, "---"):
			continue
		case strings.HasSuffix(text, "<unfinished ...>"):
			unfinished[thread] = open{strings.TrimSuffix(text, "<unfinished ...>"), begins}
			continue
		case strings.HasPrefix(text, "<... "):
			_, rest, _ := strings.Cut(text, "resumed>")
			text, begins = unfinished[thread].text+rest, unfinished[thread].begins
			delete(unfinished, thread)
		}
		c, ok, err := parse(text)
		if err != nil {
			return nil, err
		}
		if ok {
			c.begins = begins
			list = append(list, c)
		}
	}
}

// result separates the arguments from the result of a call. Strings contain no such text, because
// they are written in hexadecimal.
var result = regexp.MustCompile(`\)\s+= `)

// parse parses one line. ok is false for a call that failed or did not end.
func parse(text string) (call, bool, error) {
	name, rest, ok := strings.Cut(text, "(")
	end := result.FindStringIndex(rest)
	if !ok || end == nil {
		if strings.HasSuffix(text, "= ?") || strings.Contains(text, "<unfinished") {
			return call{}, false, nil
		}
		return call{}, false, fmt.Errorf("powertest: this line is no system call: %.200s", text)
	}
	ret, _, _ := strings.Cut(rest[end[1]:], " ")
	if strings.HasPrefix(ret, "-") || ret == "?" {
		return call{}, false, nil
	}
	return call{name: name, args: split(rest[:end[0]]), ret: ret}, true, nil
}

// split cuts arguments at the commas outside of quotes and brackets.
func split(text string) (args []string) {
	depth, quoted, from := 0, false, 0
	for i, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.ContainsRune("[{(", c):
			depth++
		case strings.ContainsRune("]})", c):
			depth--
		case c == ',' && depth == 0:
			args, from = append(args, strings.TrimSpace(text[from:i])), i+1
		}
	}
	return append(args, strings.TrimSpace(text[from:]))
}

// unquote reads a string as -xx writes it.
func unquote(arg string) ([]byte, error) {
	inner, ok := strings.CutPrefix(arg, `"`)
	inner, ok2 := strings.CutSuffix(inner, `"`)
	if !ok || !ok2 { // it is cut off with … at the end, or not a string
		return nil, fmt.Errorf("powertest: no whole string: %.100s", arg)
	}
	return hex.DecodeString(strings.ReplaceAll(inner, `\x`, ""))
}

var descriptor = regexp.MustCompile(`^(\d+|AT_FDCWD)<((?:\\x[0-9a-f]{2})*)>(\(deleted\))?`)

// file returns the path of a descriptor, or "" if it has none.
func file(arg string) (number, at string) {
	m := descriptor.FindStringSubmatch(arg)
	if m == nil {
		return arg, ""
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(m[2], `\x`, ""))
	if err != nil || m[3] != "" {
		return m[1], ""
	}
	return m[1], string(raw)
}

// place returns the path for a folder's descriptor and a name.
func place(folder, name string) (string, error) {
	raw, err := unquote(name)
	if err != nil {
		return "", err
	}
	if path.IsAbs(string(raw)) {
		return path.Clean(string(raw)), nil
	}
	_, at := file(folder)
	return path.Join(at, string(raw)), nil
}

func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("powertest: no number: %.100s", text)
	}
	return n, nil
}
