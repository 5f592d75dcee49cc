package core

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/google"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/when"
)

// pocket handles the controls of cards, pings and messages.
type pocket struct {
	now      func() time.Time
	snapshot func() Snapshot
	do       func(context.Context, command.Value) (command.Outcome, error)
	journal  *budget.Journal
	book     *transcript.Chat
	// writes returns a reminder book for the author of labelled text.
	writes func(policy.Writer) toolset.ReminderBook
	google *google.Account
	// making serialises looking for a reminder and creating it: two presses may arrive at
	// once.
	making *sync.Mutex
	config func() *config.Runtime
	model  func() *post.Embed // returns the card of the current model
	models func(ctx context.Context) []command.ModelChoice
	why    func(id string) (string, error) // the newest error of a task
	kept   func(at time.Time, task string) // records that the user did what a task reminded them of
	setup  *setup
}

// press handles a control, unless its effect is already in place. ok is false if the
// control is not one of these.
func (p pocket) press(ctx context.Context, c command.Click) (out command.Outcome, ok bool, err error) {
	action, data, _ := post.ParseCustomID(c.ID)
	switch action {
	case post.CardMute, post.CardCapacity, post.CardRun:
		out, err = p.card(ctx, action, data, c.Value)
	case post.CardPicture:
		out, err = p.picture(data)
	case post.FailRetry, post.FailPause, post.FailWhy:
		out, err = p.failed(ctx, action, data)
	case post.PingDone:
		out.Message = textNoted
		if ping, ok := p.journal.Ping(data); ok {
			p.kept(p.now(), ping.Task)
		}
	case post.PingUseless:
		out, err = p.useless(data)
	case post.PingLater:
		out, err = p.later(ctx, data, c)
	case post.RemindAbout:
		out, err = p.about(ctx, data, c)
	case post.ConfigAll, post.ConfigGroup, post.ConfigKey, post.ConfigTo, post.ConfigSure:
		out, err = p.setting(ctx, action, data, c.Value)
	case post.RemindNew:
		out, err = p.remind(ctx, reminder{key: data, when: c.Value, title: c.Words, words: c.Words})
	case post.BudgetTo:
		out, err = p.budget(ctx, c.Fields)
	case post.SetupTo:
		out.Message, err = p.setup.begin(ctx, data, c)
	case post.ModelTo:
		if out, err = p.do(ctx, command.Slash{Line: "/model " + c.Value}); err == nil {
			out.Card = p.model()
		}
	case post.LogIn:
		if out, err = p.do(ctx, command.Login{}); err == nil {
			out.Message = fmt.Sprintf(textLogInHere, out.Body)
		}
	case post.TaskAbout:
		out.Message, err = p.google.AddTask(ctx, clean.Text(c.Words), foreign(data))
	default:
		return out, false, nil
	}
	return out, true, err
}

// picture answers a button that requests a picture.
func (p pocket) picture(name string) (command.Outcome, error) {
	if name != post.PictureDay {
		return command.Outcome{}, errors.New(textUnknownCard)
	}
	s := p.snapshot()
	return command.Outcome{Message: s.Headline().Text(), Picture: name}, nil
}

// card handles a control of the card of /status and returns the updated card.
func (p pocket) card(ctx context.Context, action, data, value string) (out command.Outcome, err error) {
	s := p.snapshot()
	switch action {
	case post.CardMute:
		out, err = p.mute(ctx, &s, data)
	case post.CardCapacity:
		out, err = p.capacity(ctx, &s, data)
	default:
		out, err = p.run(ctx, &s, value)
	}
	if err != nil {
		return out, err
	}
	s = p.snapshot()
	out.Card = s.Card()
	return out, nil
}

// run starts a task, unless a run of it is queued or in progress.
func (p pocket) run(ctx context.Context, s *Snapshot, id string) (command.Outcome, error) {
	for _, v := range s.Forks {
		if v.TaskID == id && v.Live() {
			return command.Outcome{Message: fmt.Sprintf(textRunsAlready, clean.Cut(clean.Line(v.Title), 60))}, nil
		}
	}
	return p.do(ctx, command.FireNow{ID: clean.Cut(clean.Line(id), 60), Stays: true})
}

func (p pocket) mute(ctx context.Context, s *Snapshot, data string) (command.Outcome, error) {
	switch {
	case data == post.MuteOff:
		return p.do(ctx, command.MuteUntil{})
	case data != post.MuteHour:
		return command.Outcome{}, errors.New(textUnknownCard)
	case !s.Budget.Muted.IsZero():
		return command.Outcome{Message: s.MutedText()}, nil
	}
	return p.do(ctx, command.MuteUntil{Until: s.At.Add(muteFor)})
}

func (p pocket) capacity(ctx context.Context, s *Snapshot, data string) (command.Outcome, error) {
	want, err := strconv.Atoi(data)
	have := s.Budget.State.Capacity
	switch {
	case err != nil:
		return command.Outcome{}, errors.New(textUnknownCard)
	case want == have:
		return command.Outcome{Message: fmt.Sprintf(textCapacityThere, have)}, nil
	case want != have+1:
		return command.Outcome{}, fmt.Errorf(textCapacityMoved, have)
	}
	return p.do(ctx, command.SetBudget{Capacity: &want})
}

// budget sets the ping budget as a form says.
func (p pocket) budget(ctx context.Context, in command.Fields) (out command.Outcome, err error) {
	var set command.SetBudget
	for _, n := range []struct {
		typed, name string
		to          **int
	}{{in.Capacity, textPings, &set.Capacity}, {in.Refill, textMinutes, &set.RefillMinutes}} {
		value, err := strconv.Atoi(n.typed)
		if err != nil {
			return out, fmt.Errorf(textNoNumber, n.name, clean.Cut(clean.Line(n.typed), 40))
		}
		*n.to = &value
	}
	if out, err = p.do(ctx, set); err == nil {
		s := p.snapshot()
		out.Card = s.Card()
	}
	return out, err
}

// setting handles a control of the cards of /config and returns the updated card.
func (p pocket) setting(ctx context.Context, action, data, value string) (out command.Outcome, err error) {
	switch action {
	case post.ConfigAll:
		out.Card = command.SettingsCard(*p.config())
	case post.ConfigGroup:
		out.Card = command.GroupCard(*p.config(), value)
	case post.ConfigKey:
		out.Card = p.settingCard(ctx, value)
	default:
		set := command.SetConfig{Key: data, Value: value}
		if action == post.ConfigSure {
			set.Key, set.Value, _ = strings.Cut(data, " ")
			set.Sure = true
		}
		if out, err = p.do(ctx, set); err != nil {
			return out, err
		}
		if out.Card = p.settingCard(ctx, set.Key); out.Follows != "" {
			out.Card = command.SureCard(set, out.Follows)
		}
	}
	if out.Card == nil {
		return out, errors.New(textUnknownCard)
	}
	return out, nil
}

// settingCard shows a setting with its choices.
func (p pocket) settingCard(ctx context.Context, key string) *post.Embed {
	var models []command.ModelChoice
	if config.TakesModel(key) {
		models = p.models(ctx)
	}
	return command.SettingCard(*p.config(), key, models)
}

// useless records that a ping was not worth it. The agent sees the count.
func (p pocket) useless(id string) (command.Outcome, error) {
	_, ok, err := p.journal.Useless(id, p.now())
	switch {
	case err != nil:
		return command.Outcome{}, err
	case !ok:
		return command.Outcome{}, errors.New(textNoPing)
	}
	return command.Outcome{Message: textNotUseful}, nil
}

// later creates a reminder from a ping.
func (p pocket) later(ctx context.Context, id string, c command.Click) (command.Outcome, error) {
	ping, ok := p.journal.Ping(id)
	if !ok {
		return command.Outcome{}, errors.New(textNoPing)
	}
	words, from := ping.Text, label.From(textFromPing) // an unlabelled message may contain anything
	for _, e := range p.book.Entries() {
		if c.Message != "" && e.Is(c.Message) {
			from = e.Label
			if words = e.Text; e.Embed != nil {
				words = strings.TrimSpace(words + "\n" + e.Embed.Title + "\n" + e.Embed.Description)
			}
		}
	}
	return p.remind(ctx, reminder{key: id, when: c.Value, title: ping.Title, words: words, from: from})
}

// about creates a reminder from a message. Another person's words keep their label.
func (p pocket) about(ctx context.Context, key string, c command.Click) (command.Outcome, error) {
	r := reminder{key: key, when: c.Value, title: c.Words, words: c.Words}
	if foreign(key) {
		r.from = label.From(textFromMessage)
	}
	return p.remind(ctx, r)
}

// foreign reports whether the key of a message marks it as written by someone else.
func foreign(key string) bool { return !strings.HasPrefix(key, post.Own) }

// reminder is a reminder created by a control.
type reminder struct {
	key   string // the same key creates it only once
	when  string // empty means in an hour
	title string
	words string
	from  label.Label
}

// remind creates a reminder unless it exists: a form may be sent twice.
func (p pocket) remind(ctx context.Context, r reminder) (command.Outcome, error) {
	now := p.now()
	at := now.Add(muteFor)
	if r.when != "" {
		var err error
		if at, err = (when.Reader{Now: now, Day: p.config().Day()}).Moment(r.when); err != nil {
			return command.Outcome{}, err
		}
	}
	if r.words = strings.TrimSpace(r.words); r.words == "" {
		return command.Outcome{}, errors.New(textNoWords)
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(r.key)) // never fails
	id := fmt.Sprintf("%08x", sum.Sum32())
	p.making.Lock()
	defer p.making.Unlock()
	writes := p.writes(policy.Writer{Kind: textTheUser, Label: r.from})
	have := writes.List()
	if i := slices.IndexFunc(have, func(h routines.Reminder) bool { return h.ID == id }); i >= 0 {
		return command.Outcome{Message: fmt.Sprintf(textRemindsAlready, cron.DayClock(have[i].RunAt.In(now.Location()), now))}, nil
	}
	title, _, _ := strings.Cut(strings.TrimSpace(r.title), "\n")
	_, err := writes.Add(ctx, routines.Reminder{RunAt: at.Truncate(time.Second), Task: routines.Task{
		ID: id, Description: clean.Cut(clean.Line(title), 60), Body: fmt.Sprintf(command.TextRemindOf, clean.Text(r.words)),
		Background: true, Thinking: true, Mode: routines.OnPing, AllowPing: true,
	}})
	return command.Outcome{Message: fmt.Sprintf(textReminds, cron.DayClock(at, now))}, err
}

// failed handles a button on the card of a failing routine.
func (p pocket) failed(ctx context.Context, action, id string) (command.Outcome, error) {
	switch action {
	case post.FailPause:
		out, err := p.do(ctx, command.Pause{ID: id, Paused: true})
		if err == nil {
			out.Message = textStaysPaused
		}
		return out, err
	case post.FailWhy:
		why, err := p.why(id)
		return command.Outcome{Message: why}, err
	}
	s := p.snapshot()
	if _, err := p.do(ctx, command.Pause{ID: id}); err != nil {
		return command.Outcome{}, err
	}
	return p.run(ctx, &s, id)
}
