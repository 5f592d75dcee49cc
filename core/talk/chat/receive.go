package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/talk/transcript"
)

// maxMessage is the longest message of the user, in characters.
const maxMessage = 100_000

// Receive takes a message of the user: it is on disk and in the chat when this
// returns, and answered when its turn comes. done is closed when it has been
// answered, or never will be; nil where it needs no answer.
func (c *Conversation) Receive(ctx context.Context, in command.Receive) (done <-chan struct{}, err error) {
	if !in.More {
		defer func() { err = errors.Join(err, c.answerWaiting(ctx)) }()
	}
	if n := utf8.RuneCountInString(in.Text); n > maxMessage {
		return nil, fmt.Errorf(textLongMessage, n, maxMessage)
	}
	if in.Key != "" && !newer(in.Key, c.LastReceived(in.From)) {
		return nil, nil
	}
	if len(in.Files) == 0 && (c.o.Redirected(ctx, in.Text) || c.answersApproval(ctx, in.Text, in.At)) {
		return nil, c.noteReceived(in.From, in.Key)
	}
	w := inbound{message: c.gather(in), plain: in.Text, from: in.From, key: in.Key, quoted: in.Quoted, done: make(chan struct{})}
	if w.message.Text == "" && len(w.message.Images) == 0 && in.From == "" {
		return nil, errors.New(textEmptyMessage)
	}
	if in.ReplyTo != "" {
		return w.done, c.reply(ctx, in.ReplyTo, w)
	}
	return w.done, c.enqueue(w)
}

// answersApproval reports whether words were the answer to the tool call that has
// waited longest. Whoever types "yes" below a question means that, and not a new
// turn that takes the question back. Words that were written before it was asked,
// and come late, answer nothing.
func (c *Conversation) answersApproval(ctx context.Context, text string, at time.Time) bool {
	word := strings.ToLower(strings.Trim(text, " .!\n"))
	waiting := c.o.Guard.Approvals().Pending()
	verdict, known := spokenVerdicts[word]
	if !known || len(waiting) == 0 || !at.IsZero() && at.Before(waiting[0].Asked.Add(-clocksDiffer)) {
		return false
	}
	return c.o.Guard.Approvals().Answer(ctx, waiting[0].ID, verdict) == nil
}

// clocksDiffer is by how much another surface's clock may be behind this one.
const clocksDiffer = 5 * time.Second

// spokenVerdicts are the words that answer a tool call.
var spokenVerdicts = map[string]policy.Verdict{
	"yes": policy.Allow, "y": policy.Allow, "ok": policy.Allow, "okay": policy.Allow, "allow": policy.Allow, "allow once": policy.Allow,
	"👍": policy.Allow, "✅": policy.Allow, "always": policy.Always, "🔓": policy.Always,
	"no": policy.Deny, "n": policy.Deny, "deny": policy.Deny, "👎": policy.Deny, "❌": policy.Deny,
}

// inbound is a message of the user on its way to an answer.
type inbound struct {
	message agent.Message
	// shown is what the chat shows, where it is not the message.
	shown string
	// quoted is what the answered message said, where the bot does not know it.
	quoted    string
	from, key string
	plain     string // what the user wrote, without what was added to it
	// id is that under which it waits on disk, entry that of the chat.
	id    string
	entry post.MessageID
	// done is closed when it has been answered, or never will be; nil where nobody
	// waits for that.
	done chan struct{}
}

// finish lets go of whoever waits for the answer.
func (w inbound) finish() {
	if w.done != nil {
		close(w.done)
	}
}

// reply answers one message of the bot: in the run that sent it while that is
// remembered (seven days), else with the message quoted.
func (c *Conversation) reply(ctx context.Context, to post.MessageID, w inbound) error {
	now := c.now()
	from, standing := c.o.Runs.Lookup(now, to)
	fork := c.inFork()
	if standing == session.Live && fork == nil {
		if err := c.answerWaiting(ctx); err != nil { // what came before is answered before
			return err
		}
		if err := c.interruptFor(ctx); err != nil {
			c.o.Log.Warn("running turn was not interrupted", "error", err)
		}
		return c.resumeReply(w, resumption(from, prompt.ForkReply(w.message.Text), now), c.quoted(to, w))
	}
	switch {
	case standing == session.Expired:
		c.SystemNote(textReplyExpired)
	case standing == session.Live && fork.resumes == from.Session: // it is this run that is talked with
		return c.enqueue(w)
	case standing == session.Live:
		c.SystemNote(textReplyInFork)
	}
	return c.enqueue(c.quoted(to, w))
}

// quoted are the words with the message that they answer in front.
func (c *Conversation) quoted(to post.MessageID, w inbound) inbound {
	w.shown = shownMessage(w.message)
	answered := c.quotable(to)
	answered = cmp.Or(answered, w.quoted)
	w.message.Text = prompt.Quote(answered, w.message.Text)
	return w
}

// resumeReply goes on in the run that was replied to. Until that has begun, the
// words wait on disk as they would be said to the main session.
func (c *Conversation) resumeReply(w inbound, r forkRequest, kept inbound) error {
	id, err := c.keepWaiting(kept)
	if err != nil {
		w.finish()
		return fmt.Errorf("keep the message: %w", err)
	}
	c.showWords(w)
	r.images = w.message.Images
	err = c.later(func(ctx context.Context) error {
		defer w.finish()
		switch f := c.inFork(); { // a reply before this one may have entered a fork
		case f != nil && f.resumes == r.resume:
			return c.answer(ctx, w.message, id)
		case f != nil:
			c.SystemNote(textReplyInFork)
			return c.answer(ctx, kept.message, id)
		}
		err := c.enter(ctx, r)
		if ctx.Err() == nil {
			c.forget(id)
		}
		return err
	})
	if err != nil {
		c.forget(id)
		w.finish()
	}
	return err
}

// gather makes a message of words and the files that came with them: images,
// known by their first bytes, are shown to the model, anything else is saved
// and named.
func (c *Conversation) gather(in command.Receive) agent.Message {
	var m agent.Message
	var files, lost []string
	if in.From == "" {
		m.Images, files = c.attached.take()
	}
	for _, f := range in.Files {
		kind := imageType(f.Data)
		if kind != "" && len(f.Data) <= maxImage {
			m.Images = append(m.Images, agent.Image{MediaType: kind, Data: f.Data})
			continue
		}
		if kind != "" {
			in.Text += fmt.Sprintf(textLargeImage, clean.Cut(clean.Line(f.Name), 100), float64(len(f.Data))/(1<<20), maxImage>>20)
		}
		rel, err := c.download(f.Name, f.Data)
		if err != nil {
			c.o.Log.Error("an attachment could not be saved", "error", err)
			lost = append(lost, clean.FileName(f.Name))
			continue
		}
		files = append(files, rel)
	}
	m.Text = withFiles(in.Text, files, lost)
	return m
}

// withFiles adds to a message where its files are, and which were lost.
func withFiles(text string, files, lost []string) string {
	for _, f := range files {
		text += "\n[attached file: " + f + "]"
	}
	for _, name := range lost {
		text += "\n[attached file that could not be saved: " + name + "]"
	}
	return strings.TrimSpace(text)
}

// showWords puts the user's words into the chat. Words of the dashboard are
// told to the other surface too, so that an answer there has its question.
func (c *Conversation) showWords(w inbound) post.MessageID {
	text := w.shown
	text = cmp.Or(text, shownMessage(w.message))
	if w.from != "" {
		return c.o.Transcript.AddFrom(w.from, post.MessageID(w.key), text)
	}
	entry := c.o.Transcript.Add(transcript.User, text)
	if c.o.Remote != nil {
		c.o.Remote.Small(fmt.Sprintf(textFromDashboard, clean.Cut(clean.Line(text), 300)))
	}
	return entry
}

// shownMessage is a user's message as the chat shows it.
func shownMessage(m agent.Message) string {
	switch n := len(m.Images); n {
	case 0:
		return m.Text
	case 1:
		return strings.TrimSpace(m.Text + "\n[1 image]")
	default:
		return strings.TrimSpace(fmt.Sprintf("%s\n[%d images]", m.Text, n))
	}
}

// newer compares keys of one surface: numbers of any length, without a sign.
func newer(key, than string) bool {
	if len(key) != len(than) {
		return len(key) > len(than)
	}
	return key > than
}
