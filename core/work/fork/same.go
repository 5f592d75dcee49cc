package fork

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
)

// identify returns the identity of a message, which the run that repeats a fire gives to the
// same words again, and the ping of the earlier run that has it; a zero Ping if there is none. A
// run that has ended is not repeated, so what it sent is another message, as is what this run
// sends twice.
func (t *tools) identify(p post.Post) (id string, earlier budget.Ping) {
	for n := 0; ; n++ {
		id = identity(cmp.Or(t.job.Fire, t.status.id), p, n)
		if t.named[id] {
			continue
		}
		ping, known := t.o.Journal.Ping(id)
		switch {
		case !known:
			return id, budget.Ping{}
		case t.cutOff(ping.Run):
			return id, ping
		}
	}
}

// identity identifies the nth message of the same content for a fire. It fits into a nonce of
// Discord.
func identity(fire string, p post.Post, n int) string {
	content, err := json.Marshal(struct {
		Fire, Text string
		Embed      *post.Embed
		Files      []string
		N          int
	}{fire, p.Text, p.Embed, p.Files, n})
	if err != nil {
		panic(err) // it has only texts and numbers
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:10])
}

// cutOff reports whether the end of the program has ended a run.
func (t *tools) cutOff(run string) bool {
	v, ok, err := Find(t.o.Dir, run)
	if err != nil {
		t.o.Log.Warn("a run that may have sent a ping before could not be looked up", "run", run, "error", err)
	}
	return ok && (v.State == Interrupted || v.State == Running)
}
