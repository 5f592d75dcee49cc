package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/proposals"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/when"
)

// KindPromise is the kind of proposal that quotes a promise by the user.
const KindPromise = "promise"

const (
	// promisesPerDay is the maximum number of proposals per day.
	promisesPerDay = 3
	// promiseAge is the maximum age of the user's message.
	promiseAge = 24 * time.Hour
	// promiseAhead is how far ahead a reminder of a promise may be.
	promiseAhead = 366 * 24 * time.Hour
	// longestPromise is the maximum length of a sentence that is quoted, in characters.
	longestPromise = 300
	// leastPromise is the minimum number of words in a promise.
	leastPromise = 2
)

// kept records that the user did what a task reminded them of or, with the zero time,
// that they did not.
func kept(b *Bot, at time.Time, task string) {
	if err := b.offers.Keep(at, task); err != nil {
		b.log.Warn("that a promise was kept is not recorded", "task", task, "error", err)
	}
}

// newChatHost returns the program as seen by the conversation.
func newChatHost(b *Bot) chatHost {
	return chatHost{host: b.host, book: b.o.Book, changed: b.viewers.notify, propose: func(p toolset.Promise) agent.ToolResult {
		if !b.settings.Load().Promises {
			return toolset.Refusal(toolset.TextProposeOff)
		}
		sentence, ok := said(b.book.Entries(), p.Words, b.now())
		if !ok {
			return toolset.Refusal(fmt.Sprintf(toolset.TextProposeNotSaid, p.Words))
		}
		at, problem := p.Due(b.times())
		if problem != "" {
			return toolset.Refusal(problem)
		}
		return proposed(b.asks.Propose(promise(sentence, at, b.now())))
	}}
}

// proposed returns the tool result for a proposal.
func proposed(_ proposals.Proposal, err error) agent.ToolResult {
	if err == nil {
		return toolset.Said(toolset.TextProposed)
	}
	for why, text := range map[error]string{
		proposals.ErrRefused: toolset.TextProposeRefused, proposals.ErrOpen: toolset.TextProposeOpen,
		proposals.ErrTaken: toolset.TextProposeTaken, proposals.ErrEnough: toolset.TextProposeEnough,
	} {
		if errors.Is(err, why) {
			return toolset.Refusal(text)
		}
	}
	return toolset.Refusal(fmt.Sprintf(toolset.TextProposeFailed, err))
}

// The buttons of a promise.
const (
	promiseYes   = "yes"
	promiseOther = "when"
	promiseNo    = "no"
)

// promisedAt is the stored change of a promise.
type promisedAt struct {
	At time.Time `json:"at,omitzero"`
}

// promise returns the question about a promise, with the time it mentions, if any.
func promise(words string, at, now time.Time) proposals.Proposal {
	p := proposals.Proposal{Kind: KindPromise, Words: words, Title: textPromiseTitle, Text: fmt.Sprintf(textPromise, words)}
	if !at.IsZero() {
		p.Text = fmt.Sprintf(textPromiseAt, words, cron.DayClock(at, now))
		p.Change, _ = json.Marshal(promisedAt{at}) // a time can always be encoded
		p.Buttons = append(p.Buttons, proposals.Button{ID: promiseYes, Label: textPromiseYes, Style: "success"})
	}
	p.Buttons = append(
		p.Buttons,
		proposals.Button{ID: promiseOther, Label: textPromiseOther, Style: "secondary", Asks: true},
		proposals.Button{ID: promiseNo, Label: textNotPromised, Style: "secondary", Never: true},
	)
	return p
}

// promiseKeeper carries out the answers.
type promiseKeeper struct{ writes toolset.ReminderBook }

// do creates the reminder, once: its ID is that of the proposal.
func (k promiseKeeper) do(ctx context.Context, p proposals.Proposal, b proposals.Button, typed string) (proposals.Done, error) {
	if b.Never {
		return proposals.Done{Message: textPromiseNo}, nil
	}
	read := k.writes.Times()
	now := read.Now
	at, err := due(p, b, typed, read)
	if err != nil {
		return proposals.Done{}, err
	}
	have := k.writes.List()
	if i := slices.IndexFunc(have, func(r routines.Reminder) bool { return r.ID == p.ID }); i >= 0 {
		at = have[i].RunAt.In(now.Location())
	} else if _, err = k.writes.Add(ctx, routines.Reminder{RunAt: at.Truncate(time.Second), Task: routines.Task{
		ID: p.ID, Description: `"` + clean.Cut(clean.Line(p.Words), 100) + `"`, Body: fmt.Sprintf(command.TextRemindOf, p.Words),
		Background: true, Thinking: true, Mode: routines.OnPing, AllowPing: true,
	}}); err != nil {
		return proposals.Done{}, err
	}
	return proposals.Done{Message: fmt.Sprintf(textReminds, cron.DayClock(at, now)), Result: p.ID}, nil
}

// due returns the time in an answer.
func due(p proposals.Proposal, b proposals.Button, typed string, read when.Reader) (at time.Time, err error) {
	now := read.Now
	if b.Asks {
		if at, err = read.Moment(typed); err != nil {
			return at, err
		}
	} else {
		change, err := proposals.ChangeOf[promisedAt](p)
		if err != nil {
			return at, err
		}
		at = change.At.In(now.Location())
	}
	switch {
	case !at.After(now):
		return at, fmt.Errorf(textPromiseLate, cron.DayClock(at, now))
	case at.After(now.Add(promiseAhead)):
		return at, fmt.Errorf(textPromiseFar, cron.DayClock(at, now))
	}
	return at, nil
}

// undo removes the reminder.
func (k promiseKeeper) undo(_ context.Context, p proposals.Proposal) error {
	found, err := k.writes.Cancel(p.Result)
	if err == nil && !found {
		return errors.New(textPromiseRan)
	}
	return err
}

// said returns the sentence in which the user wrote these words within the last day, as their own: forwarded text, quotes
// and code blocks are somebody else's. It ignores case and white space. A part of a sentence may mean
// something else ("I will never pay"), so all of it is quoted.
func said(entries []transcript.Entry, words string, now time.Time) (sentence string, ok bool) {
	words = folded(words)
	if len(strings.Fields(words)) < leastPromise {
		return "", false
	}
	for _, e := range entries {
		if e.Role != transcript.User || e.Label != "" || now.Sub(e.At) >= promiseAge {
			continue
		}
		own := strings.Join(strings.Fields(ownWords(e.Text)), " ")
		if !within(folded(own), words) {
			continue
		}
		whole := own // of several sentences, if the words are in more than one
		for _, sentence := range sentencesOf(own) {
			if within(folded(sentence), words) {
				whole = strings.TrimRight(sentence, ".!? ")
				break
			}
		}
		if utf8.RuneCountInString(whole) <= longestPromise {
			return whole, true
		}
	}
	return "", false
}

// sentencesOf splits a text of one line after a full stop, an exclamation mark or a question mark that ends a word.
func sentencesOf(text string) (list []string) {
	for rest := text; rest != ""; {
		end := len(rest)
		for i := range len(rest) - 1 {
			if strings.IndexByte(".!?", rest[i]) >= 0 && rest[i+1] == ' ' {
				end = i + 1
				break
			}
		}
		list = append(list, strings.TrimSpace(rest[:end]))
		rest = strings.TrimSpace(rest[end:])
	}
	return list
}

// folded returns a text in lower case, with single spaces between words and plain
// apostrophes.
func folded(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(text, "’", "'"))), " ")
}

// ownWords returns a message without its quotes and code blocks.
func ownWords(text string) string {
	var own []string
	code := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
			own = append(own, ".") // so that words on both sides of a block do not join
		case code, strings.HasPrefix(line, ">"):
			own = append(own, ".")
		default:
			own = append(own, line)
		}
	}
	return strings.Join(own, "\n")
}

// within reports whether a text contains the words as whole words.
func within(text, words string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], words)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, size := utf8.DecodeRuneInString(text[i+len(words):])
		if !wordRune(before) && (size == 0 || !wordRune(after)) {
			return true
		}
		_, first := utf8.DecodeRuneInString(text[i:])
		from = i + first
	}
}

// wordRune reports whether a character belongs to a word.
func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
