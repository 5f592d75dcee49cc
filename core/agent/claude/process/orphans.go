package process

import (
	"crypto/rand"
	"strings"
	"sync"

	"ollimbot/core/storage/config"
)

// MarkName is the variable that every process started here carries, and that
// its children inherit. Its value is the mark that was asked for with Env.Mark,
// a slash, and a word that belongs to one process alone.
const MarkName = "OLLIM_CLAUDE_PROCESS"

// ownMark makes the mark of one process from that of its environment. With a
// mark of its own, the end of one process never touches the children of
// another.
func ownMark(env []string) string {
	return strings.ReplaceAll(config.Lookup(env, MarkName), "\x00", "") + "/" + rand.Text()
}

// living are the marks of the commands that have not ended. A program has one set
// of children, whichever part of it has started them.
var living sync.Map

// CollectOrphans ends the processes that carry a mark and whose command is gone:
// SIGTERM, a moment, SIGKILL. The mark is what Env.Mark was in an earlier run of
// the program, which may have been killed without a chance to collect; the empty
// one is nobody's. The processes of commands that still run are left alone. n is
// how many were ended. An error is one line that names what does not end.
//
// It blocks for 3 s at most and only for as long as there is something to wait
// for. Where the system cannot tell (not Linux) it does nothing.
func CollectOrphans(mark string) (n int, err error) {
	if mark == "" {
		return 0, nil
	}
	return collect(0, func(own string) bool {
		at := strings.LastIndexByte(own, '/')
		_, lives := living.Load(own)
		return at >= 0 && own[:at] == mark && !lives
	})
}
