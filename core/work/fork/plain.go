package fork

import (
	"cmp"
	"context"
	"fmt"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/tail"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/talk/post"
)

// plain sends the text of the task's file, which needs no model.
func (t *tools) plain(ctx context.Context, why string) {
	words := cmp.Or(t.job.Task.Description, t.title)
	m := outgoing{
		kind: kindPing, own: true, shown: words, done: toolset.TextSent,
		post: post.Post{Text: fmt.Sprintf(textPlain, words, clean.Cut(clean.Line(why), 200))},
	}
	t.status.line(tail.Note, fmt.Sprintf(textSendsPlain, clean.Line(why)))
	if a := t.send(ctx, m); a.IsError {
		t.o.Log.Error("an essential reminder was not sent", "run", t.status.id, "error", a.Text)
		t.o.warn(fmt.Sprintf(tellNotSent, t.title, words))
	}
}

// lastRefusal returns why the last ping of the run was refused, or "".
func (t *tools) lastRefusal() string {
	t.gate <- struct{}{}
	defer func() { <-t.gate }()
	if t.refused == "" {
		return ""
	}
	return fmt.Sprintf(textWasRefused, t.refused)
}
