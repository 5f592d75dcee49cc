package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/policy"
	"ollimbot/core/post"
	"ollimbot/core/transcript"
)

// say takes a line of the dashboard: a command, or words for the conversation
// with whatever was attached.
func (b *Bot) say(ctx context.Context, c command.Say) (command.Outcome, error) {
	text := strings.TrimSpace(c.Text)
	if strings.HasPrefix(text, "/") {
		reply, err := b.slash(ctx, text)
		if err == nil && reply != "" {
			b.book.Add(transcript.Notice, reply)
		}
		return command.Outcome{Message: reply}, err
	}
	if err := checkLength(text); err != nil || b.answered(text, time.Time{}) {
		return command.Outcome{}, err
	}
	images, files := b.attached.take()
	m := agent.Message{Text: withFiles(text, files, nil), Images: images}
	if m.Text == "" && len(m.Images) == 0 {
		return command.Outcome{}, errors.New(textEmptyMessage)
	}
	out, err := b.take(ctx, said{message: m}, c.ReplyTo)
	return out, errors.Join(err, b.main.answerWords(ctx))
}

// hear takes words that came over another surface, once.
func (b *Bot) hear(ctx context.Context, c command.Receive) (out command.Outcome, err error) {
	if !c.More {
		defer func() { err = errors.Join(err, b.main.answerWords(ctx)) }()
	}
	if err := checkLength(c.Text); err != nil {
		return command.Outcome{}, err
	}
	if c.Key != "" && !later(c.Key, b.LastHeard(c.From)) {
		return command.Outcome{}, nil
	}
	if len(c.Files) == 0 && b.answered(c.Text, c.At) {
		return command.Outcome{}, b.changeWaiting(func(room *waitingRoom) { room.hear(c.From, c.Key) })
	}
	w := said{message: b.gather(c), plain: c.Text, from: c.From, key: c.Key, quoted: c.Quoted}
	return b.take(ctx, w, c.ReplyTo)
}

// answered reports whether words were the answer to the tool call that has waited
// longest. Whoever types "yes" below a question means that, and not a new turn
// that takes the question back. Words that were written before it was asked, and
// come late, answer nothing.
func (b *Bot) answered(text string, at time.Time) bool {
	word := strings.ToLower(strings.Trim(text, " .!\n"))
	waiting := b.desk.Pending()
	verdict, known := spokenVerdicts[word]
	if !known || len(waiting) == 0 || !at.IsZero() && at.Before(waiting[0].Asked.Add(-clocksDiffer)) {
		return false
	}
	return b.desk.Answer(waiting[0].ID, verdict) == nil
}

// clocksDiffer is by how much another surface's clock may be behind this one.
const clocksDiffer = 5 * time.Second

// spokenVerdicts are the words that answer a tool call.
var spokenVerdicts = map[string]policy.Verdict{
	"yes": policy.Allow, "y": policy.Allow, "ok": policy.Allow, "okay": policy.Allow, "allow": policy.Allow, "allow once": policy.Allow,
	"👍": policy.Allow, "✅": policy.Allow, "always": policy.Always, "🔓": policy.Always,
	"no": policy.Deny, "n": policy.Deny, "deny": policy.Deny, "👎": policy.Deny, "❌": policy.Deny,
}

func checkLength(text string) error {
	if n := utf8.RuneCountInString(text); n > maxMessage {
		return fmt.Errorf(textLongMessage, n, maxMessage)
	}
	return nil
}

// take lets the conversation have the words.
func (b *Bot) take(ctx context.Context, w said, replyTo post.MessageID) (command.Outcome, error) {
	w.done = make(chan struct{})
	out := command.Outcome{Done: w.done}
	if replyTo != "" {
		return out, b.reply(ctx, replyTo, w)
	}
	return out, b.main.say(ctx, w)
}

// said are words of the user on their way to an answer.
type said struct {
	message agent.Message
	// shown is what the chat shows, where it is not the message.
	shown string
	// quoted is what the answered message said, where the bot does not know it.
	quoted    string
	from, key string
	plain     string // what the user wrote, without what was added to it
	// id is that under which they wait on disk, entry that of the chat.
	id    string
	entry post.MessageID
	// done is closed when they have been answered, or never will be.
	done chan struct{}
}

// finish lets go of whoever waits for the answer.
func (w said) finish() {
	if w.done != nil {
		close(w.done)
	}
}

// gather makes a message of words and the files that came with them: images,
// known by their first bytes, are shown to the model, anything else is saved
// and named.
func (b *Bot) gather(c command.Receive) agent.Message {
	var m agent.Message
	var files, lost []string
	for _, f := range c.Files {
		kind := imageType(f.Data)
		if kind != "" && len(f.Data) <= maxImage {
			m.Images = append(m.Images, agent.Image{MediaType: kind, Data: f.Data})
			continue
		}
		if kind != "" {
			c.Text += fmt.Sprintf(textLargeImage, clean.Cut(clean.Line(f.Name), 100), float64(len(f.Data))/(1<<20), maxImage>>20)
		}
		rel, err := b.download(f.Name, f.Data)
		if err != nil {
			b.log.Error("an attachment could not be saved", "error", err)
			lost = append(lost, clean.FileName(f.Name))
			continue
		}
		files = append(files, rel)
	}
	m.Text = withFiles(c.Text, files, lost)
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
func (b *Bot) showWords(w said) post.MessageID {
	text := w.shown
	if text == "" {
		text = shownMessage(w.message)
	}
	if w.from != "" {
		return b.book.AddFrom(w.from, post.MessageID(w.key), text)
	}
	entry := b.book.Add(transcript.User, text)
	if b.o.Remote != nil {
		b.o.Remote.Small(fmt.Sprintf(textFromDashboard, clean.Cut(clean.Line(text), 300)))
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

// later compares keys of one surface: numbers of any length, without a sign.
func later(key, than string) bool {
	if len(key) != len(than) {
		return len(key) > len(than)
	}
	return key > than
}
