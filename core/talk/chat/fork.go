package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/command"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/work/updates"
)

// forks enters, runs and ends the interactive fork in front of the main session. All its
// methods except Banner may be called only from the running job.
type forks struct {
	*forkState
	opener   *opener
	turns    *turns
	main     *mainSession
	poster   *poster
	running  *running
	updates  *updates.Queue
	sessions *session.Store
	reading  *reading
	// runs records which fork sent which answer.
	runs *session.ForkMessages
	log  *slog.Logger
	now  func() time.Time
}

// behind runs a turn of the main session while the fork stays open.
func (s *forks) behind(ctx context.Context, f *interactive, build Prompt, title string) error {
	s.running.goBehind(true)
	defer s.running.goBehind(false)
	s.poster.Aside(fmt.Sprintf(textBehindFork, title))
	f.ranBehind = append(f.ranBehind, title)
	return s.main.turn(ctx, build, nil, nil)
}

// enter opens a fork and lets it start the conversation.
func (s *forks) enter(ctx context.Context, r forkRequest) error {
	if s.current() != nil {
		return errors.New(textAlreadyForked)
	}
	resume, id, read := s.begin(r)
	known := s.opener.knows()
	o := s.opener.options(policy.Interactive, read)
	o.Resume, o.ID, o.Fork = resume, id, r.resume == "" && resume != ""
	opened, err := s.opener.engine.Open(ctx, o)
	if err != nil {
		return fmt.Errorf("open the fork: %w", err)
	}
	now := s.now()
	f := &interactive{
		session: opened, read: read, known: known, topic: r.topic, named: cmp.Or(r.title, r.topic), resumes: r.resume, entered: now, active: now,
		idle: r.idle, seen: map[string]bool{},
	}
	if f.idle <= 0 {
		f.idle = s.opener.host.Config().ForkIdleTimeout
	}
	s.set(f)
	s.record(f)
	s.postEnter(ctx, f, r)
	first := cmp.Or(r.first, prompt.ForkStarted(r.topic))
	return s.after(ctx, s.turn(ctx, f, agent.Message{Text: first, Images: r.images}))
}

// begin returns the session that a fork continues, or the id of a new one, and what it
// has read: a resumed run keeps its own label, a branch gets that of the main session.
func (s *forks) begin(r forkRequest) (resume, id string, read *policy.Taint) {
	if r.resume != "" {
		resume = r.resume
		read = s.reading.of(nameFork, func() string { return resume })
		s.reading.answered(read, resume, r.written)
	} else {
		resume, id = s.sessions.Main(), store.NewUUID()
		read = s.reading.of(nameFork, func() string { return id })
		read.Read(s.reading.ofMain().Label().Via(fromMain))
	}
	read.Read(r.label)
	return resume, id, read
}

// turn runs one turn of the fork for the user.
func (s *forks) turn(ctx context.Context, f *interactive, m agent.Message) error {
	return s.say(ctx, f, m, post.KindAnswer)
}

// say runs one turn of the fork, whose answer is of a kind. It shows pending updates once without claiming them.
func (s *forks) say(ctx context.Context, f *interactive, m agent.Message, kind post.Kind) error {
	now := s.now()
	s.running.begin(f.session, now)
	defer s.running.end()
	var news []updates.Update
	for _, u := range s.updates.Peek() {
		if !f.seen[u.Key] {
			news = append(news, u)
		}
	}
	f.read.Read(updates.Labels(news))
	text, took := f.known.adding(s.opener.host.Profile(), prompt.Peeked(now, news, m.Text))
	t := &turn{turns: s.turns, session: f.session, read: f.read, inFork: true, kind: kind, cause: textForkIdle + f.sessionID(), accepted: func() error {
		took()
		for _, u := range news {
			f.seen[u.Key] = true
		}
		return nil
	}, ended: func(r agent.Result) error {
		return s.learn(f, sessionID(r, f.session))
	}, shown: func(ids []post.MessageID) {
		s.remember(f, ids)
	}}
	err := t.consume(ctx, f.session.Send(ctx, agent.Message{Text: text, Images: m.Images}))
	if t.compacted {
		f.known.forget()
	}
	f.active, f.asked = s.now(), 0
	return err
}

// record notes the fork that is open, or with nil that none is, for the next start.
func (s *forks) record(f *interactive) {
	var open *session.OpenFork
	if f != nil {
		open = &session.OpenFork{Session: cmp.Or(f.sessionID(), f.resumes), Title: f.named, Since: f.entered}
	}
	if err := s.sessions.SetOpenFork(open); err != nil {
		s.log.Warn("the open fork was not recorded", "error", err)
	}
}

// recover says that the fork which was open has ended with the program.
func (s *forks) recover() {
	switch f, err := s.sessions.LeftOpen(); {
	case err != nil:
		s.log.Warn("it is not known whether a fork was open", "error", err)
	case f != nil:
		var title, words string
		if f.Title != "" {
			title = fmt.Sprintf(" %q", cleanTopic(f.Title))
		}
		if f.Session != "" {
			words = textForkWords
		}
		s.poster.Aside(fmt.Sprintf(textForkLost, title) + words)
	}
	s.record(nil)
}

// learn records the fork's session id, and logs it once.
func (s *forks) learn(f *interactive, id string) error {
	if !f.learn(id) {
		return nil
	}
	s.record(f)
	if f.resumes != "" {
		return nil
	}
	return s.sessions.Log(s.now(), session.Event{SessionID: id, Event: session.InteractiveFork, Parent: s.sessions.Main()})
}

// remember records the ids of an answer, so that a later reply continues this fork.
func (s *forks) remember(f *interactive, ids []post.MessageID) {
	id := f.sessionID()
	if id == "" {
		return
	}
	if err := s.runs.Record(s.now(), ids, id, s.sessions.Main()); err != nil {
		s.log.Warn("a reply to this message will not find its fork", "error", err)
	}
}

// after ends a turn: it carries out the agent's request to leave or enter a fork. It
// joins its errors with err, the turn's own error.
func (s *forks) after(ctx context.Context, err error) error {
	wanted := s.takeRequest()
	f := s.current()
	if f == nil {
		if wanted != nil {
			err = errors.Join(err, s.enter(ctx, *wanted))
		}
		return err
	}
	if how, _ := f.exiting(); how != "" {
		err = errors.Join(err, s.leave(ctx, f, how))
	}
	return err
}

// leave ends the fork. Saving makes it the main session, exactly once: the id is written
// before anything is closed. The next turn resumes it as the main session, because its
// process has the fork's model, thinking and rights.
func (s *forks) leave(ctx context.Context, f *interactive, how command.Exit) error {
	id := f.sessionID()
	if how == command.ExitSave && (id == "" || f.resumes != "") {
		how = command.ExitDiscard
	}
	if how == command.ExitSave {
		// Before it replaces the session that has received them: a crash in between repeats
		// them, and loses none.
		if err := s.passOn(f); err != nil {
			return fmt.Errorf("save the fork: %w", err)
		}
		if err := s.sessions.SwapMain(s.now(), id); err != nil {
			return fmt.Errorf("save the fork: %w", err)
		}
		s.reading.becomes(f.read)
		s.main.drop()
		s.forgetSeen(f)
	}
	s.close(f)
	s.postExit(ctx, f, how)
	return nil
}

// passOn leaves for a fork that is being saved what it has missed: it replaces the session in
// which tasks ran behind it, and which received updates. If saving fails and is repeated, they
// are not left twice.
func (s *forks) passOn(f *interactive) error {
	for _, title := range f.ranBehind {
		if err := s.updates.AppendOnce(s.now(), fmt.Sprintf(textRanBehind, title), updates.Source{}, "", nil); err != nil {
			return err
		}
	}
	for _, u := range f.taken {
		if f.seen[u.Key] {
			continue
		}
		if err := s.updates.AppendOnce(s.now(), u.Message, u.Source, u.Label, nil); err != nil {
			return err
		}
	}
	return nil
}

// forgetSeen discards the pending updates that a saved fork has seen.
func (s *forks) forgetSeen(f *interactive) {
	for key := range f.seen {
		if _, err := s.updates.Discard(key); err != nil && !errors.Is(err, updates.ErrGone) {
			s.log.Error("a saved fork will see an update again", "error", err)
		}
	}
}

// close ends the fork's session and its open questions.
func (s *forks) close(f *interactive) {
	s.opener.rights.guard.Approvals().CancelAll()
	s.set(nil)
	s.record(nil)
	closeSession(f.session, s.log)
}

// discard ends the fork at once, with a reason for the user. It returns false if none is
// open.
func (s *forks) discard(why string) bool {
	f := s.current()
	if f == nil {
		return false
	}
	if why != "" {
		s.poster.Aside(why)
	}
	s.close(f)
	s.postExit(context.Background(), f, command.ExitDiscard)
	return true
}

// exit carries out the user's choice. For a report, the agent is asked for a summary
// first; the fork ends even without one.
func (s *forks) exit(ctx context.Context, how command.Exit) error {
	f := s.current()
	if f == nil {
		return errors.New(textNoFork)
	}
	if how == command.ExitReport {
		if err := s.turn(ctx, f, agent.Message{Text: prompt.ForkReport()}); err != nil {
			s.log.Warn("fork gave no report", "error", err)
		}
	}
	return s.leave(ctx, f, how)
}

// checkIdle handles an idle fork: it asks the agent whether to leave, then tells it to,
// and then discards the fork.
func (s *forks) checkIdle(ctx context.Context) error {
	f := s.current()
	if f == nil {
		return nil
	}
	switch {
	case s.now().Sub(f.active) <= f.idle:
		return nil
	case f.asked == 2:
		s.discard(textForkExpired)
		return nil
	}
	s.poster.Aside(textForkIdle)
	asked := f.asked + 1
	err := s.say(ctx, f, agent.Message{Text: prompt.ForkIdle(f.idle*time.Duration(asked), asked == 2)}, post.KindNews)
	f.asked = asked
	return s.after(ctx, err)
}

// postEnter shows a card with the fork's exits as buttons.
func (s *forks) postEnter(ctx context.Context, f *interactive, r forkRequest) {
	f.title = textForkPlain
	switch {
	case r.title != "":
		f.title = fmt.Sprintf(textForkResumed, r.title)
	case f.topic != "":
		f.title = "Topic: " + f.topic
	}
	buttons := []post.Button{
		{Label: "Save Context", Style: "success", Action: post.ForkSave + ":"},
		{Label: "Report", Style: "primary", Action: post.ForkReport + ":"},
		{Label: "Exit Fork", Style: "danger", Action: post.ForkExit + ":"},
	}
	if f.resumes != "" { // it cannot be saved
		buttons = buttons[1:]
	}
	f.card = s.poster.card(ctx, post.Embed{Title: textForkCard, Description: f.title, Color: "purple", Buttons: buttons})
}

// postExit removes the exits of the fork's card and shows how it ended.
func (s *forks) postExit(ctx context.Context, f *interactive, how command.Exit) {
	if f.card != "" {
		closed := post.Post{Embed: &post.Embed{Title: textForkCard, Description: f.title, Color: "greyple"}, Context: "fork"}
		if err := s.poster.surface.Edit(context.WithoutCancel(ctx), f.card, closed); err != nil {
			s.log.Warn("an ended fork's card still shows its exits", "error", err)
		}
	}
	_, report := f.exiting()
	e := post.Embed{Title: "Fork Ended — discarded", Color: "greyple"}
	switch how {
	case command.ExitSave:
		e = post.Embed{Title: "Fork Ended — saved to main", Description: report, Color: "green"}
	case command.ExitReport:
		e = post.Embed{Title: "Fork Ended — summary queued", Description: report, Color: "blue"}
		if report == "" {
			e = post.Embed{Title: "Fork Ended — no summary", Description: textNoSummary, Color: "greyple"}
		}
	}
	s.poster.card(ctx, e)
}

// interactive is a fork that the user talks to. The running job owns its fields, except
// those below mu.
type interactive struct {
	session agent.Session
	read    *policy.Taint // what the session has read
	known   *knowledge
	topic   string // cleaned
	named   string // its topic, or the run that it continues
	resumes string // the session of a background run that it continues, or empty
	entered time.Time
	card    post.MessageID // the message with its exits, titled title
	title   string
	idle    time.Duration

	// active is the time of the last activity of the user or the agent, asked how often the
	// idle agent was asked to leave since the user wrote.
	active    time.Time
	asked     int
	ranBehind []string        // titles of tasks that ran in the main session behind the fork
	seen      map[string]bool // updates that were shown in this fork
	// taken are the updates that the main session has received behind the fork.
	taken []updates.Update

	mu sync.Mutex
	id string // empty until the engine reports it
	// exit is how the agent wants to leave, report its latest report. saveAsked is set while
	// the user's answer about saving is pending; mode is the fork's own, or empty.
	exit      command.Exit
	report    string
	saveAsked bool
	mode      policy.Mode
}

// forkRequest describes a fork to enter.
type forkRequest struct {
	topic  string
	idle   time.Duration // 0: as configured
	resume string        // session of a background run to continue, or empty
	first  string        // the first prompt, unless it is the standard one of a new fork
	title  string        // the resumed run, for people
	images []agent.Image // sent with the first prompt
	// written is when the user wrote the first prompt, zero if someone else did; label is
	// the label of the first prompt.
	written time.Time
	label   label.Label
}

// forkState is the open interactive fork, if any, and the fork the agent has requested.
type forkState struct {
	mu     sync.Mutex
	fork   *interactive
	wanted *forkRequest // entered after the running turn
}

// current returns the open fork, or nil.
func (s *forkState) current() *interactive {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fork
}

// set opens a fork, or closes it with nil, and drops a request for another.
func (s *forkState) set(f *interactive) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fork, s.wanted = f, nil
}

// request records that the agent wants a fork. It returns false if one is open.
func (s *forkState) request(topic string, minutes int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fork != nil {
		return false
	}
	s.wanted = &forkRequest{topic: topic, idle: time.Duration(minutes) * time.Minute}
	return true
}

// requested reports whether the agent has requested a fork in the running turn.
func (s *forkState) requested() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted != nil
}

// takeRequest returns the fork that the agent has requested, and clears the request.
func (s *forkState) takeRequest() *forkRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.wanted
	s.wanted = nil
	return r
}

// passed records updates that the main session has received: if an open fork replaces it,
// the fork must get them.
func (s *forkState) passed(list []updates.Update) {
	if f := s.current(); f != nil {
		f.taken = append(f.taken, list...)
	}
}

// sessionID returns the id that the engine has reported, or "".
func (f *interactive) sessionID() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.id
}

// learn records the session's id. It returns true for the first one.
func (f *interactive) learn(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := f.id == "" && id != ""
	f.id = cmp.Or(f.id, id)
	return first
}

// requestExit records how the agent wants to leave once its turn has ended, and its
// report. The later of two requests wins.
func (f *interactive) requestExit(how command.Exit, report string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.exit = how
	f.report = cmp.Or(report, f.report)
}

// exiting returns how the agent wants to leave the fork, empty to stay, and its report.
func (f *interactive) exiting() (how command.Exit, report string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.exit, f.report
}

// askToSave records that the user's answer about saving is pending.
func (f *interactive) askToSave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.saveAsked = true
}

// ownMode returns the fork's permission mode; empty if it has none of its own.
func (f *interactive) ownMode() policy.Mode {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mode
}

func (f *interactive) setMode(m policy.Mode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mode = m
}

// Banner is the interactive fork as shown in a dashboard.
type Banner struct {
	Topic   string // cleaned; empty if led by the user
	Resumed bool   // continues a background run: it cannot be saved
	Since   time.Time
	// Asks is true while the agent's request to save the fork is pending.
	Asks bool
}

// Banner is the open fork, or nil.
func (s *forkState) Banner() *Banner {
	f := s.current()
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Banner{Topic: f.topic, Resumed: f.resumes != "", Since: f.entered, Asks: f.saveAsked}
}
